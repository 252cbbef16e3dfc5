#ifndef FDAPP_EMULATED_LAUNCHED_H
#define FDAPP_EMULATED_LAUNCHED_H

/* What the emulated device has launched (machine.cpp). Tests set it to zero and look at it, so that a shape
 * by which they mean a form of a kernel has that form. A program without the emulation has none: its address
 * is NULL. */
typedef struct emulated_launches {
  int together;    /* launches whose blocks run at the same time */
  int most_blocks; /* in one of these */
} emulated_launches;

extern emulated_launches emulated_launched __attribute__((weak));

#endif
