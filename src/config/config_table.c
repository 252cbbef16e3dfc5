#include "config/config_table.h"

#include <string.h>

#include "settings/equations.h"
#include "problems/problem.h"
#include "settings/scheme.h"

#define CHOOSE(value, text, help) {text, value, help},
const config_choice config_forms[] = {CONFIG_FORM_LIST(CHOOSE){NULL, 0, NULL}};
static const config_choice differences[] = {CONFIG_DIFFERENCE_LIST(CHOOSE){NULL, 0, NULL}};
static const config_choice ends[] = {CONFIG_END_LIST(CHOOSE){NULL, 0, NULL}};
static const config_choice transports[] = {CONFIG_TRANSPORT_LIST(CHOOSE){NULL, 0, NULL}};
static const config_choice wavelets[] = {CONFIG_WAVELET_LIST(CHOOSE){NULL, 0, NULL}};

static const config_choice pairings[] = {{"no", CONFIG_PAIRS_NO, NULL},
                                         {"auto", CONFIG_PAIRS_AUTO, NULL},
                                         {"yes", CONFIG_PAIRS_YES, NULL},
                                         {NULL, 0, NULL}};

static const config_choice laws[] = {
    {"constant", FLOW_CONSTANT, ""}, {"sutherland", FLOW_SUTHERLAND, ""}, {NULL, 0, NULL}};

static const config_choice precisions[] = {
    {"double", PRECISION_DOUBLE, ""}, {"single", PRECISION_SINGLE, ""}, {NULL, 0, NULL}};
static const config_choice orders[] = {
    {"8", 8, ""}, {"6", 6, ""}, {"4", 4, ""}, {"2", 2, ""}, {NULL, 0, NULL}};
static const config_choice kept_precisions[] = {{"same", 0, ""}, {"single", 1, ""}, {NULL, 0, NULL}};
static const config_choice derived[] = {{"gradient", CONFIG_DERIVED_GRADIENT, ""},
                                        {"intensity", CONFIG_DERIVED_INTENSITY, ""},
                                        {"vorticity", CONFIG_DERIVED_VORTICITY, ""},
                                        {"q_criterion", CONFIG_DERIVED_Q, ""},
                                        {"dilatation", CONFIG_DERIVED_DILATATION, ""},
                                        {"mach", CONFIG_DERIVED_MACH, ""},
                                        {"temperature", CONFIG_DERIVED_TEMPERATURE, ""},
                                        {"density_gradient", CONFIG_DERIVED_DENSITY, ""},
                                        {NULL, 0, NULL}};
static const config_choice weightings[] = {{"lagrange", 0, ""}, {"sinc", 1, ""}, {NULL, 0, NULL}};
static const config_choice averages[] = {{"cell", 0, ""}, {"point", 1, ""}, {NULL, 0, NULL}};
static const config_choice switches[] = {{"yes", 1, ""}, {"no", 0, ""}, {NULL, 0, NULL}};

static config_choice listed_equation(int index) {
  const equation_entry *entry = index < EQUATION_COUNT ? &equation_entries[index] : NULL;
  return entry != NULL ? (config_choice){entry->name, index, entry->help} : (config_choice){NULL, 0, NULL};
}

static config_choice listed_case(int index) {
  const initial_case *object = cases_at(index);
  return object != NULL ? (config_choice){object->name, index, object->help} : (config_choice){NULL, 0, NULL};
}

static config_choice listed_velocity(int index) {
  const velocity_field *object = velocities_at(index);
  return object != NULL ? (config_choice){object->name, index, object->help} : (config_choice){NULL, 0, NULL};
}

static config_choice listed_scheme(int index) {
  const scheme *object = schemes_all(index);
  return object != NULL ? (config_choice){object->name, index, object->help} : (config_choice){NULL, 0, NULL};
}

static config_choice listed_backend(int index) {
  const kernels *backend = index > 0 && index <= kernels_count() ? kernels_at(index - 1) : NULL;
  return (config_choice){index == 0 ? "auto" : backend != NULL ? backend->name : NULL, index, NULL};
}

_Static_assert(sizeof(config_transport) == sizeof(int) && sizeof(config_end) == sizeof(int) &&
                   sizeof(config_difference) == sizeof(int) && sizeof(precision) == sizeof(int),
               "choices are stored as int");

