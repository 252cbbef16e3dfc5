# shellcheck shell=bash
# Installs what NVIDIA GPUs need besides the driver from PyPI into .cuda-venv. Source it after common.sh.

gpu_present() { nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# Major version of CUDA that the driver supports; 13 without a driver, because newer drivers run its programs, too.
cuda_major() {
  local version
  version=$(nvidia-smi 2>/dev/null | grep -oE 'CUDA Version: [0-9]+' | grep -oE '[0-9]+$' || true)
  echo "$((${version:-13} < 13 ? version : 13))"
}

# Fetches a CUDA compiler if none is installed. nvcc expects lib64 and libcudart.so, which PyPI's folders lack.
nvcc_need() {
  [ -z "$(nvcc_find)" ] || return 0
  [ "$(cuda_major)" -ge 13 ] || die "the driver is for CUDA $(cuda_major), and PyPI has a whole compiler from CUDA 13 on:" \
    "please install a CUDA toolkit $(cuda_major) (Debian, Ubuntu: package nvidia-cuda-toolkit) and put nvcc on the PATH"
  venv_need .cuda-venv 'cuda-toolkit[nvcc,cudart,nvtx,cccl]==13.0.*'
  local toolkit
  toolkit=$(echo "$PWD"/.cuda-venv/lib/python3*/site-packages/nvidia/cu13)
  ln -sfn lib "$toolkit/lib64"
  ln -sf libcudart.so.13 "$toolkit/lib/libcudart.so"
  ln -sfn "$toolkit" .cuda-venv/toolkit
}

# Fetches UCX built with CUDA; prints the folder of its libraries. Its own CUDA runtime must stay beside it.
ucx_need() {
  local name=libucx-cu$(cuda_major)
  venv_need .cuda-venv "$name==1.22.*"
  echo "$PWD"/.cuda-venv/lib/python3*/site-packages/libucx/lib
}

# build_for_here [--cuda]: sets up and builds the programs, with CUDA where there is a GPU, or where it is asked for.
# Python packages, which the build does not need, are installed meanwhile.
build_for_here() {
  local cuda=${1:-} python
  if gpu_present; then cuda=--cuda; fi
  # shellcheck disable=SC2154 # common.sh has the list
  packages_need "${build_packages[@]}"
  [ -z "$cuda" ] || nvcc_need
  run/setup &
  python=$!
  trap wait EXIT # a build that fails leaves nothing behind that still installs
  build default "-DFDAPP_CUDA=$([ -n "$cuda" ] && echo ON || echo OFF)" programs
  wait "$python"
  trap - EXIT
}
