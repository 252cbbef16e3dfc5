# base/version.h: versions of compilers and libraries now, the revision with every build (revision.cmake). Link fdapp_version
# to include it.
find_package(Git QUIET)
if(MPI_C_LIBRARY_VERSION_STRING MATCHES "^[^,\n\r]+") # the name and the version: MPICH's text has more lines, with tabs
  string(REGEX REPLACE "[\t\\\\\" ]+" " " FDAPP_MPI_VERSION "${CMAKE_MATCH_0}")
else()
  set(FDAPP_MPI_VERSION "MPI ${MPI_C_VERSION}")
endif()
set(FDAPP_CUDA_DESCRIPTION "none")
if(FDAPP_HAVE_CUDA)
  set(FDAPP_CUDA_DESCRIPTION "${CMAKE_CUDA_COMPILER_VERSION}")
endif()
set(FDAPP_REVISION "@FDAPP_REVISION@") # stays in the template
configure_file(${PROJECT_SOURCE_DIR}/src/base/version.h.in ${PROJECT_BINARY_DIR}/version.h.in @ONLY)

set(write_version ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR} -DFALLBACK=v${PROJECT_VERSION}
  -DTEMPLATE=${PROJECT_BINARY_DIR}/version.h.in -DHEADER=${PROJECT_BINARY_DIR}/include/base/version.h
  -P ${CMAKE_CURRENT_LIST_DIR}/revision.cmake)
execute_process(COMMAND ${write_version} COMMAND_ERROR_IS_FATAL ANY) # for tools that read sources before a build
add_custom_target(fdapp_revision COMMAND ${write_version} BYPRODUCTS ${PROJECT_BINARY_DIR}/include/base/version.h
  COMMENT "Looking for the revision" VERBATIM)
add_library(fdapp_version INTERFACE)
target_include_directories(fdapp_version INTERFACE ${PROJECT_BINARY_DIR}/include)
add_dependencies(fdapp_version fdapp_revision)
