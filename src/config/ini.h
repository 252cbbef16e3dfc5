#ifndef FDAPP_CONFIG_INI_H
#define FDAPP_CONFIG_INI_H

#include "base/check.h"

/* Reader of INI texts, line by line. A line is empty, a comment after ; or #, a [section], or key = value
 * (key: value too), of any length, indented or not. White space followed by ; begins a comment after a value
 * or a section. Lines end in LF or CR LF; a byte order mark at the beginning is ignored. */
typedef enum ini_kind { INI_END, INI_SECTION, INI_PAIR, INI_FAULT } ini_kind;

typedef struct ini_reader {
  int line;            /* number of the latest line, from 1 */
  const char *section; /* the current section; "" before the first */
  const char *name, *value;
  const char *comment;      /* after the value, without its ;; "" if there is none */
  const char *text, *fault; /* INI_FAULT: the line, and its fault */
  char *memory, *next;
} ini_reader;

/* Opens a text. STATUS_MEMORY: nothing to close. */
status ini_open(const char *text, ini_reader *reader);
void ini_close(ini_reader *reader);
/* The next section, pair or fault. The texts are valid until ini_close. */
ini_kind ini_next(ini_reader *reader);

#endif
