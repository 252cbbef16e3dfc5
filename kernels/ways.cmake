set(fdapp_kernels_folder ${CMAKE_CURRENT_LIST_DIR})

# fdapp_way_sources(VARIABLE EXTENSION HEADER): a source in the build folder for each way of an operation (LEAN_WAYS and
# GENERAL_WAYS in operations.h), so that ways are compiled side by side. VARIABLE has all of them, VARIABLE_lean those of
# LEAN_WAYS. A source includes HEADER after these macros:
#   WAY_KIND, WAY_OPTIONS     the operation and its options without additions
#   WAY_ADDITIONS             the options that may come with them, those of the sum included
#   WAY_OPERATION(options)    the declaration
#   WAY_GENERAL               1 in GENERAL_WAYS, else 0
#   WAY_TERMS                 the number of terms that it is compiled for: NAME_terms of the way in operations.h, or 4
#   WAY_OUTPUTS               likewise of outputs: NAME_outputs, or 3
#   WAY_PART                  the operation's function for its parts
#   WAY_TEXT                  the way's name, as a string
#   WAY_NAME(prefix, suffix)  the way's name between the two, as a word
function(fdapp_way_sources variable extension header)
  set(declarations ${fdapp_kernels_folder}/operations.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${declarations})
  file(READ ${declarations} text)
  string(REGEX REPLACE " *\\\\\n" "" text "${text}")
  set(sources "")
  set(lean "")
  foreach(class LEAN GENERAL)
    string(REGEX MATCH "\n#define ${class}_WAYS\\(X\\)[^\n]*" list "${text}")
    string(REGEX REPLACE "^.*${class}_WAYS\\(X\\)" "" list "${list}")
    set(line " *X\\(([^ ,()]+), ([^,()]+), ([^ ,()]+)\\)")
    string(REGEX MATCHALL "${line}" ways "${list}")
    string(REGEX REPLACE "${line}" "" rest "${list}")
    if(NOT ways OR NOT rest STREQUAL "")
      message(FATAL_ERROR "${declarations}: ${class}_WAYS is not a list of X(NAME, OPTIONS, WAY): ${rest}")
    endif()
    string(COMPARE EQUAL ${class} GENERAL general)
    foreach(way IN LISTS ways)
      string(REGEX MATCH "${line}" way "${way}")
      set(operation ${CMAKE_MATCH_1})
      set(options ${CMAKE_MATCH_2})
      set(name ${CMAKE_MATCH_3})
      set(terms 4)
      if(text MATCHES "\n#define ${name}_terms +([0-9]+)")
        set(terms ${CMAKE_MATCH_1})
      endif()
      set(outputs 3)
      if(text MATCHES "\n#define ${name}_outputs +([0-9]+)")
        set(outputs ${CMAKE_MATCH_1})
      endif()
      file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/way_${name}.${extension} CONTENT
"#define WAY_KIND OPERATION_${operation}
#define WAY_OPTIONS (${options})
#define WAY_ADDITIONS OPERATION_ADDITIONS(${operation}, WAY_OPTIONS)
#define WAY_OPERATION(options) OPERATION_DECLARED(${operation}, options)
#define WAY_GENERAL ${general}
#define WAY_TERMS ${terms}
#define WAY_OUTPUTS ${outputs}
#define WAY_PART ${operation}_part
#define WAY_TEXT \"${name}\"
#define WAY_NAME(prefix, suffix) prefix##${name}##suffix
#include \"${header}\"
")
      list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/way_${name}.${extension})
      if(NOT general)
        list(APPEND lean ${CMAKE_CURRENT_BINARY_DIR}/way_${name}.${extension})
      endif()
    endforeach()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
  set(${variable}_lean ${lean} PARENT_SCOPE)
endfunction()
