set(fdapp_cuda_folder ${CMAKE_CURRENT_LIST_DIR})

# fdapp_device_sources(VARIABLE): the device code, pair.cu apart. Each way of an operation (kernels/operations.h) gets a file of its own
# in the build folder, so that ways are compiled side by side.
function(fdapp_device_sources variable)
  set(declarations ${PROJECT_SOURCE_DIR}/kernels/operations.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${declarations})
  set(sources layers.cu minplus.cu minplus_plain.cu pencil.cu stream.cu sums.cu)
  list(TRANSFORM sources PREPEND ${fdapp_cuda_folder}/)
  file(READ ${declarations} text)
  string(REGEX MATCHALL "X\\([a-z0-9_]+, [A-Z0-9_| ]+, [a-z0-9_]+\\)" ways "${text}")
  foreach(way IN LISTS ways)
    string(REGEX REPLACE ".*, ([a-z0-9_]+)\\)" "\\1" way "${way}")
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/apply_${way}.cu
      CONTENT "#define FDAPP_WAY ${way}\n#include \"apply.cuh\"\n")
    list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/apply_${way}.cu)
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
