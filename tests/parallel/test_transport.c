/* Transports without a device (stand.h). What is chosen under an MPI that is not CUDA-aware, and what arrives
 * through staging buffers and by peer copies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/solver.h"
#include "problems/cases.h"
#include "stand.h"

/* Open MPI's layer ob1, which the test asks for, takes no device memory. Peer copies need no MPI that does.
 */
static void choices_check(const stand *stand) {
  transport_choice choice;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == (stand->ranks > 1 ? TRANSPORT_PEER : TRANSPORT_STAGED));
  EXPECT(choice.warn == 0 && choice.messages == 0);

  one_device = 1;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_STAGED && choice.messages == 0);
  EXPECT(stand->ranks == 1 || strstr(choice.reason, "ranks share a device, and ") != NULL);
  EXPECT(strstr(choice.reason, "not CUDA-aware (point-to-point layer 'ob1'") != NULL);
  EXPECT(strstr(choice.reason, "device memory was not tried") != NULL);
  EXPECT(choice.warn == (stand->ranks > 1));
  one_device = 0;

  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_STAGED, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_STAGED && choice.warn == 0);
  EXPECT(strcmp(choice.reason, "as configured") == 0);

  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) ==
         STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "halo.transport = cuda_aware: this MPI is not CUDA-aware") !=
         NULL);
  EXPECT(status_exit_code(STATUS_DEVICE) == 3);
  status_clear();

  const status peer = transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice);
  if (stand->ranks > 1) {
    EXPECT(peer == STATUS_OK && choice.transport == TRANSPORT_PEER && choice.warn == 0);
  } else {
    EXPECT(peer == STATUS_OK && choice.transport == TRANSPORT_STAGED && choice.warn == 0);
    EXPECT(strcmp(choice.reason, "alone, nothing is sent") == 0);
  }

  one_device = 1;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice) ==
         (stand->ranks > 1 ? STATUS_DEVICE : STATUS_OK));
  EXPECT(stand->ranks == 1 || strstr(status_message(STATUS_DEVICE), "ranks share a device") != NULL);
  status_clear();
  one_device = 0;

  field_space host = stand->space;
  host.backend = kernels_find("cpu");
  EXPECT(transport_choose(MPI_COMM_WORLD, &host, CONFIG_TRANSPORT_CUDA_AWARE, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_HOST && choice.warn == 0);
}

/* An MPI that says it is CUDA-aware is believed when a message was right; one rank's refusal is everyone's
 * answer, and nobody is left waiting. */
static void aware_check(const stand *stand) {
  transport_choice choice;
  says_aware = 1;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_CUDA_AWARE && choice.warn == 0);
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == (stand->ranks > 1 ? TRANSPORT_PEER : TRANSPORT_CUDA_AWARE));
  EXPECT(choice.messages == 1);
  one_device = 1; /* no peer copies */
  for (int how = REFUSES_RECEIVES; how <= SENDS_WRONG; how++) {
    if (stand->rank == stand->ranks - 1) manner = how;
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
    EXPECT(choice.transport == TRANSPORT_STAGED && choice.warn == (stand->ranks > 1));
    EXPECT(strstr(choice.reason, "a ring exchange of device memory failed") != NULL);
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) ==
           STATUS_DEVICE);
    status_clear();
  }
  manner = TAKES;
  one_device = 0;
  says_aware = 0;
}

/* UCX takes device pointers for the host's unless it has its CUDA modules and may use cuda_copy, whatever the
 * MPI library says. The words are those of the rank that cannot. */
