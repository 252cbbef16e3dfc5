#ifndef FDAPP_FAULTS_INTERPOSER_H
#define FDAPP_FAULTS_INTERPOSER_H

#include <dlfcn.h>

/* What the interposer's files share; none of it is seen by the program. */
#pragma GCC visibility push(hidden)

typedef enum verdict { PASS, FAIL, GARBLE } verdict;

/* Whether an address is in the program itself, not in a library. */
int from_program(const void *site);

/* Lists a call of function `name` from `site`, if it counts, and says whether it is the one to strike. Does
 * not return from where the process is to die. */
verdict strike(const char *name, const void *site, int counts);

/* Remembers an array of the program, if it is the largest so far; flip: how one of its bytes gets another
 * bit. */
void note_array(void *memory, size_t size, void (*flip)(char *byte));

#pragma GCC visibility pop

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define SITE       __builtin_return_address(0)

#endif
