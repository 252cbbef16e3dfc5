#ifndef FDAPP_BASE_LOG_H
#define FDAPP_BASE_LOG_H

/* What the user reads. Only the rank that log_init() names prints; the others' calls do nothing, so that
 * every line appears once however many ranks there are. Progress and plans go to standard output, the rest to
 * standard error. Not collective. */

/* `prints`: whether this rank prints (rank 0). Before the call, every process does. */
void log_init(int prints);

/* A line, or several, on standard output; the caller gives the newline. */
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);

/* Whose warnings and errors they are; "fdapp" unless it is called. `name` is kept. */
void log_program(const char *name);

/* "fdapp: warning: ..." on standard error, newline added. */
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);

/* "fdapp: error: ..." on standard error, newline added. */
void log_error(const char *text);

#endif
