#ifndef FDAPP_CONFIG_CONFIG_H
#define FDAPP_CONFIG_CONFIG_H

#include <stdio.h>

#include "config/settings.h"

/* Reads a run's configuration: an INI file and section.key=value overrides, read once, validated as a whole,
 * constant afterwards. */

/* Reads `path` and applies `count` overrides of the form "section.key=value", then validates the whole. Not
 * collective: rank 0 calls it. [out] config is complete only if STATUS_OK. STATUS_FILE if the file cannot be
 * read; STATUS_USAGE for anything else, with the message "FILE:LINE: section.key = value: what is wrong;
 * accepted: ...; did you mean '...'?", where FILE:LINE is "command line" for an override.
 *
 * The file: ASCII or UTF-8, at most 1 MiB, lines ending in LF or CR LF, a byte order mark ignored. A line is
 * empty, a comment after ; or #, a [section], or key = value (key: value too), of any length; it never goes
 * on in the next one, indented or not. White space followed by ; begins a comment after a value or a section.
 * Names and words are case-sensitive. A key comes once; a section may come again.
 *
 * Overrides win over the file. One for time.dt replaces the file's time.courant, and the other way round;
 * likewise t_end and steps. Both in the file, or both among the overrides, are an error, and so is a key that
 * comes twice there. A faulty value in the file is an error even if an override replaces it.
 *
 * Values: integers in decimal without leading zeros; numbers with a decimal point whatever the locale,
 * neither hexadecimal nor NaN nor infinite, of magnitude 1e30 at most (1e-30 at least where they must be
 * positive); steps at most 99999999, the eight digits of a state's name; paths as they are, neither quoted
 * nor with ~ or $, at most CONFIG_PATH_LIMIT bytes; formulas (formula.h) less than CONFIG_FORMULA_SIZE,
 * finite at points and times that are looked at here. The keys of [constants] are names of one's own. The
 * table of keys (config_list prints it) has each range. Beyond the single keys: the bytes of 64 fields, more
 * than any run has, fit 64 bits; t_end/dt at most 99999999 steps; waves of cosine and manufactured at most
 * n/2; width at most the shortest length, half of it for sphere, slotted and blob; the centre at most 1000
 * lengths away; `path` is not the file that the run would replace by the resolved configuration,
 * RUNDIR_CONFIG (rundir.h) in output.directory, unless config_is_resolved. */
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

/* Whether a velocity field carries what the equation solves for; otherwise [velocity], the form of advection
 * and the diffusivity have no effect. */
int config_carried(const config *config);

/* The keys that were given though the equation, the case and the velocity field do not use them,
 * "section.key, section.key"; "" if there are none. A file that config_is_resolved gives every key, and
 * means none of these. */
enum { CONFIG_NAMES_SIZE = 512 };
const char *config_without_effect(const config *config, char text[CONFIG_NAMES_SIZE]);

/* Prints equations, cases, velocity fields, schemes, forms and backends, then all keys as a Markdown table
 * with what is accepted, the default and the meaning, for --list. */
void config_list(FILE *file);

/* Names as in the file, for messages and output. */
const char *config_form_name(advection_form value);
const char *config_precision_name(precision value);

#endif
