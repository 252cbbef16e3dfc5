#ifndef FDAPP_BASE_NUMBER_H
#define FDAPP_BASE_NUMBER_H

/* Writes a number for a message that compares it with another one: with six digits, or as many more as tell
 * the two apart. A NaN has no sign. Returns `text`. */
enum { NUMBER_TEXT = 32 };
const char *number_apart(double value, double from, char text[NUMBER_TEXT]);

/* Writes a number of bytes with three digits in the largest unit of which there is one: "1.25 GiB". Returns
 * `text`. */
const char *number_bytes(double bytes, char text[NUMBER_TEXT]);

#endif
