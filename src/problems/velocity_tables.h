#ifndef FDAPP_PROBLEMS_VELOCITY_TABLES_H
#define FDAPP_PROBLEMS_VELOCITY_TABLES_H

#include "problems/cases.h"

/* The tables of a velocity in a backend's memory, rounded to the precision of the fields. */
typedef struct velocity_tables {
  const kernels *backend;
  kernels_context *context;
  void *memory; /* MEMORY_DEVICE; owned; NULL: none */
  kernels_tables tables;
} velocity_tables;

/* Makes the tables for the slab of `space`, whose first plane is plane z0 of the velocity's grid. Not
 * collective; waits. STATUS_MEMORY, STATUS_DEVICE. Call velocity_tables_destroy even after an error; zeroed
 * tables may be destroyed, too. */
status velocity_tables_create(const field_space *space, const cases_velocity *velocity, int64_t z0,
                              velocity_tables *tables);
void velocity_tables_destroy(velocity_tables *tables);

#endif