static void ucx_check(const stand *stand) {
  static const struct {
    const char *list;
    int knows;
  } lists[] = {{"all", 1},
               {"cuda", 1},
               {"rc,sm,cuda_copy,self", 1},
               {"^cuda_ipc", 1},
               {"^rc", 1},
               {"rc,sm,self", 0},
               {"^cuda", 0},
               {"rc,\\cuda_copy", 1},
               {"^\\cuda_copy", 0},
               {"rc,cuda_ipc,sm", 0},
               {"^rc,cuda_copy", 0}};
  transport_choice choice;
  has_ucx = 1;
  one_device = 1; /* no peer copies */
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (stand->rank == stand->ranks - 1) EXPECT(setenv("UCX_TLS", lists[i].list, 1) == 0);
    for (says_aware = 0; says_aware < 2; says_aware++) {
      EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
      EXPECT((choice.transport != TRANSPORT_STAGED) == lists[i].knows);
      EXPECT(lists[i].knows ||
             strstr(choice.reason, "UCX_TLS leaves out UCX's module cuda_copy; device memory "
                                   "was not tried") != NULL);
    }
  }
  EXPECT(unsetenv("UCX_TLS") == 0);
  for (int i = 0; i < 4; i++) { /* built for CUDA, over a UCX whose CUDA modules are a package of their own */
    if (stand->rank == stand->ranks - 1) lacks = i < 2 ? "libuct_cuda" : "libucm_cuda";
    says_aware = i % 2;
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
    EXPECT(choice.transport == TRANSPORT_STAGED);
    EXPECT(strstr(choice.reason, "this MPI uses UCX without its CUDA modules") != NULL);
  }
  lacks = NULL;
  one_device = 0;
  says_aware = 0;
  has_ucx = 0;
}

/* The place of a point in the whole grid, in a field of its own for each `shift`. */
static double point_value(const grid *grid, int64_t z, int64_t y, int64_t x, int shift) {
  const int64_t wrapped = (z + grid->n[2]) % grid->n[2];
  return (double)(((wrapped * NY + y) * NX + x) * HALO_FIELDS + shift);
}

static double *point(const field *field, int z, int y, int x) {
  return (double *)field_plane(field, z) + (ptrdiff_t)y * field->shape.ldx + x;
}

/* Counts points of planes [first, last) that are not what they should be: NaN before the exchange. */
static int points_off(const stand *stand, const field *field, int first, int last, int shift) {
  int off = 0;
  for (int z = first; z < last; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        off += *point(field, z, y, x) != point_value(&stand->grid, stand->grid.z0 + z, y, x, shift);
      }
    }
  }
  return off;
}

/* Padding is NaN. */
static void field_set(const stand *stand, const field *field, int shift) {
  const int nz = field->shape.nz;
  for (int z = -field->depth; z < nz + field->depth; z++) {
    memset(field_plane(field, z), 0xff, field_plane_bytes(field));
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        const double value = point_value(&stand->grid, stand->grid.z0 + z, y, x, shift);
        *point(field, z, y, x) = z < 0 || z >= nz ? (double)NAN : value;
      }
    }
  }
}

/* Whether the halo planes on a side are as field_set left them. */
static int untouched(const field *field, int side) {
  const unsigned char *bytes = field_plane(field, side == GRID_LOW ? -field->depth : field->shape.nz);
  int other = 0;
  for (int z = 0; z < field->depth; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        const size_t at = (size_t)z * field_plane_bytes(field) +
                          ((size_t)y * (size_t)field->shape.ldx + (size_t)x) * sizeof(double);
        double value = 0.0;
        memcpy(&value, bytes + at, sizeof value);
        other += !isnan(value);
      }
    }
  }
  return other == 0;
}

/* Several fields at once and one after another, so that buffers are used again. Alone, nothing is exchanged,
 * and nothing comes from beyond the ends of z, if it has any. Fields have `depth` halo planes; some slabs
 * have no more planes. */
