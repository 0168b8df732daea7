# SPDX-License-Identifier: Apache-2.0
# One helper per kind of target, so that every folder's CMakeLists.txt is a list of its files.

if(HANDOFF_SANITIZE)
  add_compile_options(-fsanitize=${HANDOFF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HANDOFF_SANITIZE})
endif()

# Coverage for libFuzzer in every library; the targets themselves link its main (analyzer/fuzz).
if(HANDOFF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# For libraries that fuzz_executor spends its time in: what they compare is not the bytes of the input, and to hear of
# each comparison takes three quarters of a run.
function(handoff_without_traced_comparisons name)
  if(HANDOFF_FUZZ)
    target_compile_options(${name} PRIVATE -fno-sanitize-coverage=trace-cmp)
  endif()
endfunction()

# False alarms of GCC 12: -Wnonnull in Clang's RecursiveASTVisitor and -Wrestrict in std::string's operator+, both after
# inlining. -Wpsabi is a note about GCC before 4.6.
set(handoff_warnings -Wall -Wextra -Wno-missing-field-initializers -Wno-nonnull -Wno-restrict -Wno-psabi)
# libstdc++ 12's stable_sort uses what the same library has deprecated.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND handoff_warnings -Wno-unknown-warning-option -Wno-deprecated-declarations)
endif()

# handoff_library(name SOURCES ... DEPENDS ...)
function(handoff_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${handoff_warnings})
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
endfunction()

# handoff_test(name SOURCES ... DEPENDS ...): a GoogleTest binary, one ctest entry per case.
function(handoff_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PROPERTIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${handoff_warnings})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  set(properties)
  if(arg_PROPERTIES)
    set(properties PROPERTIES ${arg_PROPERTIES})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES ${properties})
endfunction()
