#include "app/provenance.h"

#include <time.h>
#include <unistd.h>

#include "base/version.h"

json_t *provenance_json(void) {
  char host[256] = "";
  char date[64] = "";
  const time_t now = time(NULL);
  struct tm utc;
  (void)gethostname(host, sizeof host - 1);
  if (gmtime_r(&now, &utc) != NULL) (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", FDAPP_VERSION, "revision",
                   FDAPP_REVISION, "compiler", FDAPP_COMPILER, "mpi", FDAPP_MPI, "hdf5", FDAPP_HDF5, "cuda",
                   FDAPP_CUDA_VERSION, "host", host, "date", date);
}