static void exchanges_check(const stand *stand, transport transport, int ends, int depth) {
  halo halo;
  field_space space = stand->space;
  grid grid = stand->grid;
  if (ends) EXPECT(grid_bound(&grid, 2, 2) == STATUS_OK);
  const int below = stand->ranks > 1 && grid_neighbour(&grid, GRID_LOW) >= 0;
  const int above = stand->ranks > 1 && grid_neighbour(&grid, GRID_HIGH) >= 0;
  field fields[HALO_FIELDS];
  const field *list[HALO_FIELDS];
  EXPECT(halo_create(MPI_COMM_WORLD, &grid, &stand->space, transport, HALO_FIELDS, &halo) == STATUS_OK);
  if (depth > KERNELS_HALO) EXPECT(halo_deepen(&halo, depth) == STATUS_OK);
  space.depth = depth;
  for (int i = 0; i < HALO_FIELDS; i++) {
    EXPECT(field_create(&space, &fields[i]) == STATUS_OK);
    list[i] = &fields[i];
  }
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < HALO_FIELDS; i++) field_set(stand, &fields[i], i + round);
    EXPECT(halo_exchange(&halo, 2, list) == STATUS_OK);
    EXPECT(halo_exchange(&halo, HALO_FIELDS - 2, list + 2) == STATUS_OK);
    for (int i = 0; i < HALO_FIELDS; i++) {
      const int nz = fields[i].shape.nz;
      EXPECT(points_off(stand, &fields[i], below ? -depth : 0, nz + (above ? depth : 0), i + round) == 0);
      EXPECT(below || untouched(&fields[i], GRID_LOW));
      EXPECT(above || untouched(&fields[i], GRID_HIGH));
    }
  }
  EXPECT(halo_leave(&halo) == STATUS_OK);
  halo_destroy(&halo);
  for (int i = 0; i < HALO_FIELDS; i++) field_destroy(&fields[i]);
}

/* A shallow field among deep ones: as many planes of each as it has. Deeper fields than the halos were made
 * for are refused. */
static void depths_check(const stand *stand, transport transport) {
  halo halo;
  field_space space = stand->space;
  field fields[2];
  const field *list[2] = {&fields[0], &fields[1]};
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &space, transport, 2, &halo) == STATUS_OK);
  space.depth = PLANES;
  EXPECT(field_create(&space, &fields[0]) == STATUS_OK);
  EXPECT(field_create(&stand->space, &fields[1]) == STATUS_OK);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_USAGE);
  status_clear();
  for (int i = 0; i < 2; i++) field_set(stand, &fields[i], i);
  EXPECT(halo_exchange(&halo, 2, list) == STATUS_OK);
  for (int i = 0; i < 2; i++)
    EXPECT(points_off(stand, &fields[i], -KERNELS_HALO, fields[i].shape.nz + KERNELS_HALO, i) == 0);
  EXPECT(isnan(*point(&fields[0], -KERNELS_HALO - 1, 0, 0)));
  EXPECT(halo_leave(&halo) == STATUS_OK);
  halo_destroy(&halo);
  for (int i = 0; i < 2; i++) field_destroy(&fields[i]);
}

/* More than a message's count can say: refused before anything is allocated. */
static void large_planes_check(const stand *stand) {
  halo halo;
  field_space space = stand->space;
  const size_t taken = staging;
  space.shape = kernels_shape_make(1 << 17, 1 << 17, stand->grid.nz, 0, PRECISION_DOUBLE, 0);
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &space, TRANSPORT_STAGED, 1, &halo) == STATUS_USAGE);
  EXPECT(strstr(status_message(STATUS_USAGE), "more than a message carries") != NULL);
  EXPECT(staging == taken);
  status_clear();
  halo_destroy(&halo);
}

/* Neighbours have a field open until halo_leave. One that lies where another lay would get its halos into the
 * memory that was freed: that is said. */
static void freed_field_check(const stand *stand) {
  halo halo;
  field field;
  const struct field *list[1] = {&field};
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_PEER, 1, &halo) == STATUS_OK);
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_OK);
  const void *place = field.data;
  field_destroy(&field);
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  EXPECT(field.data == place);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "a field was freed while neighbours had it open") != NULL);
  status_clear();
  EXPECT(halo_leave(&halo) == STATUS_OK);
  field_set(stand, &field, 1);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_OK);
  EXPECT(points_off(stand, &field, -KERNELS_HALO, field.shape.nz + KERNELS_HALO, 1) == 0);
  EXPECT(halo_leave(&halo) == STATUS_OK);
  halo_destroy(&halo);
  field_destroy(&field);
}

/* Where one rank cannot launch the kernel that meets, the devices of the others wait in vain; all find that
 * peer copies are not to be had, and that messages are. */
