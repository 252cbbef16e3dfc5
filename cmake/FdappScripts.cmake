# The scripts that are installed: bin/fdplot, and share/fdapp/run/scaling, which uses the program in bin/. Both find the
# Python package beside them, in share/fdapp/postproc; numpy, h5py, matplotlib and pillow are the system's or an
# environment's.
set(scripts ${CMAKE_INSTALL_DATADIR}/fdapp)
file(RELATIVE_PATH FDAPP_POSTPROC ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/fdapp/postproc)
configure_file(${CMAKE_CURRENT_LIST_DIR}/fdplot.in ${PROJECT_BINARY_DIR}/scripts/fdplot @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/scripts/fdplot DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/postproc/fdpost DESTINATION ${scripts}/postproc FILES_MATCHING PATTERN "*.py"
  PATTERN "data/*.txt" PATTERN __pycache__ EXCLUDE)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/run/scaling DESTINATION ${scripts}/run)
foreach(part host progress runs study)
  install(FILES ${PROJECT_SOURCE_DIR}/run/scaling_${part}.py DESTINATION ${scripts}/run)
endforeach()
