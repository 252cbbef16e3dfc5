# Decides whether the CUDA backend is built: sets FDAPP_HAVE_CUDA and enables the language.
if(NOT FDAPP_CUDA MATCHES "^(ON|OFF|AUTO)$")
  message(FATAL_ERROR "FDAPP_CUDA=${FDAPP_CUDA} is not known; accepted: ON, OFF, AUTO.")
endif()
set(FDAPP_HAVE_CUDA OFF)
if(NOT FDAPP_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Code for compute capability 8.0, 8.6, 8.9 and 9.0, and PTX that later ones translate; -DCMAKE_CUDA_ARCHITECTURES=native
    # builds faster for the GPU at hand.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
    set(FDAPP_HAVE_CUDA ON)
    # The compiler adds libcudart itself, and no run path to it: FdappRunPath does.
    find_library(FDAPP_CUDART_LIBRARY cudart PATHS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH)
    mark_as_advanced(FDAPP_CUDART_LIBRARY)
    message(STATUS "CUDA backend: ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(FDAPP_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FDAPP_CUDA=ON, but no CUDA compiler (nvcc) was found. Put nvcc on PATH or set "
                        "-DCMAKE_CUDA_COMPILER=.../nvcc; `run/quickstart --cuda` can fetch one.")
  else()
    message(STATUS "CUDA backend: not built, no nvcc found")
  endif()
endif()
