#ifndef FDAPP_PROBLEMS_FORMULA_FUNCTIONS_H
#define FDAPP_PROBLEMS_FORMULA_FUNCTIONS_H

#include <muParserDLL.h>

/* The functions of formulas (FORMULA_FUNCTIONS). A function is evaluated once where its arguments come again
 * soon, as those of sin(2*pi*x)*cos(2*pi*y) do on a grid: a formula has a memory of values, which are found
 * by the bits of the arguments. */
typedef struct formula_memory formula_memory;

/* The character that stands for ^ inside. */
enum { FORMULA_POWER = '~' };

/* NULL: no memory, so every call is an evaluation. */
formula_memory *formula_memory_make(void);
void formula_memory_free(formula_memory *memory);

/* What functions called by this thread use from now on; NULL: none. */
void formula_memory_use(formula_memory *memory);

void formula_functions_define(muParserHandle_t parser);

/* 1 if there is a function of this name. */
int formula_functions_has(const char *name);
/* The number of its arguments, in words. */
const char *formula_functions_arguments(const char *name);

#endif
