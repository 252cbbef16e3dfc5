#ifndef FDAPP_CONFIG_CONFIG_H
#define FDAPP_CONFIG_CONFIG_H

#include <stdio.h>

#include "settings/settings.h"

/* Reads a run's configuration, an INI file and section.key=value overrides. It is read once, validated as a
 * whole, and constant afterwards. */

/* Reads `path` and applies `count` overrides of the form "section.key=value", then validates the whole. Not
 * collective: rank 0 calls it. [out] config is complete only if STATUS_OK. STATUS_FILE if the file cannot be
 * read; STATUS_USAGE for anything else, with the message "FILE:LINE: section.key = value: what is wrong;
 * accepted: ...; did you mean '...'?", where FILE:LINE is "command line" for an override.
 *
 * The file: ASCII or UTF-8, at most 1 MiB, lines ending in LF or CR LF, a byte order mark ignored. A line is
 * empty, a comment after ; or #, a [section], or key = value (key: value too), of any length; there are no
 * continuation lines. White space followed by ; begins a comment after a value or a section. Names and words
 * are case-sensitive. A key comes once; a section may come again.
 *
 * Overrides win over the file. One for time.dt replaces the file's time.courant, and the other way round;
 * likewise t_end and steps. Both in the file, or both among the overrides, are an error, as is a repeated
 * key. A faulty value in the file is an error even if an override replaces it.
 *
 * Values. Integers: decimal, without leading zeros. Numbers: with a decimal point in every locale, not
 * hexadecimal, NaN or infinite, of magnitude at most 1e30 (at least 1e-30 if they must be positive). Steps:
 * at most 99999999, because a state's file name has eight digits. Paths: taken literally, without quotes, ~
 * or $, at most CONFIG_PATH_LIMIT bytes. Formulas (formula.h): fewer than CONFIG_FORMULA_SIZE bytes, finite
 * at sample points and times. The keys of [constants] are the user's own names. The table of keys
 * (config_list prints it) has each range.
 *
 * Conditions on several keys: the bytes of 64 fields, more than any run has, fit 64 bits; t_end/dt is at most
 * 99999999 steps; cosine and manufactured have at most n/2 waves; width is at most the shortest length, half
 * of it for sphere, slotted and blob; the centre is at most 1000 lengths away; `path` is not the file
 * RUNDIR_CONFIG (rundir.h) in output.directory, which the run would replace by the resolved configuration,
 * unless config_is_resolved. */
status config_load(const char *path, int count, char *const overrides[], config *config);

/* Refuses a value for a reason that is found only after reading: records "FILE:LINE: section.key = value:
 * what is wrong", or "command line: ...", as config_load does. Returns STATUS_USAGE. */
__attribute__((format(printf, 4, 5))) status config_refuse(const config *config, const char *section,
                                                           const char *name, const char *format, ...);

/* Writes the resolved configuration as an INI file that config_load reads back to the same bits (%.17g):
 * every key, and of the alternatives in [time] the one in use. */
void config_write(const config *config, FILE *file);
/* The same as a string, which the caller frees. STATUS_MEMORY: *text is NULL. */
status config_text(const config *config, char **text);

/* Returns 1 if a file could have been written by config_write: line by line it is what config_write makes of
 * its values, except for the digits of numbers. Then it is a run's resolved configuration, perhaps with
 * edited values but without the user's own comments, and may be replaced. 0 also for a file that cannot be
 * read. Not collective. */
int config_is_resolved(const char *path);

/* Returns 1 if the equation uses a key that equation_entry.keys may name, or all equations do. */
int config_equation_uses(const config *config, const char *name);

/* Return 1 if a run has point sources, receivers, absorbing layers. */
int config_sourced(const config *config);
int config_received(const config *config);
int config_layered(const config *config);
/* The largest Courant number c dt sqrt(sum 1/h^2) of a leapfrog scheme at the run's order. */
double config_wave_limit(const config *config);

/* The unit of `name` (length, time, a field): "" if none is given. Of a dataset it may also be the mean of a
 * field, its variance, or a mean product: a square or two units side by side, which are written to `text`. */
const char *config_unit_of(const config *config, const char *name);
const char *config_unit_of_data(const config *config, const char *name, char text[CONFIG_PRODUCT_SIZE]);
/* Refuses units of names that are not length, time, these fields, or what can be derived from them. */
status config_units_check(const config *config, int count, const char *const names[]);

/* Returns 1 if a key or a constant has no effect in this run, given or not, whatever the backend. */
int config_is_idle(const config *config, const char *section, const char *name);

/* Keys that were given but have no effect with this equation, case, velocity field and backend, "section.key,
 * section.key"; "" if there are none. For a file that config_is_resolved, which has every key: always "".
 * host_memory: 1 if the backend computes in host memory, 0 if it does not or is unknown. */
enum { CONFIG_NAMES_SIZE = 512 };
const char *config_without_effect(const config *config, int host_memory, char text[CONFIG_NAMES_SIZE]);

/* Prints equations, cases, velocity fields, schemes, forms and backends, then all keys with
 * accepted values, default and meaning, two lines a key, for --list. */
void config_list(FILE *file);

/* Names as in the file. */
const char *config_form_name(int value);
const char *config_precision_name(precision value);

#endif
