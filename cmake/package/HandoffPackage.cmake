# SPDX-License-Identifier: Apache-2.0
# What is installed beside the programs, and the Debian packages: handoff, handoff-confirm, libhandoff-dev.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- the CMake package ----

set(config_dir ${CMAKE_INSTALL_DATADIR}/cmake/handoff)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/handoffConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/handoffConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/handoffConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(EXPORT handoffTargets NAMESPACE handoff:: DESTINATION ${config_dir} COMPONENT dev)
install(
  FILES ${PROJECT_BINARY_DIR}/package/handoffConfig.cmake ${PROJECT_BINARY_DIR}/package/handoffConfigVersion.cmake
        ${CMAKE_CURRENT_LIST_DIR}/HandoffCheck.cmake
  DESTINATION ${config_dir} COMPONENT dev)

# ---- files about the packages: licence, changelogs ----

set(debian_version ${PROJECT_VERSION}-1)
set(debian_maintainer "The Handoff authors <handoff@example.org>")
execute_process(COMMAND date -u -R -d ${HANDOFF_RELEASE_DATE}
  OUTPUT_VARIABLE debian_date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(SUBSTRING ${HANDOFF_RELEASE_DATE} 0 4 year)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in ${PROJECT_BINARY_DIR}/package/copyright @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.Debian.in ${PROJECT_BINARY_DIR}/package/changelog.Debian @ONLY)
set(changelogs)
foreach(pair IN ITEMS "${PROJECT_SOURCE_DIR}/CHANGELOG.md|changelog" "${PROJECT_BINARY_DIR}/package/changelog.Debian|changelog.Debian")
  string(REPLACE "|" ";" pair ${pair})
  list(GET pair 0 source)
  list(GET pair 1 name)
  set(compressed ${PROJECT_BINARY_DIR}/package/${name}.gz)
  add_custom_command(OUTPUT ${compressed} COMMAND gzip -9nc ${source} > ${compressed} DEPENDS ${source} VERBATIM)
  list(APPEND changelogs ${compressed})
endforeach()
add_custom_target(handoff_package_files ALL DEPENDS ${changelogs})
foreach(pair IN ITEMS "handoff|handoff" "confirm|handoff-confirm" "dev|libhandoff-dev")
  string(REPLACE "|" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES ${PROJECT_BINARY_DIR}/package/copyright ${changelogs}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/handoff COMPONENT handoff)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/handoff/docs COMPONENT handoff
  PATTERN "gpu" EXCLUDE PATTERN "decisions" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/testcases/barrier-only-handoff
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/handoff/examples COMPONENT handoff)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/editors/neovim ${PROJECT_SOURCE_DIR}/tools/editors/emacs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/handoff/editors COMPONENT handoff)

# ---- packages ----

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME handoff)
set(CPACK_PACKAGE_CONTACT ${debian_maintainer})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL handoff confirm dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_HANDOFF_PACKAGE_NAME handoff)
set(CPACK_DEBIAN_HANDOFF_PACKAGE_SHLIBDEPS ON)
# Clang's own headers, from which it knows CUDA's builtins.
set(CPACK_DEBIAN_HANDOFF_PACKAGE_DEPENDS "libclang-common-${LLVM_VERSION_MAJOR}-dev")
set(CPACK_DEBIAN_HANDOFF_PACKAGE_RECOMMENDS "g++")
set(CPACK_DEBIAN_HANDOFF_PACKAGE_SUGGESTS "handoff-confirm, libhandoff-dev")
set(CPACK_DEBIAN_HANDOFF_DESCRIPTION
"static verifier for asynchronous CUDA kernels
Handoff proves that a CUDA kernel hands its asynchronously copied tiles over
correctly, or shows a launch, two threads and a byte where it does not. It
reads PTX, so cp.async, bulk and tensor copies, mbarriers and wgmma count,
whatever the API in the source. No GPU is needed.")

set(CPACK_DEBIAN_CONFIRM_PACKAGE_NAME handoff-confirm)
set(CPACK_DEBIAN_CONFIRM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CONFIRM_PACKAGE_SUGGESTS "handoff")
set(CPACK_DEBIAN_CONFIRM_DESCRIPTION
"runs the witnesses of Handoff's findings on a GPU
Takes the jobs that handoff check --emit-witness writes, runs each kernel as
it is and under perturbations that its finding suggests, and says which
findings showed. Needs a driver and nothing else of CUDA.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libhandoff-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "handoff")
set(CPACK_DEBIAN_DEV_DESCRIPTION
"parts of asynchronous hand-overs for CUDA kernels
Header library: copy groups, transaction barriers, slot rings, store rings
and exchanges within a cluster; misuse that types can exclude does not
compile. With a CMake package that has handoff::runtime and handoff_check().")
include(CPack)
