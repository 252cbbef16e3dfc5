# Libraries in unusual places (a CUDA toolkit fetched for this build, a cluster's modules) are found at run time without
# LD_LIBRARY_PATH, built or installed; those that the compiler finds by itself, the loader does too. An installed run path
# that is given is left as it is.
set(run_path "")
if(FDAPP_HAVE_CUDA AND FDAPP_CUDART_LIBRARY)
  cmake_path(GET FDAPP_CUDART_LIBRARY PARENT_PATH run_path)
  if(run_path IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(run_path "")
  endif()
endif()
list(APPEND CMAKE_BUILD_RPATH ${run_path})
if(NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH ${run_path})
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()
