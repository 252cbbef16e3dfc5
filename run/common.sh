# shellcheck shell=bash
# Functions shared by the scripts of this folder. Source it after `set -euo pipefail`; it changes to the project's root.

# No script reads standard input, and none of its children may: `while read` around a script would lose its lines.
exec </dev/null

CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." >/dev/null || exit # with a CDPATH, cd may go elsewhere and print

note() { printf '\n== %s\n' "$*"; }
# Prints the comment at the top of the calling script.
usage() { sed -n '2,/^[^#]/s/^# \?//p' "run/${0##*/}"; exit 0; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 3; }

# shellcheck disable=SC2034 # used by those who source this
build_packages=(gcc g++ cmake make openmpi-bin libopenmpi-dev libhdf5-openmpi-dev
  libmuparser-dev libjansson-dev libxxhash-dev libmpfr-dev zlib1g-dev python3 python3-venv)
# shellcheck disable=SC2034
test_packages=(libcmocka-dev clang-14 clang-format-14 clang-tidy-14 libomp-14-dev cppcheck shellcheck valgrind git)

# packages_need NAME...: installs what is missing of these Debian or Ubuntu packages; silent when all are there.
packages_need() {
  if ! command -v apt-get >/dev/null; then
    tools_need
    return
  fi
  local package missing=() root=()
  for package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing; have them installed: ${missing[*]}"
    root=(sudo)
  fi
  note "installing packages: ${missing[*]}"
  root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  "${root[@]}" update || true # a failing source need not be the one with the packages
  "${root[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null || die "apt-get could not install them"
}

# For systems without apt: names missing programs. CMake finds the libraries, or names them.
tools_need() {
  local tool missing=()
  for tool in cc c++ cmake make mpicc mpirun python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} = 0 ] || die "not found: ${missing[*]}. This system has no apt-get, so please install a C compiler," \
    "CMake 3.25, MPI, parallel HDF5, muParser, jansson, xxHash, MPFR and Python 3 with venv by its own means."
}

# venv_need DIR PIP_ARGUMENT...: a Python environment DIR with these packages; silent when it has been made before and
# no requirements file has changed since. Python compiles a module when it is first imported: compiling
# all of them here would take 9 s of processor time, and the pictures import few.
venv_need() {
  local venv=$1 argument stamp
  shift
  stamp=$(for argument; do if [ -f "$argument" ]; then cat "$argument"; else echo "$argument"; fi; done | sha256sum)
  stamp=$venv/.have-${stamp:0:16}
  [ ! -e "$stamp" ] || return 0
  # An editable package of this tree would take the place of that of the tree to which the environment belongs.
  [[ ! -L $venv || " $* " != *" -e "* ]] || die "$venv is a link to $(readlink -f "$venv"); remove it, or install there: $*"
  note "installing Python packages into $venv: $*" >&2
  if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" || die "python3 cannot make an environment (on Debian and Ubuntu: package python3-venv)"
  fi
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" >&2 ||
    die "pip could not install: $*"
  touch "$stamp"
}

# The CUDA compiler to use, or nothing: CUDACXX, the PATH, the usual folder, or the one fetched by nvcc_need.
nvcc_find() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc .cuda-venv/toolkit/bin/nvcc; do
    if [ -x "$nvcc" ]; then
      realpath -s "$nvcc"
      return
    fi
  done
}

# build PRESET [-DOPTION=VALUE | TARGET]...: configures and builds; without a target, everything.
build() {
  local preset=$1 argument nvcc options=() targets=()
  shift
  for argument; do
    case $argument in -*) options+=("$argument") ;; *) targets+=(--target "$argument") ;; esac
  done
  nvcc=$(nvcc_find)
  case $preset in
  default | dev) # build/ may have another setting from an earlier call
    options=(-DFDAPP_CUDA=AUTO "${options[@]}")
    [ -z "$nvcc" ] || [[ " ${options[*]} " == *" -DFDAPP_CUDA=OFF "* ]] || options+=("-DCMAKE_CUDA_COMPILER=$nvcc")
    ;;
  esac
  note "building: preset $preset"
  cmake --preset "$preset" "${options[@]}" >/dev/null
  cmake --build --preset "$preset" "${targets[@]}"
}

# Settings for mpirun: ranks may outnumber cores.
mpi_environment() {
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} # threads of ranks that share a core do not spin
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

# The same for tests, which start many programs at once: Open MPI's session files go where tests/CMakeLists.txt puts them.
test_environment() {
  mpi_environment
  export OPENBLAS_NUM_THREADS=1 # threads of several processes would wait for one another, busily
  export OMPI_MCA_orte_tmpdir_base=$PWD/build/ompi
  export OMPI_MCA_ess_singleton_isolated=1 # no daemon for a program without mpirun
}
