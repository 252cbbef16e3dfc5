#ifndef FDAPP_CONFIG_CONFIG_H
#define FDAPP_CONFIG_CONFIG_H

#include <stdint.h>
#include <stdio.h>

#include "kernels.h"

/* A run's configuration: an INI file and section.key=value overrides, read once, validated as a whole,
 * constant afterwards. A plain value without pointers, so that rank 0 reads it and broadcasts it. */

/* X(NAME, "name in the file", "what it is, for --list") */
#define CONFIG_CASE_LIST(X)                                                                                  \
  X(COSINE, "cosine", "product of cosines with wave numbers kx, ky, kz")                                     \
  X(GAUSSIAN, "gaussian", "Gaussian pulse of standard deviation width, periodic images included")            \
  X(SPHERE, "sphere", "solid sphere of radius width (discontinuous)")                                        \
  X(SLOTTED, "slotted", "slotted solid sphere of radius width (discontinuous)")                              \
  X(BLOB, "blob", "smooth blob of radius width, cos^8: seven continuous derivatives")                        \
  X(MANUFACTURED, "manufactured",                                                                            \
    "standing wave, kx, ky, kz across and velocity.period in time, kept up by a source; exact always")

#define CONFIG_VELOCITY_LIST(X)                                                                              \
  X(UNIFORM, "uniform", "constant vector u, v, w; exact (with diffusion: cosine, gaussian)")                 \
  X(ROTATION, "rotation",                                                                                    \
    "solid body around the axis z through the middle, one turn in period; exact near the axis")              \
  X(DEFORMATION, "deformation", "LeVeque 1996: swirling, reversed in time, back after period; exact then")   \
  X(ABC, "abc", "Arnold-Beltrami-Childress flow with amplitudes a, b, c; no exact solution")

#define CONFIG_SCHEME_LIST(X)                                                                                \
  X(RK4, "rk4", "classical Runge-Kutta, 4 stages, order 4")                                                  \
  X(SSPRK3, "ssprk3", "strong-stability-preserving Runge-Kutta, 3 stages, order 3 (Shu and Osher 1988)")     \
  X(CK45, "ck45", "Carpenter and Kennedy 1994, 5 stages, order 4, low storage (NASA TM-109112)")

#define CONFIG_FORM_LIST(X)                                                                                  \
  X(ADVECTIVE, "advective", "u . grad phi")                                                                  \
  X(CONSERVATIVE, "conservative", "div (u phi): mass kept to round-off")                                     \
  X(SKEW, "skew", "mean of both: L2 norm kept by the space discretisation")

#define CONFIG_TRANSPORT_LIST(X)                                                                             \
  X(AUTO, "auto",                                                                                            \
    "cuda_aware where it is proved to work (peer on one node), else staged; host memory on the CPU")         \
  X(CUDA_AWARE, "cuda_aware", "device memory handed to MPI")                                                 \
  X(STAGED, "staged", "through pinned host memory")                                                          \
  X(PEER, "peer", "copies from GPU to GPU on one node, without messages")

#define X(name, text, help) CONFIG_CASE_##name,
typedef enum config_case { CONFIG_CASE_LIST(X) CONFIG_CASE_COUNT } config_case;
#undef X
#define X(name, text, help) CONFIG_VELOCITY_##name,
typedef enum config_velocity { CONFIG_VELOCITY_LIST(X) CONFIG_VELOCITY_COUNT } config_velocity;
#undef X
#define X(name, text, help) CONFIG_SCHEME_##name,
typedef enum config_scheme { CONFIG_SCHEME_LIST(X) CONFIG_SCHEME_COUNT } config_scheme;
#undef X
#define X(name, text, help) CONFIG_TRANSPORT_##name,
typedef enum config_transport { CONFIG_TRANSPORT_LIST(X) CONFIG_TRANSPORT_COUNT } config_transport;
#undef X

/* Steps: the eight digits of a state's name. */
enum { CONFIG_STEPS_MOST = 99999999, CONFIG_THREADS_MOST = 4096 };

/* CONFIG_PATH_SIZE: room for a path. CONFIG_PATH_LIMIT: longest path that is accepted, so that a line holds
 * it. CONFIG_LINE_LIMIT: longest line of a file in bytes, comment lines apart (inih's buffer of 200 less the
 * line end). */
enum { CONFIG_PATH_SIZE = 4096, CONFIG_PATH_LIMIT = 180, CONFIG_LINE_LIMIT = 197 };

enum { CONFIG_KEY_COUNT = 44, CONFIG_FILE_SIZE = 192 };

