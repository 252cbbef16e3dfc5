#ifndef FDAPP_BASE_LOG_H
#define FDAPP_BASE_LOG_H

/* The program's output. Only the rank that log_init() selects prints, so every line appears once for any
 * number of ranks. Progress and plans go to standard output, the rest to standard error. Not collective. */

/* prints: 1 if this rank prints (rank 0). Before the call every process does. */
void log_init(int prints);

/* Prints one or several lines, or a part of one, on standard output; the caller includes the newline. A line
 * is written when it is complete. */
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);

/* Sets the program's name for warnings and errors; default "fdapp". The pointer is kept. */
void log_program(const char *name);

/* "fdapp: warning: ..." on standard error, newline added: one write. */
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);

/* "fdapp: error: ..." on standard error, newline added. */
void log_error(const char *text);

#endif