/* Limits of magnitude: products of three such numbers are far from overflow and underflow. MOST_PLANES: the
 * bytes of all planes' sums and checksums must fit an int. */
#define SMALLEST    1e-30
#define LARGEST     1e30
#define MOST_PLANES 16777216.0

#define AT(member) offsetof(config, member)
#define COUNT(member, low, high)                                                                             \
  .kind = CONFIG_COUNT, .offset = AT(member), .minimum = (low), .maximum = (high)
#define INT(member, low, high)  .kind = CONFIG_INT, .offset = AT(member), .minimum = (low), .maximum = (high)
#define REAL(member, low, high) .kind = CONFIG_REAL, .offset = AT(member), .minimum = (low), .maximum = (high)
#define POSITIVE(member)        REAL(member, SMALLEST, LARGEST)
#define MEDIUM(member)          REAL(member, 1e-9, 1e9) /* density times speed squared must fit a float */
#define ANY(member)             REAL(member, -LARGEST, LARGEST)
#define CHOICE(member, list)    .kind = CONFIG_CHOICE, .offset = AT(member), .choices = (list)
#define SET(member, list)       .kind = CONFIG_SET, .offset = AT(member), .choices = (list)
#define LISTED(member, list)    .kind = CONFIG_CHOICE, .offset = AT(member), .listed = (list)
#define PATH(member)            .kind = CONFIG_PATH, .offset = AT(member)
#define SLICES(member)          .kind = CONFIG_SLICES, .offset = AT(member)
#define PROBES(member)          .kind = CONFIG_PROBES, .offset = AT(member)
#define NAMES(member)           .kind = CONFIG_NAMES, .offset = AT(member)
#define BOX(member)             .kind = CONFIG_BOX, .offset = AT(member)
#define FORMULA(member)         .kind = CONFIG_FORMULA, .offset = AT(member)
#define NUMBERS(member)         .kind = CONFIG_NUMBERS, .offset = AT(member)
#define COMPONENT(member)       .kind = CONFIG_COMPONENT, .offset = AT(member)
#define REQUIRED                .need = CONFIG_REQUIRED
#define DEFAULT(text)           .need = CONFIG_DEFAULT, .fallback = (text)
#define UNLESS(name)            DEFAULT("none"), .other = (name)
#define DERIVED(words)          .need = CONFIG_DERIVED, .fallback = (words)
#define PART(axis)              .need = CONFIG_PART, .other = (axis), .fallback = "as boundary." axis
#define ABSORBED(d, end)        REAL(absorbed[d][end], 0, 1), DERIVED("as boundary.absorption")
#define EITHER(name, mark)      .need = CONFIG_ALTERNATIVE, .other = (name), .absent = (mark)
#define OR(name, mark, text)    EITHER(name, mark), .fallback = (text)