typedef struct config {
  /* [grid] */
  int64_t n[3]; /* nx, ny, nz: points, >= 9 in x and y (a stencil's width), >= 4 in z */
  double l[3];  /* lx, ly, lz: lengths > 0, default 1 */
  /* [physics] */
  advection_form form; /* default advective */
  double diffusivity;  /* >= 0, default 0 */
  /* [initial] */
  config_case initial; /* case: required */
  double center[3];    /* center_x, center_y, center_z: default the middle of the domain */
  double width;        /* > 0; default a tenth of the shortest length */
  double amplitude;    /* default 1 */
  double background;   /* value far away, default 0 */
  int wave_number[3];  /* kx, ky, kz: whole waves across the domain, default 1 */
  /* [velocity] */
  config_velocity velocity; /* field: required */
  double uniform[3];        /* u, v, w: default 1, 0, 0 */
  double abc[3];            /* a, b, c: default 1 */
  double period;            /* > 0, default 1 */
  /* [time] */
  config_scheme scheme; /* default rk4 */
  double courant;       /* > 0, or 0: dt was given */
  double dt;            /* > 0, or 0: courant was given */
  double t_end;         /* >= 0, or -1: steps was given */
  int64_t steps;        /* >= 0, or -1: t_end was given */
  /* [compute] */
  char backend[16];    /* "auto" or a name of the registry; default auto */
  precision precision; /* default double */
  int order;           /* 2, 4, 6, 8; default 8 */
  int threads; /* CPU threads of a rank, 0 = OMP_NUM_THREADS, else its share of the processors it may run on;
                  default 0 */
  /* [halo] */
  config_transport transport; /* default auto */
  int overlap;                /* yes or no, default yes */
  /* [output] */
  char directory[CONFIG_PATH_SIZE]; /* default runs/NAME for NAME.ini */
  int64_t fields_every;             /* steps, 0 = never; default 0 */
  int64_t checkpoint_every;         /* steps, 0 = never; default 0 */
  int64_t diagnostics_every;        /* steps, 0 = never; default 10 */
  int checkpoint_keep;              /* >= 2, default 2 */
  double wall_limit;                /* seconds > 0; 0 = none (default) */
  /* [restart] */
  char
      restart[CONFIG_PATH_SIZE]; /* from: a file, "latest", or "" for a start at t = 0 ("none" in the file) */
  /* Where the values above came from, for messages: the file as they name it, and each key's line in it, 0
   * for a default, -1 for an override. */
  char file[CONFIG_FILE_SIZE];
  int line[CONFIG_KEY_COUNT];
} config;

/* Reads `path` and applies `count` overrides of the form "section.key=value", then validates the whole. Not
 * collective: rank 0 calls it. [out] config is complete only if STATUS_OK. STATUS_FILE if the file cannot be
 * read; STATUS_USAGE for anything else, with the message "FILE:LINE: section.key = value: what is wrong;
 * accepted: ...; did you mean '...'?", where FILE:LINE is "command line" for an override.
 *
 * The file: ASCII or UTF-8, at most 1 MiB, lines ending in LF or CR LF, a byte order mark ignored. A line is
 * empty, a comment after ; or #, a [section], or key = value (key: value too), at most CONFIG_LINE_LIMIT
 * bytes; it never goes on in the next one, indented or not. White space followed by ; begins a comment after
 * a value or a section. Names and words are case-sensitive. A key comes once; a section may come again.
 *
 * Overrides win over the file. One for time.dt replaces the file's time.courant, and the other way round;
 * likewise t_end and steps. Both in the file, or both among the overrides, are an error, and so is a key that
 * comes twice there. A faulty value in the file is an error even if an override replaces it.
 *
 * Values: integers in decimal without leading zeros; numbers with a decimal point whatever the locale,
 * neither hexadecimal nor NaN nor infinite, of magnitude 1e30 at most (1e-30 at least where they must be
 * positive); steps at most 99999999, the eight digits of a state's name; paths as they are, neither quoted
 * nor with ~ or $, at most CONFIG_PATH_LIMIT bytes. The table of keys (config_list prints it) has each range.
 * Beyond the single keys: the bytes of 64 fields, more than any run has, fit 64 bits; t_end/dt at most
 * 99999999 steps; waves of cosine and manufactured at most n/2; width at most the shortest length, half of it
 * for sphere, slotted and blob; the centre at most 1000 lengths away; `path` is not the file that the run
 * would replace by the resolved configuration, RUNDIR_CONFIG (rundir.h) in output.directory, unless
 * config_is_resolved. */
status config_load(const char *path, int count, char *const overrides[], config *config);

/* Refuses a value for a reason that only what comes after reading can tell: records "FILE:LINE: section.key =
 * value: what is wrong", or "command line: ...", as config_load does. Returns STATUS_USAGE. */
__attribute__((format(printf, 4, 5))) status config_refuse(const config *config, const char *section,
                                                           const char *name, const char *format, ...);

/* Writes the resolved configuration as an INI file that config_load reads back to the same bits (%.17g):
 * every key, of the alternatives in [time] those in force. */
void config_write(const config *config, FILE *file);
/* The same as a string, which is the caller's to free. STATUS_MEMORY: *text is NULL. */
status config_text(const config *config, char **text);

/* Whether a file is, line by line, what config_write makes of what it says, apart from the digits of numbers:
 * left there by a run, perhaps with other values since, but with no words of anybody's own that replacing it
 * would lose. 0 also for a file that cannot be read. Not collective. */
int config_is_resolved(const char *path);

/* Prints cases, velocity fields, schemes, forms and backends, then all keys as a Markdown table with what is
 * accepted, the default and the meaning, for --list. */
void config_list(FILE *file);

/* Names as in the file, for messages and output. */
const char *config_case_name(config_case value);
const char *config_velocity_name(config_velocity value);
const char *config_scheme_name(config_scheme value);
const char *config_form_name(advection_form value);
const char *config_precision_name(precision value);

#endif
