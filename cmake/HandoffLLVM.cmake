# SPDX-License-Identifier: Apache-2.0
# LLVM and Clang 22 as two interface targets: handoff_llvm (report, cli) and handoff_clang (frontend).
# Debian's shared libraries are used, and their headers are system headers, so that -Wall stays about our code.

find_package(LLVM 22.1 CONFIG HINTS /usr/lib/llvm-22)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 22 was not found: install llvm-22-dev and libclang-22-dev, or configure with "
                      "-DHANDOFF_FRONTEND=OFF to build the libraries without a command line")
endif()
find_package(Clang REQUIRED CONFIG HINTS ${LLVM_DIR}/../clang ${LLVM_INSTALL_PREFIX})

separate_arguments(handoff_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(handoff_llvm INTERFACE)
target_include_directories(handoff_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(handoff_llvm INTERFACE ${handoff_llvm_definitions})
target_link_libraries(handoff_llvm INTERFACE LLVM)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(handoff_llvm INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

add_library(handoff_clang INTERFACE)
target_include_directories(handoff_clang SYSTEM INTERFACE ${CLANG_INCLUDE_DIRS})
target_link_libraries(handoff_clang INTERFACE clang-cpp handoff_llvm)
