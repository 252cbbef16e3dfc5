#include "problems/problem.h"

/* Its values come from three datasets: file_planes.c. */
const velocity_field velocity_file = {
    .name = "file",
    .help = "datasets u, v, w of the HDF5 file velocity.file, shape (nz, ny, nx); stored, steady",
    .from = PROBLEM_FILE,
    .keys = {"velocity.file", "velocity.resample"},
};
