"""Spack package of fdapp: `spack repo add run/recipes/spack`, then `spack dev-build fdapp@main` in the checkout."""

from spack.package import *


class Fdapp(CMakePackage, CudaPackage):
    """Advection and diffusion by high-order finite differences on many GPUs or CPU cores; a benchmark with one right
    answer."""

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi")
    depends_on("hdf5+mpi")
    depends_on("muparser")
    depends_on("jansson")
    depends_on("mpfr")
    depends_on("gmp")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("cuda@12:", when="+cuda")
    conflicts("cuda_arch=none", when="+cuda", msg="give cuda_arch, 80 or above")

    def cmake_args(self):
        args = [self.define("FDAPP_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF")]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return args

    def check(self):
        """Check that the answer of the smallest deck is the published one."""
        deck = join_path(self.stage.source_path, "config", "benchmark", "tiny.ini")
        Executable(join_path(self.build_directory, "fdapp"))(deck, "output.directory=tiny")
