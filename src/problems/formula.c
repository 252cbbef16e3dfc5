#include "problems/formula.h"

#include <ctype.h>
#include <muParserDLL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/formula_functions.h"
#include "problems/problem.h"

struct formula {
  muParserHandle_t parser;
  double value[FORMULA_VARIABLES];
  char variables[FORMULA_VARIABLES + 1];
  int used[FORMULA_VARIABLES]; /* 1: the formula depends on the variable */
  int known;                   /* 1: `last` is the value for `value` */
  double last;
  formula_memory *memory;
};

/* Some of muParser's codes of errors (EErrorCodes in muParserDef.h, which only C++ can include). */
enum { UNKNOWN = 1, COMMA = 3, COLON = 34 };

/* muParser's own ^ calls pow of the C library and cannot be replaced. So ^ is replaced by another character,
 * which is defined as an operator of the same precedence. */
enum { POWER = '^', POWER_INSIDE = FORMULA_POWER, MESSAGE = 400 };

static const char *const lengths[3] = {"lx", "ly", "lz"};

int formula_name_free(const char *name) {
  static const char *const taken[] = {"x", "y", "z", "t", "pi", "lx", "ly", "lz"};
  if (!isalpha((unsigned char)name[0])) return 0;
  for (const char *c = name; *c != '\0'; c++) {
    if (!isalnum((unsigned char)*c) && *c != '_') return 0;
  }
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    if (strcmp(taken[i], name) == 0) return 0;
  }
  return !formula_functions_has(name);
}

static void define(formula *formula, const config *config, const char *variables) {
  muParserHandle_t parser = formula->parser;
  mupClearFun(parser);
  mupClearConst(parser);
  for (int i = 0; variables[i] != '\0'; i++)
    mupDefineVar(parser, (const char[2]){variables[i], '\0'}, &formula->value[i]);
  formula_functions_define(parser);
  mupDefineConst(parser, "pi", PROBLEM_PI);
  for (int d = 0; d < 3; d++) mupDefineConst(parser, lengths[d], config->l[d]);
  for (int i = 0; i < config->constant_count; i++)
    mupDefineConst(parser, config->constants[i].name, config->constants[i].value);
}

/* Returns the first character that muParser accepts and this program does not (the replacement for ^, texts,
 * assignments), or on which muParser's message is not clear (%, !, **), or NULL. Tabs are blanks. */
static const char *foreign(const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    const int assigns = *c == '=' && c[1] != '=' && (c == text || strchr("=<>!", c[-1]) == NULL);
    const int unclear = *c == '%' || (*c == '!' && c[1] != '=') || (*c == '*' && c[1] == '*');
    if (*c == POWER_INSIDE || *c == '"' || assigns || unclear || (unsigned char)*c > 126 ||
        ((unsigned char)*c < ' ' && *c != '\t'))
      return c;
  }
  return NULL;
}

/* Returns a comparison of which another comparison is a side, or NULL: "0 < x < 1" would compare 1 or 0
 * with 1. `depth` of parentheses, each with a comparison before or without one. */
static const char *chained(const char *text) {
  enum { DEEPEST = 64 };
  int compared[DEEPEST + 1] = {0}, depth = 0;
  for (const char *c = text; *c != '\0'; c++) {
    const int compares = *c == '<' || *c == '>' || ((*c == '=' || *c == '!') && c[1] == '=');
    if (*c == '(') {
      if (++depth > DEEPEST) return NULL;
      compared[depth] = 0;
    } else if (*c == ')' && depth > 0) {
      depth--;
    } else if (strchr(",?:&|", *c) != NULL) {
      compared[depth] = 0;
    } else if (compares) {
      if (compared[depth]++) return c;
      c += c[1] == '=';
    }
  }
  return NULL;
}

static status fail_at(size_t place, const char *what) {
  return status_fail(STATUS_USAGE, "character %zu: %s", place + 1, what);
}

static void say_unknown(const config *config, const char *variables, const char *token, char *what) {
  size_t used = (size_t)snprintf(what, MESSAGE, "'%s' is not known; accepted: numbers, ", token);
  for (int i = 0; variables[i] != '\0'; i++)
    used += (size_t)snprintf(what + used, MESSAGE - used, "%c, ", variables[i]);
  used += (size_t)snprintf(what + used, MESSAGE - used, "pi, lx, ly, lz, ");
  for (int i = 0; i < config->constant_count && used + CONFIG_NAME_SIZE < MESSAGE / 2; i++)
    used += (size_t)snprintf(what + used, MESSAGE - used, "%s, ", config->constants[i].name);
  (void)snprintf(what + used, MESSAGE - used, FORMULA_FUNCTIONS);
}

