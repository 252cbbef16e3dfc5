# Writes HEADER from TEMPLATE with the revision of SOURCE, if that changes it: run with every build, for a commit or an edit
# touches no file that a build could watch. Without GIT, or where SOURCE is no repository of its own, the revision is FALLBACK.
set(FDAPP_REVISION "")
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} --no-optional-locks describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE FDAPP_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(FDAPP_REVISION STREQUAL "")
  set(FDAPP_REVISION ${FALLBACK})
endif()
configure_file(${TEMPLATE} ${HEADER} @ONLY)
