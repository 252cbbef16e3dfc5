#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

/* In a profiler's place: NVTX loads this library where NVTX_INJECTION64_PATH names it, and it writes down
 * what ranges begin ("name;") and end (";"). */

const char *nvtx_recorded(void);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

static char record[4096];

static void note(const char *text) {
  const size_t used = strlen(record);
  (void)snprintf(record + used, sizeof record - used, "%s;", text);
}

static int push(const char *name) {
  note(name);
  return 0;
}

static int pop(void) {
  note("");
  return 0;
}

__attribute__((visibility("default"))) const char *nvtx_recorded(void) {
  return record;
}

/* What NVTX calls in a library that it has loaded; 1: ready. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks *callbacks =
      (const NvtxExportTableCallbacks *)get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = NULL;
  unsigned size = 0;
  if (callbacks == NULL || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  if (size <= NVTX_CBID_CORE_RangePop) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
