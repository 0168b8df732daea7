# SPDX-License-Identifier: Apache-2.0
# handoff_check(): `handoff check` on the CUDA sources of a target, with the flags that they are compiled with.
#
#   handoff_check(<target> [TEST] [OPTIONS <option>...] [SOURCES <file>...])
#
# Adds a target <target>_handoff_check that is part of ALL, and that fails where Handoff finds something. It runs again
# when an object of <target> was compiled again, so also after a change of a header.
#
#   TEST      add a test handoff_check.<target> instead, and nothing to the build
#   OPTIONS   options of `handoff check`, as --require=verified
#   SOURCES   these files instead of all .cu files of the target
#
# Flags come from compile_commands.json, which the Ninja and Makefile generators write.

# The sources of `target` that end in .cu, with absolute paths.
function(_handoff_cuda_sources target result)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(found)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cu$" AND NOT source MATCHES "^\\$<")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The program: built along, installed beside this file, or on PATH.
function(_handoff_program result)
  if(TARGET handoff)
    set(${result} $<TARGET_FILE:handoff> PARENT_SCOPE)
    return()
  endif()
  find_program(HANDOFF_EXECUTABLE handoff DOC "The handoff command")
  if(NOT HANDOFF_EXECUTABLE)
    message(FATAL_ERROR "handoff_check: the handoff command was not found; install the package handoff, put it on PATH, "
                        "or set HANDOFF_EXECUTABLE")
  endif()
  set(${result} ${HANDOFF_EXECUTABLE} PARENT_SCOPE)
endfunction()

function(handoff_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST" "" "OPTIONS;SOURCES")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "handoff_check: '${target}' is no target of this project")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "handoff_check(${target}): what is '${arg_UNPARSED_ARGUMENTS}'? Known words are TEST, OPTIONS and SOURCES")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja$|Makefiles$")
    message(FATAL_ERROR "handoff_check: the generator '${CMAKE_GENERATOR}' writes no compile_commands.json; use Ninja or Makefiles")
  endif()
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  if(NOT sources)
    _handoff_cuda_sources(${target} sources)
  endif()
  if(NOT sources)
    message(FATAL_ERROR "handoff_check: the target '${target}' has no .cu file")
  endif()

  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS ON)
  _handoff_program(program)
  set(command ${program} check -p ${CMAKE_BINARY_DIR} ${arg_OPTIONS} ${sources})
  if(arg_TEST)
    add_test(NAME handoff_check.${target} COMMAND ${command} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    return()
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}_handoff_check.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${command}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${sources} $<TARGET_OBJECTS:${target}> ${program}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Checking the CUDA sources of ${target} with handoff"
    VERBATIM)
  add_custom_target(${target}_handoff_check ALL DEPENDS ${stamp})
endfunction()
