#include "context.h"

#include <stdlib.h>

/* A recorded step, launched by one call. */
struct kernels_graph {
  cudaGraphExec_t executable;
};

status context_graph_begin(kernels_context *context) {
  CHECK(context_enter(context));
  CHECK_CUDA(cudaStreamBeginCapture(context->stream[QUEUE_MAIN], cudaStreamCaptureModeThreadLocal));
  return STATUS_OK;
}

status context_graph_end(kernels_context *context, kernels_graph **result) {
  cudaGraph_t recorded = NULL;
  CHECK_CUDA(cudaStreamEndCapture(context->stream[QUEUE_MAIN], &recorded));
  kernels_graph *graph = calloc(1, sizeof *graph);
  cudaError_t error = cudaErrorMemoryAllocation;
  if (graph != NULL) error = cudaGraphInstantiateWithFlags(&graph->executable, recorded, 0);
  (void)cudaGraphDestroy(recorded);
  if (error != cudaSuccess) {
    free(graph);
    return context_failure(error, "cudaGraphInstantiateWithFlags");
  }
  *result = graph;
  return STATUS_OK;
}

status context_graph_launch(kernels_context *context, kernels_graph *graph) {
  CHECK(context_enter(context));
  CHECK_CUDA(cudaGraphLaunch(graph->executable, context->stream[QUEUE_MAIN]));
  return context_launched(context, QUEUE_MAIN, "recorded kernels");
}

void context_graph_destroy(kernels_graph *graph) {
  if (graph == NULL) return;
  (void)cudaGraphExecDestroy(graph->executable);
  free(graph);
}
