#include "problems/problem.h"

/* Its values come from a dataset: file_planes.c. */
const initial_case case_file = {
    .name = "file",
    .help = "initial.dataset of the HDF5 file initial.file, shape (nz, ny, nx); a snapshot, too",
    .from = PROBLEM_FILE,
    .keys = {"initial.file", "initial.dataset", "initial.resample"},
};
