#include "rig.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Memory, queues, events, and the streaming loops. */

static void memory_is_zeroed_and_aligned(rig *rig) {
  static const size_t sizes[] = {1, 1000, 5 << 20};
  for (size_t i = 0; i < 3; i++) {
    for (int kind = MEMORY_DEVICE; kind <= MEMORY_STAGING; kind++) {
      void *memory = NULL;
      assert_ok(rig->backend->memory_allocate(rig->context, (kernels_memory)kind, sizes[i], &memory));
      assert_int_equal((uintptr_t)memory % 256, 0);
      unsigned char *host = malloc(sizes[i]);
      assert_non_null(host);
      memset(host, 1, sizes[i]);
      assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, host, memory, sizes[i]));
      assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
      for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(host[k], 0);
      free(host);
      rig->backend->memory_free(rig->context, (kernels_memory)kind, memory);
    }
  }
}

/* Of arrays in host memory: at the same place, loads wait for stores to others (memory_cpu.c). */
static void arrays_begin_at_different_places_of_a_page(rig *rig) {
  enum { PAGE = 4096, ARRAYS = 16, NEAR = 5, APART = 768 };
  if (!rig->backend->host_memory) return;
  for (size_t bytes = 1000; bytes < (size_t)4 << 20; bytes *= 50) {
    void *arrays[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
      assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, bytes, &arrays[i]));
      for (int j = 0; j < i; j++) {
        const uintptr_t up = ((uintptr_t)arrays[i] - (uintptr_t)arrays[j]) % PAGE;
        assert_true(up != 0);
        if (i - j < NEAR) assert_true(up >= APART && PAGE - up >= APART);
      }
    }
    for (int i = 0; i < ARRAYS; i++) rig->backend->memory_free(rig->context, MEMORY_DEVICE, arrays[i]);
  }
}

/* Host to staging to device to device to staging to host. */
static void copies_arrive(rig *rig) {
  enum { BYTES = (3 << 20) + 17 };
  void *staging = NULL, *device[2] = {NULL, NULL};
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_STAGING, BYTES, &staging));
  for (int i = 0; i < 2; i++) {
    assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, BYTES, &device[i]));
  }
  unsigned char *host = malloc(BYTES);
  assert_non_null(host);
  for (size_t k = 0; k < BYTES; k++) host[k] = (unsigned char)(k * 7 + k / 251);
  void *const route[] = {host, staging, device[0], device[1], staging, host};
  for (int i = 0; i < 5; i++) {
    if (i == 3) { /* what follows must come from the device */
      assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
      memset(staging, 0, BYTES);
      memset(host, 0, BYTES);
    }
    assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, route[i + 1], route[i], BYTES));
  }
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
  for (size_t k = 0; k < BYTES; k++) assert_int_equal(host[k], (unsigned char)(k * 7 + k / 251));
  free(host);
  for (int i = 0; i < 2; i++) rig->backend->memory_free(rig->context, MEMORY_DEVICE, device[i]);
  rig->backend->memory_free(rig->context, MEMORY_STAGING, staging);
}

/* Every third pair of bytes, side by side on the device, then apart again on the host. */
static void pieces_arrive(rig *rig) {
  enum { COUNT = 300001, APART = 6, BYTES = 2, BACK = 5 };
  void *staging = NULL, *device[2] = {NULL, NULL};
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_STAGING, COUNT * APART, &staging));
  for (int i = 0; i < 2; i++)
    assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, COUNT * APART, &device[i]));
  unsigned char *bytes = staging;
  for (size_t k = 0; k < (size_t)COUNT * APART; k++) bytes[k] = (unsigned char)(k * 7 + k / 251);
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_COPY, device[0], staging, (size_t)COUNT * APART));
  const kernels_pieces together = {device[1], BYTES, device[0], APART, BYTES, COUNT};
  assert_ok(rig->backend->memory_copy_pieces(rig->context, QUEUE_COPY, &together));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
  memset(staging, 1, (size_t)COUNT * APART);
  const kernels_pieces back = {staging, BACK, device[1], BYTES, BYTES, COUNT};
  assert_ok(rig->backend->memory_copy_pieces(rig->context, QUEUE_COPY, &back));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_COPY));
  for (size_t k = 0; k < (size_t)COUNT * BACK; k++) {
    const size_t from = k / BACK * APART + k % BACK;
    assert_int_equal(bytes[k], k % BACK < BYTES ? (unsigned char)(from * 7 + from / 251) : 1);
  }
  for (int i = 0; i < 2; i++) rig->backend->memory_free(rig->context, MEMORY_DEVICE, device[i]);
  rig->backend->memory_free(rig->context, MEMORY_STAGING, staging);
}

static void memory_that_is_not_there_is_refused(rig *rig) {
  size_t available = 0;
  assert_ok(rig->backend->memory_available(rig->context, &available));
  assert_true(available > 0);
  void *memory = NULL;
  assert_int_equal(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, (size_t)1 << 50, &memory),
                   STATUS_MEMORY);
  assert_non_null(strstr(status_message(STATUS_MEMORY), "memory"));
  status_clear();
}

