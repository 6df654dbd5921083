# What `cmake --install` installs, and find_package(STG), for an installation and
# for the build folder. docs/Rationale/Install.md says why it is so.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Everything of ours is found by where it lies from each other, so that a prefix
# can be moved. Debian keeps libMLIR.so where the loader does not look.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")

set(STG_COMPONENTS Bundle C ChakraProto Support Trace Strategy Dialect Compiler Shared Tools)
set(STG_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/stg)
set(STG_BUILD_CMAKEDIR ${PROJECT_BINARY_DIR}/lib/cmake/stg)

# What whoever includes our headers needs. STGConfig.cmake adds LLVM's.
add_library(STGHeaders INTERFACE)
target_compile_features(STGHeaders INTERFACE cxx_std_17)
set_target_properties(STGHeaders PROPERTIES EXPORT_NAME Headers)
install(TARGETS STGHeaders EXPORT STGSupportTargets)

# stg_install(COMPONENT targets...)
function(stg_install component)
  install(TARGETS ${ARGN} EXPORT STG${component}Targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# The libraries of each component, and the component itself as a target.
function(stg_install_libraries)
  get_property(libraries GLOBAL PROPERTY STG_LIBRARIES)
  foreach(library IN LISTS libraries)
    get_target_property(component ${library} STG_COMPONENT)
    if(NOT component IN_LIST STG_COMPONENTS)
      message(FATAL_ERROR "${library} is of '${component}', not of ${STG_COMPONENTS}")
    endif()
    stg_install(${component} ${library})
    list(APPEND ${component} ${library})
  endforeach()
  foreach(component Trace Strategy Dialect Compiler)
    add_library(STG${component}Component INTERFACE)
    set_target_properties(STG${component}Component PROPERTIES EXPORT_NAME ${component})
    target_link_libraries(STG${component}Component INTERFACE ${${component}})
    stg_install(${component} STG${component}Component)
  endforeach()
endfunction()

function(stg_install_files)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td" PATTERN "*.proto" PATTERN "*.h.inc"
    PATTERN CMakeFiles EXCLUDE)
  # Those that tools read. In the build folder they lie alike, as links.
  foreach(folder machines models presets)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/stg)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/stg)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder}
      ${PROJECT_BINARY_DIR}/share/stg/${folder} SYMBOLIC)
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stg)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
    RENAME copyright)
endfunction()

# The package `stg`, where Debian's Python looks for it under /usr. Elsewhere it is
# for PYTHONPATH. It finds libSTG.so from where it lies.
set(STG_INSTALL_PYTHONDIR lib/python3/dist-packages)
function(stg_install_python)
  if(NOT TARGET stg_python)
    return()
  endif()
  file(RELATIVE_PATH to_lib /${STG_INSTALL_PYTHONDIR}/stg /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(stg_python PROPERTIES
    INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/${to_lib}") # The first is for pip.
  install(TARGETS stg_python LIBRARY DESTINATION ${STG_INSTALL_PYTHONDIR}/stg)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/stg DESTINATION ${STG_INSTALL_PYTHONDIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN __pycache__ EXCLUDE)
endfunction()

function(stg_install_config)
  set(config ${PROJECT_BINARY_DIR}/cmake/STGConfig.cmake)
  set(version ${STG_BUILD_CMAKEDIR}/STGConfigVersion.cmake)
  file(RELATIVE_PATH STG_CONFIG_PREFIX /${STG_INSTALL_CMAKEDIR} /)
  set(STG_CONFIG_INCLUDE_DIRS "\${STG_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/STGConfig.cmake.in ${config} @ONLY)
  set(STG_CONFIG_PREFIX ../../..)
  set(STG_CONFIG_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}/include;\${STG_PREFIX}/include")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/STGConfig.cmake.in
    ${STG_BUILD_CMAKEDIR}/STGConfig.cmake @ONLY)
  write_basic_package_version_file(${version} COMPATIBILITY SameMinorVersion)
  set(link ${PROJECT_SOURCE_DIR}/cmake/STGLinkLLVM.cmake)
  configure_file(${link} ${STG_BUILD_CMAKEDIR}/STGLinkLLVM.cmake COPYONLY)
  install(FILES ${config} ${version} ${link} DESTINATION ${STG_INSTALL_CMAKEDIR})
  foreach(component IN LISTS STG_COMPONENTS)
    install(EXPORT STG${component}Targets NAMESPACE STG:: DESTINATION ${STG_INSTALL_CMAKEDIR})
    export(EXPORT STG${component}Targets NAMESPACE STG::
      FILE ${STG_BUILD_CMAKEDIR}/STG${component}Targets.cmake)
  endforeach()
endfunction()

function(stg_install_all)
  stg_install_libraries()
  stg_install_files()
  stg_install_python()
  stg_install_config()
endfunction()

# `cpack -G DEB` makes stg_<version>_<architecture>.deb.
set(CPACK_PACKAGE_NAME stg)
set(CPACK_PACKAGE_CONTACT "the STG project <stg@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "symbolic tensor graphs to execution traces")
set(CPACK_PACKAGE_DESCRIPTION
  "A compiler from symbolic models of machine learning to what each device of a
cluster executes in a step, as Chakra execution traces. Tools, models, headers and
libraries.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Tools and the plugin link libSTGShared.so, which is in the package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LLVM_LIBRARY_OUTPUT_INTDIR})
# What a project needs that links the libraries; the tools do without.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "libmlir-22-dev, llvm-22-dev, mlir-22-tools, libprotobuf-dev, protobuf-compiler, python3 (>= 3.11), python3-numpy")
include(CPack)
