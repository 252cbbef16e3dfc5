#ifndef FDAPP_BASE_TEXT_H
#define FDAPP_BASE_TEXT_H

#include <stddef.h>

/* Appends to a text, and before it the separator unless the text is empty. What exceeds `size` bytes is cut.
 */
__attribute__((format(printf, 4, 5))) void text_add(char *text, size_t size, const char *separator,
                                                    const char *format, ...);

#endif
