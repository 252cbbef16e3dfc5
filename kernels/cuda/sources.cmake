set(fdapp_cuda_folder ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/../ways.cmake)

# fdapp_device_sources(VARIABLE): the device code, pair.cu and wave_twice.cu apart.
function(fdapp_device_sources variable)
  set(sources flow.cu layers.cu meet.cu minplus.cu minplus_plain.cu parts.cu pencil.cu stream.cu sums.cu wave.cu
    wave_layers.cu)
  list(TRANSFORM sources PREPEND ${fdapp_cuda_folder}/)
  fdapp_way_sources(ways cu apply.cuh)
  set(${variable} ${sources} ${ways} PARENT_SCOPE)
endfunction()