static void no_meeting_check(const stand *stand) {
  transport_choice choice;
  met = stand->rank == 0 ? STATUS_DEVICE : STATUS_LATE;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice) == STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "a ring of peer copies failed") != NULL);
  status_clear();
  says_aware = 1;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_CUDA_AWARE);
  says_aware = 0;
  met = STATUS_OK;
}

/* Memory to meet in that one rank cannot have: all are told, and nobody reads what is not there. */
static void no_memory_check(const stand *stand) {
  transport_choice choice;
  halo halo;
  field field;
  const struct field *list[1] = {&field};
  full = stand->rank == 0;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice) == STATUS_MEMORY);
  status_clear();
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_PEER, 1, &halo) == STATUS_OK);
  full = 0;
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  full = stand->rank == 0;
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_MEMORY);
  EXPECT(strstr(status_message(STATUS_MEMORY), "the device is full") != NULL);
  status_clear();
  full = 0;
  halo_destroy(&halo);
  field_destroy(&field);
}

/* The plan promises as much memory as staging takes; to be called when nothing else has. */
static void needs_check(const stand *stand) {
  halo halo;
  const field *const many[2] = {NULL};
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_STAGED, 1, &halo) == STATUS_OK);
  EXPECT(halo_begin(&halo, 2, many, NULL) == STATUS_USAGE);
  status_clear();
  halo_destroy(&halo);
  const config config = {.n = {stand->grid.n[0], stand->grid.n[1], stand->grid.n[2]},
                         .precision = PRECISION_DOUBLE};
  solver_needs needs;
  solver_estimate(&config, equation_of(&config), &stand->grid, 0, &needs);
  EXPECT(staging > 0 && staging <= needs.host_bytes);
}

/* It promises room for twice the halo planes of each state where several ranks may compute stages in pairs.
 */
static void deep_needs_check(const stand *stand) {
  config config = {.n = {stand->grid.n[0], stand->grid.n[1], stand->grid.n[2]},
                   .precision = PRECISION_DOUBLE,
                   .velocity = velocities_find("uniform")};
  const scheme *scheme = scheme_form(schemes_at(0), 1, 1);
  const size_t plane = (size_t)stand->space.shape.plane * sizeof(double);
  const size_t further = stand->ranks > 1 ? (size_t)(2 * KERNELS_HALO) * plane : 0;
  solver_needs single;
  solver_needs pairs;
  config.pairs = CONFIG_PAIRS_NO;
  solver_estimate(&config, equation_of(&config), &stand->grid, 0, &single);
  config.pairs = CONFIG_PAIRS_AUTO;
  solver_estimate(&config, equation_of(&config), &stand->grid, 0, &pairs);
  EXPECT(pairs.device_bytes == single.device_bytes && single.pair_bytes == 0);
  EXPECT(pairs.pair_bytes == (size_t)scheme->slots * further);
  EXPECT(pairs.host_bytes - single.host_bytes == 2 * further); /* sent and received, on two sides */
}

int main(int argc, char **argv) {
  stand stand;
  int all = 0;
  MPI_Init(&argc, &argv);
  EXPECT(unsetenv("UCX_TLS") == 0);
  stand_open(&stand);
  needs_check(&stand);
  deep_needs_check(&stand);
  choices_check(&stand);
  aware_check(&stand);
  ucx_check(&stand);
  large_planes_check(&stand);
  exchanges_check(&stand, TRANSPORT_STAGED, 0, KERNELS_HALO);
  if (stand.ranks > 1) {
    static const transport moved[] = {TRANSPORT_STAGED, TRANSPORT_PEER, TRANSPORT_CUDA_AWARE, TRANSPORT_HOST};
    for (int depth = KERNELS_HALO; depth <= PLANES; depth += PLANES - KERNELS_HALO) {
      for (int t = 0; t < 4; t++) {
        for (int ends = 0; ends < 2; ends++) exchanges_check(&stand, moved[t], ends, depth);
      }
    }
    for (int t = 0; t < 4; t++) depths_check(&stand, moved[t]);
    freed_field_check(&stand);
  }
  if (stand.ranks > 1) no_meeting_check(&stand);
  if (stand.ranks > 1) no_memory_check(&stand);
  stand_close(&stand);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
