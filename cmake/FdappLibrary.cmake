# The library fdapp::fdapp for other programs: fields, halos, operators and stepping with the kernels below them, one
# archive and its headers under include/fdapp. It needs MPI and OpenMP, and the CUDA runtime with the CUDA backend; not
# HDF5 or what else the program reads and writes with. examples/ shows its use.
include(CMakePackageConfigHelpers)

set(rooms fdapp_base fdapp_agree fdapp_field fdapp_halo fdapp_settings fdapp_stepper
  fdapp_kernels fdapp_cpu fdapp_cpu_float fdapp_cpu_double)
if(FDAPP_HAVE_CUDA)
  list(APPEND rooms fdapp_cuda_float fdapp_cuda_double fdapp_cuda_pair_float fdapp_cuda_pair_double)
endif()
set(objects "")
foreach(room IN LISTS rooms)
  list(APPEND objects $<TARGET_OBJECTS:${room}>)
endforeach()
add_library(fdapp_library STATIC ${objects})
set_target_properties(fdapp_library PROPERTIES OUTPUT_NAME fdapp EXPORT_NAME fdapp LINKER_LANGUAGE C)
target_include_directories(fdapp_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fdapp>)
target_link_libraries(fdapp_library INTERFACE MPI::MPI_C OpenMP::OpenMP_C m ${CMAKE_DL_LIBS})
if(FDAPP_HAVE_CUDA) # nvcc's host code needs the C++ runtime
  target_link_libraries(fdapp_library INTERFACE $<INSTALL_INTERFACE:CUDA::cudart> stdc++)
endif()
if(FDAPP_SANITIZE)
  target_link_options(fdapp_library INTERFACE -fsanitize=address,undefined)
endif()

# What is installed, by folder, under the names that the sources include.
set(public_headers
  base/status.h base/check.h base/agree.h settings/settings.h
  domain/grid.h domain/field.h domain/state.h domain/transport.h domain/halo.h domain/halo_peer.h domain/neighbours.h
  domain/slab.h domain/operators.h settings/scheme.h stepping/stage.h stepping/exchange.h stepping/stepper.h)
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fdapp/${folder})
endforeach()
foreach(header kernels.h launch.h operations.h operation.h closure.h flow.h stencil.h)
  install(FILES ${PROJECT_SOURCE_DIR}/kernels/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fdapp)
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fdapp)
install(TARGETS fdapp_library EXPORT fdapp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT fdapp FILE fdappTargets.cmake NAMESPACE fdapp:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fdappConfig.cmake.in ${PROJECT_BINARY_DIR}/fdappConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fdappConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fdappConfig.cmake ${PROJECT_BINARY_DIR}/fdappConfigVersion.cmake
  DESTINATION ${package})
