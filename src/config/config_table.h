#ifndef FDAPP_CONFIG_CONFIG_TABLE_H
#define FDAPP_CONFIG_CONFIG_TABLE_H

#include <stddef.h>

#include "base/check.h"
#include "config/config.h"

/* The table of keys, private to config*.c: reading, messages, writing and the list of keys all use it. */

typedef enum config_kind {
  CONFIG_COUNT,  /* int64_t */
  CONFIG_INT,    /* int */
  CONFIG_REAL,   /* double */
  CONFIG_CHOICE, /* an int or an enumeration, one of `choices` */
  CONFIG_SET,    /* an int, the sum of some of `choices`; "none" for 0 */
  CONFIG_BACKEND,
  CONFIG_PATH,
  CONFIG_HASH,     /* 16 hexadecimal digits */
  CONFIG_FORMULA,  /* text */
  CONFIG_NUMBERS,  /* text: a list of numbers */
  CONFIG_SLICES,   /* text: a list of planes (lists.h) */
  CONFIG_PROBES,   /* text: a list of points (lists.h) */
  CONFIG_BOX,      /* text: a box (lists.h) */
  CONFIG_NAMES,    /* text: names (lists.h) */
  CONFIG_COMPONENT /* text: a formula if velocity.field is formula, else a number (config.uniform) */
} config_kind;

typedef enum config_need {
  CONFIG_REQUIRED,
  CONFIG_DEFAULT, /* `fallback` is read as if it were in the file; with `other`, one of the two is none, and a
                   * value on the command line replaces the file's of the other one */
  CONFIG_DERIVED, /* computed from other keys; `fallback` describes how */
  CONFIG_PART,    /* one end of the axis `other`, whose value is the default */
  CONFIG_ALTERNATIVE /* exactly one of this key and `other`; `absent` marks the one not given; if both are
                      * missing, the one with a `fallback` has it */
} config_need;

typedef struct config_choice {
  const char *name;
  int value;
  const char *help;
} config_choice;

typedef struct config_key {
  const char *section, *name;
  config_kind kind;
  size_t offset;                      /* of the member in config */
  double minimum, maximum;            /* inclusive; numbers only */
  const config_choice *choices;       /* ends with a NULL name; or NULL, and */
  config_choice (*listed)(int index); /* the same choices from a list of objects */
  config_need need;
  const char *fallback;
  const char *other;
  double absent;
  const char *help;
} config_key;

enum { CONFIG_TEXT_SIZE = 512 };

/* CONFIG_KEY_COUNT of them. The list alone sizes it: with a size here, a count beyond the list would leave
 * empty keys at its end, which the assertion behind the list could not see. */
extern const config_key config_keys[];

/* Ends with a NULL name. */
extern const config_choice config_forms[];
/* The i-th word that a key accepts; a NULL name beyond the last. */
config_choice config_choice_at(const config_key *key, int index);

/* Index of a key, or -1. */
int config_key_find(const char *section, const char *name);
int config_section_known(const char *section);
/* Returns 1 if a key was given, in the file or on the command line. */
int config_given(const config *config, const char *section, const char *name);

/* Search for the known name nearest to a misspelt one: start with a word, offer candidates, read `best` (NULL
 * if none is near). */
typedef struct config_guess {
  const char *word;
  const char *best;
  int distance;
} config_guess;

void config_guess_offer(config_guess *guess, const char *candidate);

/* Reads `text` as the value of `key` into the configuration. Returns NULL, or the fault. */
const char *config_value_read(const config_key *key, const char *text, config *config);

/* Reads component d of a velocity that is not a formula. Returns NULL, or the fault. */
const char *config_component_read(config *config, int d);

/* Reads the value of a constant. Returns NULL, or the fault. */
const char *config_constant_read(const char *text, double *value);

/* Reads a coordinate of any size, which is compared with the domain later; DBL_MAX beyond that. Returns NULL,
 * or the fault. */
const char *config_place_read(const char *text, double *value);

/* Describes the values that `key` accepts, in at most CONFIG_TEXT_SIZE bytes. */
const char *config_value_accepted(const config_key *key, char *text);

/* The nearest accepted word for a misspelt value, or NULL. */
const char *config_value_guess(const config_key *key, const char *text);

/* config_value_clear marks an alternative key as not given; config_value_is_clear returns 1 for such a key.
 */
void config_value_clear(const config_key *key, config *config);
int config_value_is_clear(const config_key *key, const config *config);

/* Values of config.line that are not line numbers. */
enum { CONFIG_LINE_NONE = 0, CONFIG_LINE_OVERRIDE = -1 };

/* Records "WHERE: SUBJECT: what is wrong"; WHERE is file:line or "command line". Returns STATUS_USAGE. */
__attribute__((format(printf, 4, 5))) status config_fail(const config *config, int line, const char *subject,
                                                         const char *format, ...);

/* Set a constant, or a unit, that was given in a line. STATUS_USAGE. */
status config_constant_set(config *config, int line, const char *name, const char *value);
status config_unit_set(config *config, int line, const char *name, const char *value);

/* Writes the value of `key` as in a file, numbers with `digits` digits, to text of CONFIG_PATH_SIZE bytes. */
const char *config_value_text(const config_key *key, const config *config, int digits, char *text);

/* Returns 1 if a key has no effect in this run: for instance a key of [initial] or [velocity] that the case
 * or the velocity field does not use, or a key of advection with an equation without a velocity field.
 * host_memory: 1 if the backend computes in host memory, 0 if it does not or is unknown. */
int config_key_idle(const config *config, int key, int host_memory);

/* Checks the formulas that the problem uses. */
status config_formulas_check(config *config);

/* Waves have defaults and conditions of their own: for time.scheme, time.courant. */
void config_wave_derive(config *config);
status config_wave_check(const config *config);

/* So has flow: for time.courant, time.adaptive, physics.form, initial.amplitude. */
void config_flow_derive(config *config);
status config_flow_check(const config *config);

/* Checks what the run writes. */
status config_output_check(const config *config);

/* Completes defaults, then checks conditions on several keys. path: of the file. */
status config_complete(config *config, const char *path);

#endif
