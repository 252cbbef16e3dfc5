#include "kernels.h"

const kernels_way kernels_ways[OPERATION_WAY_COUNT] = {
#define X(name, options, way) {#way, OPERATION_##name, options},
    OPERATION_WAYS(X)
#undef X
};

status kernels_way_find(const kernels_call *call, int *way) {
  static const char *const names[] = {
#define X(name, additions) #name,
      OPERATIONS(X)
#undef X
  };
  const unsigned options = call->options & ~operation_additions(call->kind, call->options);
  for (*way = 0; *way < OPERATION_WAY_COUNT; ++*way)
    if (kernels_ways[*way].kind == call->kind && kernels_ways[*way].options == options) return STATUS_OK;
  return status_fail(STATUS_DEVICE, "operation %s has no way with options %u",
                     call->kind < OPERATION_KINDS ? names[call->kind] : "unknown", call->options);
}
