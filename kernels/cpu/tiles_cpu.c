#include "cpu.h"

#include "stores.h"

/* The division of a launch: tiles of `rows` rows by `columns` columns (the last ones smaller), marched in
 * blocks of planes. */
typedef struct cpu_tiling {
  int columns, rows, planes; /* per tile */
  int in_x, in_y, in_z;      /* number of tiles */
  int depth;                 /* number of planes in the launch */
  int strip;                 /* columns per patch */
  tile_plan plan;
  int nontemporal;
} cpu_tiling;

static int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

/* Chooses as many rows as the window's bytes allow; if those are few compared with the stencil, tiles are
 * parts of rows. */
static void tiling_plane(cpu_tiling *tiling, const kernels_launch *launch, int window, int element) {
  const kernels_shape *shape = &launch->shape;
  const int store = CPU_STORE_BYTES / element;
  const int width = divide_up(shape->nx, store) * store;
  const int elements = (int)(launch->context->window_bytes / (size_t)(window * element));
  const int least = 4 * KERNELS_HALO;
  tiling->in_x = divide_up(width * least, elements);
  tiling->columns = divide_up(divide_up(width, tiling->in_x), store) * store;
  tiling->in_x = divide_up(width, tiling->columns);
  int rows = elements / tiling->columns;
  if (rows > shape->ny) rows = shape->ny;
  tiling->in_y = divide_up(shape->ny, rows);
  const int stores = tiling->columns / store;
  tiling->strip = store * divide_up(stores, divide_up(stores * CPU_STORE_BYTES, CPU_STRIP_BYTES));
}

static cpu_tiling tiling_make(const kernels_launch *launch, tile_plan plan) {
  const int threads = launch->context->threads;
  const int element = (int)kernels_element_size(launch->shape.precision);
  const int planes = kernels_plane_count(launch);
  cpu_tiling tiling;
  tiling_plane(&tiling, launch, plan.window, element);
  tiling.plan = plan;

  /* Threads divide the planes, as in memory_allocate_cpu, or the tiles if planes are few. */
  if (planes >= 4 * KERNELS_HALO * threads || plan.window == 1) {
    tiling.in_z = planes < threads ? planes : threads;
    if (plan.rows > 0) tiling.in_y = divide_up(launch->shape.ny, plan.rows);
  } else {
    tiling.in_z = 1;
    tiling.in_y = divide_up(tiling.in_y, threads) * threads;
    if (tiling.in_y > launch->shape.ny) tiling.in_y = launch->shape.ny;
  }
  tiling.rows = divide_up(launch->shape.ny, tiling.in_y);
  tiling.in_y = divide_up(launch->shape.ny, tiling.rows);
  tiling.planes = divide_up(planes, tiling.in_z);
  tiling.in_z = divide_up(planes, tiling.planes);
  tiling.depth = planes;

  const size_t touched = (size_t)plan.arrays * (size_t)planes * (size_t)launch->shape.plane * (size_t)element;
  tiling.nontemporal = touched > launch->context->cache_bytes;
  return tiling;
}

static int least(int a, int b) {
  return a < b ? a : b;
}

/* Number of planes in the patch that begins with the launch's i-th plane: at most a block, which reaches
 * neither into the other range nor across an end of `blocks`. */
static int patch_planes(const kernels_launch *launch, const cpu_tiling *tiling, int i, int end) {
  const int first = kernels_plane_at(launch, i), most = least(tiling->plan.block, end - i);
  int planes = 1;
  for (; planes < most; planes++) {
    const int z = first + planes;
    if (kernels_plane_at(launch, i + planes) != z) break;
    if (z == tiling->plan.blocks.z0 || z == tiling->plan.blocks.z1) break;
  }
  return planes;
}

/* Computes one tile: its planes in the launch's order, each in strips. */
static void tile_run(const kernels_launch *launch, const cpu_tiling *tiling, const int at[3],
                     patch_function *function, const void *job) {
  const int begin = at[2] * tiling->planes;
  const int end = least(begin + tiling->planes, tiling->depth);
  const int x_begin = at[0] * tiling->columns;
  const int element = (int)kernels_element_size(launch->shape.precision);
  const int store = CPU_STORE_BYTES / element;
  const int x_end = least(x_begin + tiling->columns, divide_up(launch->shape.nx, store) * store);
  cpu_patch patch = {.nontemporal = tiling->nontemporal};
  patch.y0 = at[1] * tiling->rows;
  patch.y1 = least(patch.y0 + tiling->rows, launch->shape.ny);
  for (int i = begin; i < end; i += patch.planes) {
    patch.z = kernels_plane_at(launch, i);
    patch.planes = patch_planes(launch, tiling, i, end);
    const int next =
        i + patch.planes < end ? kernels_plane_at(launch, i + patch.planes) : patch.z + patch.planes;
    for (patch.x0 = x_begin; patch.x0 < x_end; patch.x0 += tiling->strip) {
      const int columns = least(tiling->strip, x_end - patch.x0);
      const int last = patch.x0 + columns >= x_end;
      patch.lines = columns * element / CPU_LINE_BYTES;
      patch.next_x0 = last ? x_begin : patch.x0 + columns;
      patch.next_z = last ? next : patch.z;
      patch.next_y0 = patch.y0;
      function(job, &patch);
    }
  }
}

status tiles_run(const kernels_launch *launch, tile_plan plan, patch_function *function, const void *job) {
  if (kernels_plane_count(launch) == 0) return STATUS_OK;
  const cpu_tiling tiling = tiling_make(launch, plan);
#pragma omp parallel num_threads(launch->context->threads)
  {
#pragma omp for schedule(static) collapse(3)
    for (int k = 0; k < tiling.in_z; k++) {
      for (int j = 0; j < tiling.in_y; j++) {
        for (int i = 0; i < tiling.in_x; i++)
          tile_run(launch, &tiling, (const int[3]){i, j, k}, function, job);
      }
    }
    lines_fence();
  }
  return STATUS_OK;
}