/* A character that belongs to no formula; a name for those that a terminal would not show. */
static void say_character(const char *wrong, char *what) {
  const unsigned char c = (unsigned char)*wrong;
  char shown[32];
  if (c == '*') {
    (void)snprintf(what, MESSAGE, "'**' cannot be read; accepted: ^ for a power");
    return;
  }
  if (c == '=') {
    (void)snprintf(what, MESSAGE, "'=' cannot be read; accepted: == for a comparison");
    return;
  }
  (void)snprintf(shown, sizeof shown,
                 c > 126   ? "a character beyond ASCII"
                 : c < ' ' ? "a control character"
                           : "'%c'",
                 c);
  (void)snprintf(what, MESSAGE,
                 "%s cannot be read; accepted: + - * / ^ ( ) , < <= > >= == != && || ? :, numbers, names",
                 shown);
}

static int is_of_word(char c) {
  return isalnum((unsigned char)c) || c == '.' || c == '_';
}

/* Returns 1 if the word around *place begins as a number; then it is none that can be read. [out] place: its
 * beginning; what: the message. */
static int is_bad_number(const char *text, size_t *place, char *what) {
  size_t first = *place, end = *place;
  while (first > 0 && is_of_word(text[first - 1])) first--;
  while (is_of_word(text[end])) end++;
  if (!isdigit((unsigned char)text[first]) && text[first] != '.') return 0;
  *place = first;
  (void)snprintf(what, MESSAGE, "'%.*s' is no number; accepted: as 2, 0.5 or 1e-3, at most 1.7e308",
                 (int)(end - first < 64 ? end - first : 64), text + first);
  return 1;
}

/* Place of the first ':' before which there are fewer '?'. */
static size_t stray_colon(const char *text) {
  int open = 0;
  size_t place = 0;
  for (; text[place] != '\0'; place++) {
    if (text[place] == '?') open++;
    if (text[place] == ':' && open-- == 0) break;
  }
  return place;
}

#define VALUE     "a number, a name, a function or '('"
#define OPERATOR  "an operator, ')' or the end"
#define CONDITION "CONDITION ? VALUE : VALUE"

static void say(int code, const char *token, char *what) {
  static const struct {
    int code, named; /* named: the message begins with the token */
    const char *text;
  } known[] = {
      {0, 1, "stands where a value is expected; accepted: " VALUE},
      {32, 1, "stands where a value is expected; accepted: " VALUE},
      {2, 0, "the formula ends where a value is expected; accepted: " VALUE},
      {COMMA, 0, "a comma without a function; accepted: one between a function's arguments"},
      {4, 0, "values with a comma in parentheses of no function; accepted: one value in them"},
      {5, 1, "stands where an operator is expected; accepted: " OPERATOR},
      {6, 1, "stands where an operator is expected; accepted: " OPERATOR},
      {12, 1, "stands where an operator is expected; accepted: " OPERATOR},
      {7, 1, "is not expected here; accepted: one after a value, and one ')' for each '('"},
      {11, 0, "a parenthesis is not closed; accepted: one ')' for each '('"},
      {25, 0, "a formula is expected; accepted: " VALUE},
      {33, 0, "'?' without ':'; accepted: " CONDITION},
      {COLON, 0, "':' without '?'; accepted: " CONDITION},
      {-1, 1, "cannot be read; accepted: " VALUE}, /* other codes */
  };
  enum { MANY = 14, FEW = 15 };
  int i = 0;
  while (known[i].code >= 0 && known[i].code != code) i++;
  if (code == MANY || code == FEW) {
    (void)snprintf(what, MESSAGE, "too %s arguments of %s; accepted: %s", code == MANY ? "many" : "few",
                   token, formula_functions_arguments(token));
  } else if (known[i].named) {
    (void)snprintf(what, MESSAGE, "'%s' %s", token, known[i].text);
  } else {
    (void)snprintf(what, MESSAGE, "%s", known[i].text);
  }
}

/* Truncates a name to the room in a message. */
static void copy_token(const char *from, char token[64]) {
  (void)snprintf(token, 64, "%s", from);
  token[strcspn(token, " ")] = '\0';
  for (char *c = token; *c != '\0'; c++) {
    if (*c == POWER_INSIDE) *c = POWER;
  }
}

static status fail_parser(const formula *formula, const config *config, const char *text,
                          const char *variables) {
  char what[MESSAGE] = "", token[64];
  const int code = mupGetErrorCode(formula->parser), at = mupGetErrorPos(formula->parser);
  const size_t length = strlen(text);
  size_t place = at < 0 || (size_t)at > length ? length : (size_t)at;
  copy_token(mupGetErrorToken(formula->parser), token);
  if (code == COLON) place = stray_colon(text);
  if ((code == UNKNOWN || token[0] == '.') && is_bad_number(text, &place, what)) return fail_at(place, what);
  if (code == UNKNOWN && formula_functions_has(token)) {
    (void)snprintf(what, sizeof what, "'%s' without its arguments; accepted: %s(...)", token, token);
  } else if (code == UNKNOWN && !is_of_word(token[0])) {
    say_character(text + place, what);
  } else if (code == UNKNOWN) {
    say_unknown(config, variables, token, what);
  } else {
    say(code, token, what);
  }
  return fail_at(place, what);
}

