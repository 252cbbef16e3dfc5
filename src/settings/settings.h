#ifndef FDAPP_SETTINGS_SETTINGS_H
#define FDAPP_SETTINGS_SETTINGS_H

#include <stdint.h>

#include "flow.h"
#include "kernels.h"

/* The configuration of a run as a value. It has no pointers, so that rank 0 can broadcast it. This header has
 * no functions, so that folders below config/ (problems/) can read the values; config.h reads them from
 * files. */

#define CONFIG_VALUE(value, text, help) value,

/* X(VALUE, "name in the file", "description, for --list"). The first three are those of advection, the others
 * those of flow. */
#define CONFIG_FORM_LIST(X)                                                                                  \
  X(FORM_ADVECTIVE, "advective", "u . grad phi")                                                             \
  X(FORM_CONSERVATIVE, "conservative", "div (u phi): mass kept to round-off")                                \
  X(FORM_SKEW, "skew", "mean of both: L2 norm kept by central differences")                                  \
  X(FORM_KEEP_PE, "keep_pe", "flow: keeps kinetic energy, and constant velocity and pressure (default)")     \
  X(FORM_KEEP, "keep", "flow: keeps kinetic energy, nearly entropy")                                         \
  X(FORM_KENNEDY_GRUBER, "kennedy_gruber", "flow: keeps kinetic energy")                                     \
  X(FORM_DIVERGENCE, "divergence", "flow: differences of the fluxes; blows up where it is not resolved")

/* The forms of flow, in the order of flow_form. */
enum { FORM_KEEP_PE = FORM_SKEW + 1, FORM_KEEP, FORM_KENNEDY_GRUBER, FORM_DIVERGENCE };

#define CONFIG_DIFFERENCE_LIST(X)                                                                            \
  X(CONFIG_DIFFERENCE_CENTRAL, "central",                                                                    \
    "no dissipation; waves that the grid does not resolve stay, as noise")                                   \
  X(CONFIG_DIFFERENCE_UPWIND, "upwind", "one order less; dissipation takes what the grid does not resolve")
typedef enum config_difference { CONFIG_DIFFERENCE_LIST(CONFIG_VALUE) } config_difference;

#define CONFIG_END_LIST(X)                                                                                   \
  X(CONFIG_END_PERIODIC, "periodic", "the axis has no end")                                                  \
  X(CONFIG_END_OPEN, "open", "advection: what leaves, leaves; what enters is boundary.value")                \
  X(CONFIG_END_DIRICHLET, "dirichlet", "advection with physics.diffusivity: phi is boundary.value")          \
  X(CONFIG_END_WALL, "wall", "sound: rigid, no velocity across it")                                          \
  X(CONFIG_END_FREE, "free", "sound: no pressure on it")                                                     \
  X(CONFIG_END_ABSORBING, "absorbing", "sound: what arrives at a right angle leaves")                        \
  X(CONFIG_END_LAYER, "layer", "waves: absorbed in layer_points points inside the box, at any angle")
typedef enum config_end { CONFIG_END_LIST(CONFIG_VALUE) } config_end;

#define CONFIG_TRANSPORT_LIST(X)                                                                             \
  X(CONFIG_TRANSPORT_AUTO, "auto",                                                                           \
    "cuda_aware where it is proved to work (peer on one node), else staged; host memory on the CPU")         \
  X(CONFIG_TRANSPORT_CUDA_AWARE, "cuda_aware", "device memory handed to MPI")                                \
  X(CONFIG_TRANSPORT_STAGED, "staged", "through pinned host memory")                                         \
  X(CONFIG_TRANSPORT_PEER, "peer", "copies from GPU to GPU on one node, without messages")
typedef enum config_transport { CONFIG_TRANSPORT_LIST(CONFIG_VALUE) } config_transport;

#define CONFIG_WAVELET_LIST(X)                                                                               \
  X(CONFIG_WAVELET_RICKER, "ricker", "(1 - 2 a) e^-a, a = (pi f (t - delay))^2")                             \
  X(CONFIG_WAVELET_GAUSSIAN, "gaussian", "e^-a")                                                             \
  X(CONFIG_WAVELET_SINE, "sine", "a sine of `cycles` periods from delay on, with a Hann window")             \
  X(CONFIG_WAVELET_FILE, "file", "linear between the rows t, s of wavelet_file, 0 outside")
typedef enum config_wavelet { CONFIG_WAVELET_LIST(CONFIG_VALUE) } config_wavelet;

