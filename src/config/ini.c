#include "config/ini.h"

#include <stdlib.h>
#include <string.h>

static const char blank[] = " \t";

status ini_open(const char *text, ini_reader *reader) {
  static const char mark[] = "\xEF\xBB\xBF"; /* UTF-8 byte order mark */
  if (strncmp(text, mark, sizeof mark - 1) == 0) text += sizeof mark - 1;
  *reader = (ini_reader){.section = "", .name = "", .value = "", .comment = "", .text = "", .fault = ""};
  reader->memory = strdup(text);
  reader->next = reader->memory;
  return reader->memory != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a configuration");
}

void ini_close(ini_reader *reader) {
  free(reader->memory);
  reader->memory = NULL;
}

/* Removes white space at the end. */
static void trim(char *text) {
  size_t length = strlen(text);
  while (length > 0 && strchr(blank, text[length - 1]) != NULL) length--;
  text[length] = '\0';
}

/* Removes a comment: white space followed by ; and the rest, except within the quotes of a value. Returns the
 * comment, or "". */
static const char *cut_comment(char *text) {
  const char *comment = "";
  char *first = text + strspn(text, blank);
  if (*first == '"' && strchr(first + 1, '"') != NULL) first = strchr(first + 1, '"');
  for (char *c = first; *c != '\0'; c++) {
    if (*c != ';' || c == text || strchr(blank, c[-1]) == NULL) continue;
    *c = '\0';
    comment = c + 1;
    break;
  }
  trim(text);
  return comment;
}

/* Returns the next line without its end, or NULL. */
static char *take_line(ini_reader *reader) {
  char *line = reader->next;
  if (*line == '\0') return NULL;
  const size_t length = strcspn(line, "\n");
  reader->next = line + length + (line[length] == '\n');
  line[length] = '\0';
  if (length > 0 && line[length - 1] == '\r') line[length - 1] = '\0';
  reader->line++;
  return line;
}

static ini_kind fail(ini_reader *reader, const char *line, const char *fault) {
  reader->text = line;
  reader->fault = fault;
  return INI_FAULT;
}

static ini_kind read_section(ini_reader *reader, char *line) {
  const size_t length = strcspn(line, "]");
  if (line[length] != ']') return fail(reader, line, "a section without its closing bracket");
  const char *rest = line + length + 1;
  const size_t space = strspn(rest, blank);
  if (rest[space] != '\0' && !(space > 0 && rest[space] == ';'))
    return fail(reader, line, "text after the section; accepted: [section] alone in its line");
  line[length] = '\0';
  reader->section = line + 1;
  return INI_SECTION;
}

static ini_kind read_pair(ini_reader *reader, char *line) {
  const size_t length = strcspn(line, "=:");
  if (line[length] == '\0') {
    return fail(reader, line,
                "not understood; accepted: [section], key = value with all of the value in one line, or a "
                "comment after ';' or '#'");
  }
  char *value = line + length + 1;
  line[length] = '\0';
  reader->comment = cut_comment(value);
  trim(line);
  reader->name = line;
  reader->value = value + strspn(value, blank);
  return INI_PAIR;
}

static int has_control(const char *line) {
  for (const char *c = line; *c != '\0'; c++) {
    if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127) return 1;
  }
  return 0;
}

ini_kind ini_next(ini_reader *reader) {
  for (char *line = take_line(reader); line != NULL; line = take_line(reader)) {
    line += strspn(line, blank);
    if (*line == '\0' || *line == ';' || *line == '#') continue;
    if (has_control(line)) return fail(reader, line, "a control character");
    return *line == '[' ? read_section(reader, line) : read_pair(reader, line);
  }
  return INI_END;
}