const config_key config_keys[] = {
    {"grid", "nx", COUNT(n[0], 9, KERNELS_MOST_POINTS), REQUIRED,
     .help = "points in x; with ends at least 16 at order 8, 12 at order 6 (wave: 9)"},
    {"grid", "ny", COUNT(n[1], 9, KERNELS_MOST_POINTS), REQUIRED, .help = "points in y, as nx"},
    {"grid", "nz", COUNT(n[2], 4, MOST_PLANES), REQUIRED,
     .help = "points in z, at least 4 per rank; with ends as nx, and at least 9"},
    {"grid", "lx", POSITIVE(l[0]), DEFAULT("1"),
     .help = "length in x; spacing lx/nx if periodic, lx/(nx - 1) with ends"},
    {"grid", "ly", POSITIVE(l[1]), DEFAULT("1"), .help = "length in y"},
    {"grid", "lz", POSITIVE(l[2]), DEFAULT("1"), .help = "length in z"},
    {"boundary", "x", CHOICE(boundary[0], ends), DEFAULT("periodic"), .help = "both ends of x"},
    {"boundary", "y", CHOICE(boundary[1], ends), DEFAULT("periodic"), .help = "both ends of y"},
    {"boundary", "z", CHOICE(boundary[2], ends), DEFAULT("periodic"), .help = "both ends of z"},
    {"boundary", "x_low", CHOICE(ends[0][0], ends), PART("x"), .help = "low end of x"},
    {"boundary", "x_high", CHOICE(ends[0][1], ends), PART("x"), .help = "high end of x"},
    {"boundary", "y_low", CHOICE(ends[1][0], ends), PART("y"), .help = "low end of y"},
    {"boundary", "y_high", CHOICE(ends[1][1], ends), PART("y"), .help = "high end of y"},
    {"boundary", "z_low", CHOICE(ends[2][0], ends), PART("z"), .help = "low end of z"},
    {"boundary", "z_high", CHOICE(ends[2][1], ends), PART("z"), .help = "high end of z"},
    {"boundary", "value", FORMULA(entering), DERIVED("exact where the solution is known, else 0"),
     .help = "what enters through open ends, and phi on dirichlet ends: exact, a number, or a formula of x, "
             "y, z, t"},
    {"boundary", "absorption", REAL(absorption, 0, 1), DEFAULT("0"),
     .help = "share of the energy that walls absorb at a right angle (acoustics)"},
    {"boundary", "absorption_x_low", ABSORBED(0, 0), .help = "of the wall at the low end of x"},
    {"boundary", "absorption_x_high", ABSORBED(0, 1), .help = "high end of x"},
    {"boundary", "absorption_y_low", ABSORBED(1, 0), .help = "low end of y"},
    {"boundary", "absorption_y_high", ABSORBED(1, 1), .help = "high end of y"},
    {"boundary", "absorption_z_low", ABSORBED(2, 0), .help = "low end of z"},
    {"boundary", "absorption_z_high", ABSORBED(2, 1), .help = "high end of z"},
    {"boundary", "layer_points", INT(layer_points, 1, 1000), DEFAULT("10"),
     .help = "points of an absorbing layer (wave)"},
    {"boundary", "layer_reflection", REAL(layer_reflection, 1e-12, 0.999), DEFAULT("1e-3"),
     .help = "what a layer reflects at a right angle, on a fine grid"},
    {"physics", "equation", LISTED(equation, listed_equation), DEFAULT("advection"),
     .help = "what is solved"},
    {"physics", "form", CHOICE(form, config_forms), DERIVED("advective, of flow keep_pe"),
     .help = "form of the advection term, or of the fluxes of flow"},
    {"physics", "difference", CHOICE(difference, differences), DEFAULT("central"),
     .help = "how the advection term, or sound, is differenced"},
    {"physics", "diffusivity", REAL(diffusivity, 0, LARGEST), DEFAULT("0"),
     .help = "kappa in kappa Laplacian phi"},
    {"physics", "density", MEDIUM(density), DEFAULT("1"), .help = "of the medium (acoustics)"},
    {"physics", "sound_speed", MEDIUM(sound_speed), DEFAULT("1"), .help = "of the medium (acoustics, wave)"},
    {"physics", "gamma", REAL(gamma, 1.0 + 1e-6, 100), DEFAULT("1.4"),
     .help = "ratio of specific heats (flow)"},
    {"physics", "gas_constant", MEDIUM(gas_constant), DEFAULT("1"), .help = "R in p = density R T (flow)"},
    {"physics", "prandtl", MEDIUM(prandtl), DEFAULT("0.71"), .help = "Prandtl number (flow)"},
    {"physics", "viscosity", REAL(viscosity, 0, LARGEST), DEFAULT("0"),
     .help = "dynamic viscosity (flow); 0: none, or as initial.reynolds says"},
    {"physics", "viscosity_law", CHOICE(viscosity_law, laws), DEFAULT("constant"),
     .help = "how the viscosity depends on the temperature (flow)"},
    {"physics", "viscosity_temperature", MEDIUM(viscosity_temperature),
     DERIVED("1, with initial.reynolds that of the case"),
     .help = "temperature at which Sutherland's law gives physics.viscosity"},
    {"physics", "sutherland_temperature", MEDIUM(sutherland_temperature),
     DERIVED("0.4, of a temperature that follows from the case 0.4 of it"), .help = "S of Sutherland's law"},
    {"physics", "dissipation", REAL(dissipation, 0, 10), DEFAULT("0"),
     .help =
         "factor of the dissipation for what the grid does not resolve (flow); 1: as by upwind differences"},
    {"medium", "sound_speed", FORMULA(medium[CONFIG_MEDIUM_SPEED]), DEFAULT("none"),
     .help = "of x, y, z, or a number (wave, acoustics)"},
    {"medium", "density", FORMULA(medium[CONFIG_MEDIUM_DENSITY]), DEFAULT("none"),
     .help = "likewise (acoustics)"},
    {"medium", "file", PATH(medium_file), DEFAULT("none"),
     .help = "HDF5 file with the datasets c and, for acoustics, rho, unless a formula gives them"},
    {"medium", "resample", CHOICE(medium_resample, switches), DEFAULT("no"),
     .help =
         "yes: a dataset of another grid is interpolated: linearly along axes where it is finer, else with "
         "order 8"},
    {"medium", "average", CHOICE(medium_at_points, averages), DEFAULT("cell"),
     .help = "of formulas and of files of another grid: 1/c^2 (acoustics: density and 1/(density c^2)) "
             "averaged over each point's cell, or at the point"},
    {"point_sources", "points", PROBES(source_points), UNLESS("file"),
     .help = "places of sources (wave, acoustics)"},
    {"point_sources", "file", PATH(source_file), DEFAULT("none"),
     .help = "HDF5 file with the dataset points (n, 3); if they are there, amplitude and delay (n)"},
    {"point_sources", "wavelet", CHOICE(wavelet, wavelets), DEFAULT("ricker"), .help = "signal of time"},
    {"point_sources", "wavelet_file", PATH(wavelet_file), DEFAULT("none"),
     .help = "text file with two columns, time and signal"},
    {"point_sources", "frequency", POSITIVE(frequency), DEFAULT("1"), .help = "of the wavelet"},
    {"point_sources", "cycles", POSITIVE(cycles), DEFAULT("3"), .help = "length of a sine, in periods"},
    {"point_sources", "delay", REAL(delay, 0, LARGEST), DERIVED("1.2/frequency, of a file 0"),
     .help = "time of the middle of ricker and gaussian, of the beginning of sine and file"},
    {"point_sources", "amplitude", NUMBERS(source_amplitude), DEFAULT("1"),
     .help = "a number, or one for each point"},
    {"point_sources", "weights", CHOICE(source_sinc, weightings), DEFAULT("lagrange"),
     .help = "interpolation from eight points along each axis"},
    {"receivers", "points", PROBES(receiver_points), UNLESS("file"),
     .help = "places of receivers (wave, acoustics)"},
    {"receivers", "file", PATH(receiver_file), DEFAULT("none"),
     .help = "HDF5 file with the dataset points (n, 3)"},
    {"receivers", "every", COUNT(receivers_every, 1, CONFIG_STEPS_MOST), DEFAULT("1"),
     .help = "steps between samples in receivers.h5"},
    {"receivers", "weights", CHOICE(receiver_sinc, weightings), DEFAULT("lagrange"),
     .help = "interpolation from eight points along each axis"},
    {"initial", "case", LISTED(initial, listed_case), REQUIRED, .help = "initial condition"},
    {"initial", "formula", FORMULA(formula), DEFAULT("none"),
     .help = "value at t = 0, of x, y, z (case formula)"},
    {"initial", "density", FORMULA(gas[0]), DEFAULT("1"), .help = "of x, y, z (flow, case formula)"},
    {"initial", "u", FORMULA(gas[1]), DEFAULT("0"), .help = "velocity along x (flow, case formula)"},
    {"initial", "v", FORMULA(gas[2]), DEFAULT("0"), .help = "velocity along y (flow, case formula)"},
    {"initial", "w", FORMULA(gas[3]), DEFAULT("0"), .help = "velocity along z (flow, case formula)"},
    {"initial", "pressure", FORMULA(gas[4]), DEFAULT("1"), .help = "of x, y, z (flow, case formula)"},
    {"initial", "mach", REAL(mach, 1e-6, 100), DEFAULT("0.1"),
     .help = "Mach number of the velocity 1 of a case of flow"},
    {"initial", "reynolds", REAL(reynolds, 0, LARGEST), DEFAULT("0"),
     .help = "Reynolds number of a case of flow, of lengths lx/(2 pi); 0: physics.viscosity says it"},
    {"initial", "file", PATH(initial_file), DEFAULT("none"), .help = "HDF5 file of the case file"},
    {"initial", "dataset", PATH(dataset), DEFAULT(PROBLEM_DATASET), .help = "dataset in initial.file"},
    {"initial", "resample", CHOICE(initial_resample, switches), DEFAULT("no"),
     .help = "yes: a dataset of another grid is interpolated, with order 8"},
    {"initial", "center_x", ANY(center[0]), DERIVED("lx/2"), .help = "centre of the case"},
    {"initial", "center_y", ANY(center[1]), DERIVED("ly/2"), .help = "centre of the case"},
    {"initial", "center_z", ANY(center[2]), DERIVED("lz/2"), .help = "centre of the case"},
    {"initial", "width", POSITIVE(width), DERIVED("a tenth of the shortest length"),
     .help = "radius or standard deviation"},
    {"initial", "amplitude", ANY(amplitude), DEFAULT("1"),
     .help =
         "height above the background; of density_wave 0.5, of shear_wave and sound_wave 1e-6 by default"},
    {"initial", "background", ANY(background), DEFAULT("0"), .help = "value far away"},
    {"initial", "kx", INT(wave_number[0], -1e6, 1e6), DEFAULT("1"), .help = "whole waves across lx"},
    {"initial", "ky", INT(wave_number[1], -1e6, 1e6), DEFAULT("1"), .help = "whole waves across ly"},
    {"initial", "kz", INT(wave_number[2], -1e6, 1e6), DEFAULT("1"), .help = "whole waves across lz"},
    {"velocity", "field", LISTED(velocity, listed_velocity), REQUIRED, .help = "velocity field"},
    {"velocity", "u", COMPONENT(component[0]), DEFAULT("1"), .help = "x component"},
    {"velocity", "v", COMPONENT(component[1]), DEFAULT("0"), .help = "y component"},
    {"velocity", "w", COMPONENT(component[2]), DEFAULT("0"), .help = "z component"},
    {"velocity", "factor", FORMULA(factor), DEFAULT("1"),
     .help = "what multiplies u, v, w (field formula), of t; at most 1 in magnitude"},
    {"velocity", "file", PATH(velocity_file), DEFAULT("none"), .help = "HDF5 file with datasets u, v, w"},
    {"velocity", "resample", CHOICE(velocity_resample, switches), DEFAULT("no"),
     .help = "yes: datasets of another grid are interpolated, with order 8"},
    {"velocity", "a", ANY(abc[0]), DEFAULT("1"), .help = "amplitude A"},
    {"velocity", "b", ANY(abc[1]), DEFAULT("1"), .help = "amplitude B"},
    {"velocity", "c", ANY(abc[2]), DEFAULT("1"), .help = "amplitude C"},
    {"velocity", "period", POSITIVE(period), DEFAULT("1"),
     .help = "time of a turn (rotation), of there and back (deformation), of a wave in time (manufactured)"},
    {"source", "formula", FORMULA(source[CONFIG_SOURCE_FIRST]), UNLESS("file"),
     .help = "what is added to the rate of the first unknown, of x, y, z"},
#define X(name, words)                                                                                       \
  {"source", "formula_" #name, FORMULA(source[CONFIG_SOURCE_##name]), UNLESS("file"), .help = (words)},
    CONFIG_SOURCE_LIST(X)
#undef X
        {"source", "force_x", ANY(force[0]), DEFAULT("0"),
         .help = "force per mass along x on a flow, as gravity; its work is added to the energy"},
    {"source", "force_y", ANY(force[1]), DEFAULT("0"), .help = "the same along y"},
    {"source", "force_z", ANY(force[2]), DEFAULT("0"), .help = "the same along z"},
    {"source", "file", PATH(source_data), DEFAULT("none"),
     .help = "HDF5 file instead of formulas, with datasets named as the unknowns (flow: energy)"},
    {"source", "resample", CHOICE(source_resample, switches), DEFAULT("no"),
     .help = "yes: datasets of another grid are interpolated, with order 8"},
    {"source", "factor", FORMULA(source_factor), DEFAULT("1"),
     .help = "what multiplies all sources, of t, at the time of each stage"},
    {"level_set", "redistance_every", COUNT(redistance_every, 0, CONFIG_STEPS_MOST), DEFAULT("0"),
     .help = "steps after which phi is made the distance to its surface phi = 0 again; 0: never"},
    {"time", "scheme", LISTED(scheme, listed_scheme), DEFAULT("rk4"),
     .help = "Runge-Kutta scheme; of waves leapfrog or leapfrog4 (default)"},
    {"time", "courant", POSITIVE(courant), EITHER("dt", 0),
     .help =
         "sum of abs(c) dt/h over x, y, z (sound, waves: c dt sqrt(sum 1/h^2)); or dt; waves need neither: "
         "0.7 of the limit"},
    {"time", "dt", POSITIVE(dt), EITHER("courant", 0), .help = "step size; or courant"},
    {"time", "adaptive", CHOICE(adaptive, switches), DERIVED("no, of flow yes unless dt is given"),
     .help =
         "yes: dt follows the velocity's factor of time, or the state of flow, so that courant is kept; no: "
         "a flow's pressure and density are checked at every eighth step alone"},
    {"time", "t_end", REAL(t_end, 0, LARGEST), EITHER("steps", -1), .help = "time to stop at; or steps"},
    {"time", "steps", COUNT(steps, 0, CONFIG_STEPS_MOST), EITHER("t_end", -1),
     .help = "steps from t = 0, restarts included; or t_end"},
    {"compute", "backend", .kind = CONFIG_BACKEND, .offset = AT(backend), .listed = listed_backend,
     DEFAULT("auto"), .help = "what computes; auto: the first that runs here"},
    {"compute", "precision", CHOICE(precision, precisions), DEFAULT("double"), .help = "of the fields"},
    {"compute", "order", CHOICE(order, orders), DEFAULT("8"), .help = "order of the differences in space"},
    {"compute", "threads", INT(threads, 0, CONFIG_THREADS_MOST), DEFAULT("0"),
     .help = "CPU threads per rank; 0: OMP_NUM_THREADS, else its share of the processors it may run on"},
    {"compute", "pairs", CHOICE(pairs, pairings), DEFAULT("auto"),
     .help = "two Runge-Kutta stages in one sweep: where there is a kernel and a GPU per rank (yes), if "
             "faster (auto)"},
    {"halo", "transport", CHOICE(transport, transports), DEFAULT("auto"), .help = "how halo planes travel"},
    {"halo", "overlap", CHOICE(overlap, switches), DEFAULT("yes"),
     .help = "compute while halo planes travel"},
    {"output", "directory", .kind = CONFIG_PATH, .offset = AT(directory), DERIVED("runs/NAME for NAME.ini"),
     .help = "where results go"},
    {"output", "fields_every", COUNT(fields_due.every, 0, CONFIG_STEPS_MOST), OR("fields_at", -1, "99999999"),
     .help = "steps between snapshots that are kept, beside the first and the last (the default keeps these "
             "two); 0: never; or fields_at"},
    {"output", "fields_at", POSITIVE(fields_due.at), EITHER("fields_every", 0),
     .help =
         "time between snapshots that are kept, in place of fields_every: steps are shortened to meet its "
         "multiples (waves: dt divides the least such interval if it can, else the nearest step)"},
    {"output", "fields_precision", CHOICE(fields_single, kept_precisions), DEFAULT("same"),
     .help =
         "of kept snapshots; with single, a stride, a box or derived data they go into fields/, and no run "
         "resumes from them"},
    {"output", "fields_stride", INT(fields_stride, 1, 1e6), DEFAULT("1"),
     .help = "kept snapshots hold each such point of each axis, from point 0 on"},
    {"output", "fields_box", BOX(fields_box), DEFAULT("none"),
     .help = "kept snapshots hold the points from x0 to x1, y0 to y1, z0 to z1"},
    {"output", "compress", CHOICE(compress, switches), DEFAULT("no"),
     .help =
         "yes: kept snapshots in chunks of a plane, shuffled and deflated, in fields/; no run resumes from "
         "them"},
    {"output", "derived", SET(derived, derived), DEFAULT("none"),
     .help = "what kept snapshots and slices hold besides: gradient, the length of the gradient of phi, p "
             "or density; intensity, p times the velocity (acoustics); the others of flow"},
    {"output", "checkpoint_every", COUNT(checkpoint_every, 0, CONFIG_STEPS_MOST), DEFAULT("0"),
     .help = "steps between checkpoints; 0: never"},
    {"output", "diagnostics_every", COUNT(diagnostics_due.every, 0, CONFIG_STEPS_MOST),
     OR("diagnostics_at", -1, "10"),
     .help = "steps between rows of diagnostics.csv; 0: never; or diagnostics_at"},
    {"output", "diagnostics_at", POSITIVE(diagnostics_due.at), EITHER("diagnostics_every", 0),
     .help = "time between rows of diagnostics.csv, as fields_at"},
    {"output", "checkpoint_keep", INT(checkpoint_keep, 2, 1e6), DEFAULT("2"),
     .help = "number of checkpoints that stay, the newest ones"},
    {"output", "overlap", CHOICE(output_overlap, switches), DEFAULT("yes"),
     .help = "write a snapshot, from a copy of the fields on the host, while the next steps run"},
    {"output", "wall_limit", REAL(wall_limit, 0, 1e9), DEFAULT("0"),
     .help = "seconds after which a run stops with a checkpoint and exit code 75; 0: none"},
    {"output", "slices", SLICES(slices), DEFAULT("none"), .help = "planes that are written into slices/"},
    {"output", "slices_every", COUNT(slices_due.every, 0, CONFIG_STEPS_MOST), OR("slices_at", -1, "10"),
     .help = "steps between slices; 0: never; or slices_at"},
    {"output", "slices_at", POSITIVE(slices_due.at), EITHER("slices_every", 0),
     .help = "time between slices, as fields_at"},
    {"output", "probes", PROBES(probes), DEFAULT("none"), .help = "points whose values go into probes.csv"},
    {"output", "probes_every", COUNT(probes_due.every, 0, CONFIG_STEPS_MOST), OR("probes_at", -1, "1"),
     .help = "steps between rows of probes.csv; 0: never; or probes_at"},
    {"output", "probes_at", POSITIVE(probes_due.at), EITHER("probes_every", 0),
     .help = "time between rows of probes.csv, as fields_at"},
    {"statistics", "fields", NAMES(statistics), DEFAULT("none"),
     .help = "unknowns of which mean and variance over time are found while the run goes on; a sample weighs "
             "the time since the one before"},
    {"statistics", "products", CHOICE(statistics_products, switches), DEFAULT("no"),
     .help = "yes: the mean product of each two of the fields, too"},
    {"statistics", "from", REAL(statistics_from, 0, LARGEST), DEFAULT("0"),
     .help = "time of the first sample"},
    {"statistics", "to", REAL(statistics_to, 0, LARGEST), DEFAULT("1e30"), .help = "time of the last sample"},
    {"statistics", "every", COUNT(statistics_every, 1, CONFIG_STEPS_MOST), DEFAULT("1"),
     .help = "steps between samples, which are the states of multiples of it"},
    {"restart", "from", .kind = CONFIG_PATH, .offset = AT(restart), DEFAULT("none"),
     .help = "snapshot to resume from: a file, latest or none"},
    {"benchmark", "reference", .kind = CONFIG_HASH, .offset = AT(reference), DEFAULT("none"),
     .help = "hash of the right answer: a run that ends with another leaves with exit code 5"},
    {"benchmark", "reference_single", .kind = CONFIG_HASH, .offset = AT(reference_single), DEFAULT("none"),
     .help = "the reference in single precision, where it is another"},
    {"benchmark", "hash_every", COUNT(hash_every, 0, CONFIG_STEPS_MOST), DEFAULT("0"),
     .help = "steps between rows of hashes.csv: a hash for each plane; 0: never"},
};
_Static_assert(sizeof config_keys / sizeof config_keys[0] == CONFIG_KEY_COUNT,
               "CONFIG_KEY_COUNT in settings/settings.h");

int config_key_find(const char *section, const char *name) {
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (strcmp(config_keys[i].section, section) == 0 && strcmp(config_keys[i].name, name) == 0) return i;
  }
  return -1;
}

int config_given(const config *config, const char *section, const char *name) {
  return config->line[config_key_find(section, name)] != CONFIG_LINE_NONE;
}

int config_section_known(const char *section) {
  if (strcmp(section, CONFIG_CONSTANTS) == 0 || strcmp(section, CONFIG_UNITS) == 0) return 1;
  for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
    if (strcmp(config_keys[i].section, section) == 0) return 1;
  }
  return 0;
}

config_choice config_choice_at(const config_key *key, int index) {
  if (key->listed != NULL) return key->listed(index);
  return key->choices != NULL ? key->choices[index] : (config_choice){NULL, 0, NULL};
}

static const char *name_of(const config_choice *choices, int value) {
  while (choices->name != NULL && choices->value != value) choices++;
  return choices->name != NULL ? choices->name : "?";
}

const char *config_form_name(int value) {
  return name_of(config_forms, value);
}

const char *config_precision_name(precision value) {
  return name_of(precisions, (int)value);
}