static void the_device_is_described(rig *rig) {
  const char *text = rig->backend->describe(rig->context);
  assert_non_null(text);
  assert_true(strlen(text) > 0 && strchr(text, '\n') == NULL);
  int identity = -1, count = 0;
  rig->backend->device_identity(rig->context, &identity, &count);
  assert_true(identity >= 0 && count > 0);
}

/* A chain over the queues, back and forth: each link reads what the one before wrote on another queue. */
static void events_order_queues(rig *rig) {
  rig_shape(rig, 200, 100, 40);
  twin f = twin_random(rig, 1);
  twin links[3] = {twin_sentinel(rig), twin_sentinel(rig), twin_sentinel(rig)};
  kernels_event *events[4];
  for (int i = 0; i < 4; i++) assert_ok(rig->backend->event_create(rig->context, &events[i]));
  for (int z = -4; z < 44; z++) { /* halos that the chain reads but does not make */
    for (int i = 0; i < 3; i++) {
      for (int y = 0; y < 100; y++) {
        for (int x = 0; x < 200; x++) reference_set(&rig->launch.shape, links[i].host, x, y, z, 0.5);
      }
    }
  }
  for (int i = 0; i < 3; i++) twin_upload(rig, &links[i]);

  assert_ok(rig->backend->event_record(events[3], rig->context, QUEUE_MAIN));
  for (int i = 0; i < 3; i++) {
    rig->launch.queue = (kernels_queue)(i % QUEUE_COUNT);
    if (i > 0) assert_ok(rig->backend->event_follow(rig->context, rig->launch.queue, events[i - 1]));
    const twin *from = i == 0 ? &f : &links[i - 1];
    assert_ok(apply_laplacian(rig->backend, &rig->launch, from->device, links[i].device));
    reference_laplacian(&rig->launch, from->host, links[i].host);
    assert_ok(rig->backend->event_record(events[i], rig->context, rig->launch.queue));
  }
  assert_ok(rig->backend->event_wait(events[3]));
  assert_ok(rig->backend->event_wait(events[2]));
  for (int i = 0; i < 3; i++) twin_assert_equal(rig, &links[i], "link");
  double seconds = -1.0;
  assert_ok(rig->backend->event_seconds(events[3], events[2], &seconds));
  assert_true(isfinite(seconds) && seconds >= 0.0);

  for (int i = 0; i < 4; i++) rig->backend->event_destroy(events[i]);
  for (int i = 0; i < 3; i++) twin_free(rig, &links[i]);
  twin_free(rig, &f);
}

static double ramp_value(const rig *rig, const void *user, int x, int y, int z) {
  (void)rig;
  return (double)(x + 3 * y + 5 * z + 100 * *(const int *)user);
}

/* Elements that end inside a line; what lies beyond them is left alone. */
static void stream_check(rig *rig, const twin in[5], int reads, int writes, int nontemporal) {
  twin out[KERNELS_STREAM_WRITES];
  const kernels_shape *shape = &rig->launch.shape;
  const size_t ldx = (size_t)shape->ldx;
  kernels_stream stream = {
      .reads = reads,
      .writes = writes,
      .elements = kernels_field_bytes(shape) / kernels_element_size(shape->precision) - 3 * ldx - 29,
      .nontemporal = nontemporal,
  };
  for (int r = 0; r < reads; r++) stream.in[r] = in[r].device;
  for (int w = 0; w < KERNELS_STREAM_WRITES; w++) out[w] = twin_sentinel(rig);
  for (int w = 0; w < writes; w++) stream.out[w] = out[w].device;
  assert_ok(rig->backend->stream(&rig->launch, &stream));
  for (int w = 0; w < writes; w++) {
    for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
      for (int y = 0; y < shape->ny; y++) {
        for (int x = 0; x < shape->nx; x++) {
          const size_t row = (size_t)(z + KERNELS_HALO) * (size_t)shape->plane + (size_t)y * ldx;
          if (row + (size_t)x >= stream.elements) continue;
          double sum = 0.0;
          for (int r = 0; r < reads; r++) sum += reference_value(shape, in[r].host, x, y, z);
          reference_set(shape, out[w].host, x, y, z, sum);
        }
      }
    }
  }
  for (int w = 0; w < KERNELS_STREAM_WRITES; w++) {
    twin_assert_equal(rig, &out[w], "stream");
    twin_free(rig, &out[w]);
  }
}

static void streams_add_their_inputs(rig *rig) {
  rig_shape(rig, 97, 13, 9);
  twin in[5];
  for (int r = 0; r < 5; r++) in[r] = twin_make(rig, ramp_value, &r);
  static const int writes[] = {1, 2, 3, KERNELS_STREAM_WRITES};
  for (int code = 0; code < 5 * 4 * 2; code++)
    stream_check(rig, in, code % 5 + 1, writes[code / 5 % 4], code / 20);
  for (int r = 0; r < 5; r++) twin_free(rig, &in[r]);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(memory_is_zeroed_and_aligned),
      RIG_TEST(arrays_begin_at_different_places_of_a_page),
      RIG_TEST(copies_arrive),
      RIG_TEST(pieces_arrive),
      RIG_TEST(memory_that_is_not_there_is_refused),
      RIG_TEST(the_device_is_described),
      RIG_TEST(events_order_queues),
      RIG_TEST(streams_add_their_inputs),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
