# fdapp_options: warnings and the promises about arithmetic, linked privately by every target of ours.
# -Wshadow=local, not -Wshadow: a variable may carry the name of its type (grid *grid), which hides nothing that is needed.
add_library(fdapp_options INTERFACE)
target_compile_options(fdapp_options INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow> -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef>
  # One answer: no contraction, no reassociation; fma only where the source says so.
  $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off -fno-fast-math>)
target_compile_definitions(fdapp_options INTERFACE _GNU_SOURCE)
if(FDAPP_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:C>:-g1>) # reports name lines, no variables
  add_link_options(-fsanitize=address,undefined)
endif()