/* Replaces ^ and tabs as muParser needs it, and moves a function's name to its parenthesis: muParser reads
 * "sin (x)" as a name alone. Places stay those of the text. */
static void prepare(char *text) {
  for (char *c = text; *c != '\0'; c++) {
    if (*c == POWER) *c = POWER_INSIDE;
    if (*c == '\t') *c = ' ';
    if (*c != '(' || c == text || c[-1] != ' ') continue;
    char *end = c, name[16];
    while (end > text && end[-1] == ' ') end--;
    const char *first = end;
    while (first > text && is_of_word(first[-1])) first--;
    const size_t length = (size_t)(end - first);
    (void)snprintf(name, sizeof name, "%.*s", (int)length, first);
    if (length == 0 || length >= sizeof name || !formula_functions_has(name)) continue;
    memset(end - length, ' ', (size_t)(c - end) + length);
    memcpy(c - length, name, length);
  }
}

/* Of the variables of an expression that has been read. */
static void find_used(formula *formula) {
  for (int i = 0; i < mupGetExprVarNum(formula->parser); i++) {
    const char *name = NULL;
    double *value = NULL;
    mupGetExprVar(formula->parser, (unsigned)i, &name, &value);
    for (int k = 0; k < FORMULA_VARIABLES; k++) formula->used[k] |= value == &formula->value[k];
  }
}

static status read_text(formula *formula, const config *config, const char *text, const char *variables) {
  char inside[CONFIG_FORMULA_SIZE];
  int values = 0;
  const char *wrong = foreign(text);
  if (wrong != NULL) {
    char what[MESSAGE];
    say_character(wrong, what);
    return fail_at((size_t)(wrong - text), what);
  }
  (void)snprintf(inside, sizeof inside, "%s", text);
  prepare(inside);
  mupSetExpr(formula->parser, inside);
  if (!mupError(formula->parser)) (void)mupEvalMulti(formula->parser, &values);
  if (mupError(formula->parser)) return fail_parser(formula, config, text, variables);
  wrong = chained(text);
  if (wrong != NULL)
    return fail_at(
        (size_t)(wrong - text),
        "a comparison of a comparison, which is 1 or 0; accepted: && between two, as 0 < x && x < 1, "
        "or parentheses");
  if (values == 1) return STATUS_OK;
  char what[MESSAGE];
  say(COMMA, "", what);
  return fail_at(strcspn(text, ","), what);
}

status formula_open(const config *config, const char *text, const char *variables, formula **made) {
  formula *formula = calloc(1, sizeof *formula);
  *made = NULL;
  if (formula != NULL) formula->parser = mupCreate(muBASETYPE_FLOAT);
  if (formula == NULL || formula->parser == NULL) {
    free(formula);
    return status_fail(STATUS_MEMORY, "no memory for a formula");
  }
  (void)snprintf(formula->variables, sizeof formula->variables, "%s", variables);
  define(formula, config, variables);
  const status result = read_text(formula, config, text, variables);
  if (result == STATUS_OK) {
    find_used(formula);
    formula->memory = formula_memory_make();
    *made = formula;
  } else {
    formula_close(formula);
  }
  return result;
}

void formula_close(formula *formula) {
  if (formula == NULL) return;
  mupRelease(formula->parser);
  formula_memory_free(formula->memory);
  free(formula);
}

/* Takes over the variables that the formula depends on. Returns 1 if none of them is another than before. */
static int take(formula *formula, const double values[FORMULA_VARIABLES]) {
  int same = formula->known;
  for (int i = 0; i < FORMULA_VARIABLES; i++) {
    if (!formula->used[i] || memcmp(&formula->value[i], &values[i], sizeof values[i]) == 0) continue;
    formula->value[i] = values[i];
    same = 0;
  }
  return same;
}

double formula_at(formula *formula, const double values[FORMULA_VARIABLES]) {
  if (take(formula, values)) return formula->last;
  formula_memory_use(formula->memory);
  formula->last = mupEval(formula->parser);
  formula_memory_use(NULL);
  formula->known = 1;
  return formula->last;
}

int formula_varies(const formula *formula) {
  int varies = 0;
  for (int i = 0; i < FORMULA_VARIABLES; i++) varies |= formula->used[i];
  return varies;
}

int formula_uses(const formula *formula, char variable) {
  const char *place = strchr(formula->variables, variable);
  return variable != '\0' && place != NULL && formula->used[place - formula->variables];
}