/* Two stages in one sweep: never, if faster, or whenever a kernel exists. */
typedef enum config_pairs { CONFIG_PAIRS_NO, CONFIG_PAIRS_AUTO, CONFIG_PAIRS_YES } config_pairs;

/* Data that kept snapshots and slices hold besides the fields: any of these. GRADIENT: |grad| of the first
 * field. INTENSITY: of sound, the pressure times the velocity. The others are those of flow. */
typedef enum config_derived {
  CONFIG_DERIVED_GRADIENT = 1,
  CONFIG_DERIVED_INTENSITY = 2,
  CONFIG_DERIVED_VORTICITY = 4,
  CONFIG_DERIVED_Q = 8,
  CONFIG_DERIVED_DILATATION = 16,
  CONFIG_DERIVED_MACH = 32,
  CONFIG_DERIVED_TEMPERATURE = 64,
  CONFIG_DERIVED_DENSITY = 128,
  CONFIG_DERIVED_FLOW = 252 /* all of flow */
} config_derived;

/* When an output is due: at multiples of `every` steps, or of the time `at`. */
typedef struct config_period {
  int64_t every; /* 0: never; -1: `at` is given */
  double at;     /* > 0, or 0: `every` is given */
} config_period;

/* Steps have the eight digits of a state's file name. */
enum { CONFIG_STEPS_MOST = 99999999, CONFIG_THREADS_MOST = 4096 };

/* CONFIG_PATH_SIZE: buffer for a path. CONFIG_PATH_LIMIT: longest accepted path. CONFIG_FORMULA_SIZE: buffer
 * for a formula. */
enum {
  CONFIG_PATH_SIZE = 4096,
  CONFIG_PATH_LIMIT = 180,
  CONFIG_FORMULA_SIZE = 4096,
  CONFIG_LIST_SIZE = 4096 /* buffer for a list of places */
};

/* Unknowns beside the first that may have a formula_NAME in [source], of any equation:
 * X(NAME, "what it raises, for --list"). Those of an equation are named in settings/equations.h. */
#define CONFIG_SOURCE_LIST(X)                                                                                \
  X(u, "the same of u (acoustics), of density u (flow)")                                                     \
  X(v, "the same of v (acoustics), of density v (flow)")                                                     \
  X(w, "the same of w (acoustics), of density w (flow)")                                                     \
  X(energy, "the same of the energy (flow)")

/* Places of the formulas in config.source; CONFIG_SOURCES: their number. */
enum {
#define X(name, help) CONFIG_SOURCE_##name,
  CONFIG_SOURCE_FIRST,
  CONFIG_SOURCE_LIST(X) CONFIG_SOURCES
#undef X
};

/* The value of open ends that stands for the exact solution. */
#define CONFIG_EXACT "exact"

/* The section whose keys are names of constants for formulas. */
#define CONFIG_CONSTANTS "constants"
enum { CONFIG_NAME_SIZE = 32, CONFIG_MOST_CONSTANTS = 32 };

/* The section that names units: of length, of time, and of fields by their names. Words for pictures and
 * files; nothing is computed with them. */
#define CONFIG_UNITS "units"
enum { CONFIG_MOST_UNITS = 32 };

/* What the names of statistics begin with: the names of one field or, of a product, of two fields follow. */
#define CONFIG_MEAN     "mean_"
#define CONFIG_VARIANCE "variance_"
#define CONFIG_PRODUCT  "product_"

typedef struct config_unit {
  char name[CONFIG_NAME_SIZE], text[CONFIG_NAME_SIZE];
} config_unit;
enum { CONFIG_PRODUCT_SIZE = 2 * CONFIG_NAME_SIZE + 8 }; /* of a unit of two, with brackets */

typedef struct config_constant {
  char name[CONFIG_NAME_SIZE];
  double value;
} config_constant;

enum { CONFIG_KEY_COUNT = 138 + CONFIG_SOURCES, CONFIG_HASH_SIZE = 17, CONFIG_FILE_SIZE = 192 };
/* What varies in a medium. */
enum { CONFIG_MEDIUM_SPEED, CONFIG_MEDIUM_DENSITY, CONFIG_MEDIA };

