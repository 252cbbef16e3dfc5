# What the program is built on: from the system's packages, found or refused with the package's name.
find_package(OpenMP REQUIRED COMPONENTS C)
set(MPI_DETERMINE_LIBRARY_VERSION ON)
find_package(MPI COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "No MPI was found: install the packages libopenmpi-dev and openmpi-bin (Debian, Ubuntu),"
                      " or put mpicc on PATH.")
endif()

# HDF5's compiler wrapper, which CMake asks with the path of a file in the build folder, splits a path at its blanks. So
# where there are some, CMake's file lies in a folder without for as long as it asks.
set(HDF5_PREFER_PARALLEL ON)
set(build_folder "${CMAKE_CURRENT_BINARY_DIR}")
if(build_folder MATCHES "[^A-Za-z0-9_./+@:-]")
  execute_process(COMMAND mktemp -d OUTPUT_VARIABLE CMAKE_CURRENT_BINARY_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(HDF5 COMPONENTS C)
if(NOT CMAKE_CURRENT_BINARY_DIR STREQUAL build_folder)
  file(REMOVE_RECURSE "${CMAKE_CURRENT_BINARY_DIR}")
  set(CMAKE_CURRENT_BINARY_DIR "${build_folder}")
endif()
if(NOT HDF5_FOUND)
  message(FATAL_ERROR "No HDF5 was found: install the package libhdf5-openmpi-dev (Debian, Ubuntu),"
                      " or name a parallel build with -DHDF5_ROOT=DIR.")
endif()
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "The HDF5 found (${HDF5_C_INCLUDE_DIRS}) is serial; fdapp writes in parallel.\n"
                      "  Install the package libhdf5-openmpi-dev (Debian, Ubuntu), or name a parallel build with -DHDF5_ROOT=DIR.")
endif()

# fdapp_library(NAME HEADER LIBRARY PACKAGE): an imported target fdapp::NAME for a library without CMake files.
function(fdapp_library name header library package)
  find_path(FDAPP_${name}_INCLUDE ${header})
  find_library(FDAPP_${name}_LIBRARY ${library})
  mark_as_advanced(FDAPP_${name}_INCLUDE FDAPP_${name}_LIBRARY)
  if(NOT FDAPP_${name}_INCLUDE OR NOT FDAPP_${name}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} was not found: install the package ${package} (Debian, Ubuntu).")
  endif()
  add_library(fdapp::${name} UNKNOWN IMPORTED)
  set_target_properties(fdapp::${name} PROPERTIES
    IMPORTED_LOCATION ${FDAPP_${name}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${FDAPP_${name}_INCLUDE})
endfunction()

fdapp_library(muparser muParserDLL.h muparser libmuparser-dev)
fdapp_library(jansson jansson.h jansson libjansson-dev)
fdapp_library(mpfr mpfr.h mpfr libmpfr-dev)
fdapp_library(gmp gmp.h gmp libgmp-dev) # what mpfr.h includes
fdapp_library(xxhash xxhash.h xxhash libxxhash-dev)
fdapp_library(zlib zlib.h z zlib1g-dev) # what HDF5 deflates by
if(FDAPP_TESTS)
  fdapp_library(cmocka cmocka.h cmocka libcmocka-dev)
endif()

add_library(fdapp_hdf5 INTERFACE)
target_include_directories(fdapp_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(fdapp_hdf5 INTERFACE ${HDF5_C_LIBRARIES} MPI::MPI_C)
