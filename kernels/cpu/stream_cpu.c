#include "lines.h"

/* The streaming loops that give the ceiling of kernels: the same lines, stores and threads without a
 * stencil. */

enum { PIECE = CPU_STRIP_BYTES / (int)sizeof(real) };

/* Elements [from, to), whole cache lines. */
LINE_INLINE void stream_lines(const kernels_stream *stream, size_t from, size_t to, int reads) {
  const real *in[KERNELS_STREAM_READS];
  for (int r = 0; r < reads; r++) in[r] = stream->in[r];
  for (size_t at = from; at < to; at += STORE) {
    _Alignas(CPU_STORE_BYTES) real line[STORE];
    for (int r = 0; r < reads; r++) __builtin_prefetch(in[r] + at + PIECE, 0, 3);
#pragma omp simd
    for (size_t i = 0; i < STORE; i++) {
      real sum = in[0][at + i];
      for (int r = 1; r < reads; r++) sum += in[r][at + i];
      line[i] = sum;
    }
    for (int k = 0; k < stream->writes; k++) {
      for (int i = 0; i < STORE; i += LINE)
        line_copy((real *)stream->out[k] + at + i, line + i, stream->nontemporal);
    }
  }
}

/* The number of reads is a constant of each loop. */
static void stream_range(const kernels_stream *stream, size_t from, size_t to) {
  if (stream->reads == 1) stream_lines(stream, from, to, 1);
  if (stream->reads == 2) stream_lines(stream, from, to, 2);
  if (stream->reads == 3) stream_lines(stream, from, to, 3);
  if (stream->reads == 4) stream_lines(stream, from, to, 4);
  if (stream->reads == 5) stream_lines(stream, from, to, 5);
}

/* The elements after the last whole cache line. */
static void stream_rest(const kernels_stream *stream, size_t from) {
  for (size_t i = from; i < stream->elements; i++) {
    real sum = ((const real *)stream->in[0])[i];
    for (int r = 1; r < stream->reads; r++) sum += ((const real *)stream->in[r])[i];
    for (int k = 0; k < stream->writes; k++) ((real *)stream->out[k])[i] = sum;
  }
}

status CPU_NAME(stream_cpu_)(const kernels_launch *launch, const kernels_stream *stream) {
  const size_t whole = stream->elements / STORE * STORE;
  const size_t pieces = (whole + PIECE - 1) / PIECE;
#pragma omp parallel num_threads(launch->context->threads)
  {
#pragma omp for schedule(static)
    for (size_t piece = 0; piece < pieces; piece++) {
      const size_t from = piece * PIECE;
      stream_range(stream, from, whole - from < PIECE ? whole : from + PIECE);
    }
    lines_fence();
  }
  stream_rest(stream, whole);
  return STATUS_OK;
}