typedef struct config {
  /* [grid] */
  int64_t n[3]; /* nx, ny, nz: points, >= 9 in x and y (a stencil's width), >= 4 in z */
  double l[3];  /* lx, ly, lz: lengths > 0, default 1 */
  /* [boundary] */
  config_end boundary[3]; /* x, y, z; default periodic */
  config_end ends[3][2];  /* x_low, x_high ... z_high: default the axis's; both periodic or none */
  char entering[CONFIG_FORMULA_SIZE]; /* value: CONFIG_EXACT, a number, or a formula of x, y, z, t */
  double absorption;                  /* of walls of sound: 0 to 1, default 0 */
  double absorbed[3][2];              /* absorption_x_low ... z_high: default absorption */
  int layer_points;                   /* of layers: > 0, default 10 */
  double layer_reflection;            /* 0 < R < 1, default 1e-3 */
  /* [physics] */
  int equation;                 /* an index of the list in settings/equations.h; default advection */
  int form;                     /* an advection_form, or FORM_KEEP_PE + flow_form; default the first one */
  config_difference difference; /* default central */
  double diffusivity;           /* >= 0, default 0 */
  double density, sound_speed;  /* > 0, default 1 */
  double gamma;                 /* > 1, default 1.4; this and the next ones: of flow */
  double gas_constant, prandtl; /* > 0, default 1 and 0.71 */
  double viscosity;             /* >= 0, default 0 */
  int viscosity_law;            /* FLOW_CONSTANT (default) or FLOW_SUTHERLAND */
  double viscosity_temperature, sutherland_temperature; /* > 0, default 1 and 0.4 */
  double dissipation;                                   /* 0 .. 10, default 0: of flow_damping.h */
  /* [medium] */
  char medium[CONFIG_MEDIA][CONFIG_FORMULA_SIZE]; /* formulas of x, y, z; "" for none (default) */
  char medium_file[CONFIG_PATH_SIZE];             /* file: "" for none (default) */
  int medium_resample;                            /* as initial_resample */
  int medium_at_points;                           /* 1: average = point; default 0 */
  /* [point_sources] */
  char source_points[CONFIG_LIST_SIZE];    /* points: as config/lists.h reads probes; "" for none (default) */
  char source_file[CONFIG_PATH_SIZE];      /* file: "" for none (default) */
  config_wavelet wavelet;                  /* default ricker */
  char wavelet_file[CONFIG_PATH_SIZE];     /* "" for none (default) */
  double frequency;                        /* > 0, default 1 */
  double cycles;                           /* > 0, default 3 */
  double delay;                            /* default 1.2 / frequency */
  char source_amplitude[CONFIG_LIST_SIZE]; /* amplitude: a number, or one for each point; default 1 */
  int source_sinc;                         /* weights: 1 for sinc, 0 for lagrange (default) */
  /* [receivers] */
  char receiver_points[CONFIG_LIST_SIZE]; /* points: as config/lists.h reads probes; "" for none (default) */
  char receiver_file[CONFIG_PATH_SIZE];   /* file: "" for none (default) */
  int64_t receivers_every;                /* steps > 0, default 1 */
  int receiver_sinc;                      /* weights */
  /* [initial] */
  int initial;                       /* case, an index of cases_at (problems/problem.h): required */
  double center[3];                  /* center_x, center_y, center_z: default the middle of the domain */
  double width;                      /* > 0; default a tenth of the shortest length */
  double amplitude;                  /* default 1 */
  double background;                 /* value far away, default 0 */
  int wave_number[3];                /* kx, ky, kz: whole waves across the domain, default 1 */
  char formula[CONFIG_FORMULA_SIZE]; /* of x, y, z; "" for none (default) */
  char gas[FLOW_UNKNOWNS][CONFIG_FORMULA_SIZE]; /* density, u, v, w, pressure: default 1, 0, 0, 0, 1 */
  double mach, reynolds;                        /* > 0, default 0.1; >= 0, default 0: viscosity says it */
  char initial_file[CONFIG_PATH_SIZE];          /* file: "" for none (default) */
  char dataset[CONFIG_PATH_SIZE];               /* dataset in the file; "" for PROBLEM_DATASET (default) */
  int initial_resample;                         /* 1: the file's grid may differ; default 0 */
  /* [velocity] */
  int velocity;      /* field, an index of velocities_at (problems/problem.h): required */
  double uniform[3]; /* u, v, w as numbers, if the field is not a formula: default 1, 0, 0 */
  char component[3][CONFIG_FORMULA_SIZE]; /* u, v, w as formulas of x, y, z; else "" */
  char factor[CONFIG_FORMULA_SIZE];       /* a formula of t, default 1 */
  char velocity_file[CONFIG_PATH_SIZE];   /* file: "" for none (default) */
  int velocity_resample;                  /* as initial_resample */
  double abc[3];                          /* a, b, c: default 1 */
  double period;                          /* > 0, default 1 */
  /* [source] */
  char source[CONFIG_SOURCES][CONFIG_FORMULA_SIZE]; /* formula, of the first unknown; formula_NAME, of others:
                                                     * of x, y, z; "" for none (default) */
  char source_factor[CONFIG_FORMULA_SIZE];          /* factor: of t, default 1 */
  char source_data[CONFIG_PATH_SIZE];               /* file: "" for none (default) */
  int source_resample;                              /* as initial_resample */
  double force[3]; /* force_x, force_y, force_z: per mass, default 0; of flow alone */
  /* [level_set] */
  int64_t redistance_every; /* steps, 0 = never (default); only for cases that are distances */
  /* [time] */
  int scheme;     /* an index of schemes_all (settings/scheme.h), default rk4, of waves leapfrog4 */
  double courant; /* > 0, or 0: dt was given */
  double dt;      /* > 0, or 0: courant was given */
  int adaptive;   /* 1: dt follows the velocity's time factor; default 0 */
  double t_end;   /* >= 0, or -1: steps was given */
  int64_t steps;  /* >= 0, or -1: t_end was given */
  /* [compute] */
  char backend[16];    /* "auto" or a name of the registry; default auto */
  precision precision; /* default double */
  int order;           /* 2, 4, 6, 8; default 8 */
  int threads;         /* CPU threads per rank; 0 (default): OMP_NUM_THREADS, else its share of cores */
  config_pairs pairs;  /* default auto */
  /* [halo] */
  config_transport transport; /* default auto */
  int overlap;                /* yes or no, default yes */
  /* [output] */
  char directory[CONFIG_PATH_SIZE];  /* default runs/NAME for NAME.ini */
  config_period fields_due;          /* default: the first and the last step alone */
  int fields_single;                 /* 1: kept snapshots in single precision; 0, default: as computed */
  int fields_stride;                 /* >= 1, default 1: kept snapshots hold every fields_stride-th point */
  char fields_box[CONFIG_LIST_SIZE]; /* box of kept snapshots (config/lists.h); "" for all points (default) */
  int compress;                      /* 1: kept snapshots are compressed; 0, default */
  int derived;                       /* a sum of config_derived; 0 for none (default) */
  int64_t checkpoint_every;          /* steps, 0 = never; default 0 */
  config_period diagnostics_due;     /* default 10 steps */
  int checkpoint_keep;               /* >= 2, default 2 */
  int output_overlap;                /* yes or no, default yes */
  double wall_limit;                 /* seconds > 0; 0 = none (default) */
  char slices[CONFIG_LIST_SIZE];     /* as config/lists.h reads them; "" for none (default) */
  config_period slices_due;          /* default 10 steps */
  char probes[CONFIG_LIST_SIZE];     /* as config/lists.h reads them; "" for none (default) */
  config_period probes_due;          /* default 1 step */
  /* [statistics] */
  char statistics[CONFIG_LIST_SIZE];     /* fields: names (config/lists.h); "" for none (default) */
  int statistics_products;               /* default 0 */
  double statistics_from, statistics_to; /* times >= 0, default 0 and 1e30 */
  int64_t statistics_every;              /* steps > 0, default 1 */
  /* [restart] */
  char
      restart[CONFIG_PATH_SIZE]; /* from: a file, "latest", or "" for a start at t = 0 ("none" in the file) */
  /* [benchmark] */
  char reference[CONFIG_HASH_SIZE];        /* 16 hexadecimal digits in lower case, or "" for none (default) */
  char reference_single[CONFIG_HASH_SIZE]; /* used instead if precision is single and it is not "" */
  int64_t hash_every;                      /* steps between rows of hashes.csv, 0 = never (default) */
  /* [constants] */
  int constant_count;
  config_constant constants[CONFIG_MOST_CONSTANTS];
  /* [units] */
  int unit_count;
  config_unit units[CONFIG_MOST_UNITS];
  /* The source of each value, for messages: the name of the file, and the line of each key and constant, 0
   * for a default, -1 for an override. */
  char file[CONFIG_FILE_SIZE];
  int line[CONFIG_KEY_COUNT], constant_line[CONFIG_MOST_CONSTANTS], unit_line[CONFIG_MOST_UNITS];
} config;

#endif
