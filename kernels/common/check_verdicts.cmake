# SPDX-License-Identifier: Apache-2.0
# cmake -DHANDOFF=... -DFOLDER=... -DARCH=... -DINCLUDES=a,b -P check_verdicts.cmake: checks a kernel's folder, and compares the verdicts
# with the table in its README, whose rows are "| `name` | verdict |" and then anything.
string(REPLACE "," ";-I" includes "-I${INCLUDES}")
execute_process(
  COMMAND ${HANDOFF} check --arch=${ARCH} --time-limit=900 --require=checked ${FOLDER} -- -std=c++20 ${includes}
  OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
message("${output}${errors}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "handoff check ended with ${status}")
endif()

string(REGEX MATCHALL "\n(verified|bounded|violation): [^(]*\\(anonymous namespace\\)::[A-Za-z]+(<[^>]*>)?\\(" found "\n${output}")
file(READ ${FOLDER}/README.md readme)
set(wrong "")
foreach(line IN LISTS found)
  string(REGEX REPLACE "\n([a-z]+): .*::([A-Za-z]+(<[^>]*>)?)\\($" "| `\\2` | \\1 |" row "${line}")
  string(FIND "${readme}" "${row}" at)
  if(at EQUAL -1)
    string(APPEND wrong "  ${row}\n")
  endif()
endforeach()
list(LENGTH found kernels)
string(REGEX MATCHALL "\n\\| `[A-Za-z]+(<[^>\n]*>)?` \\| (verified|bounded|violation) \\|" rows "${readme}")
list(LENGTH rows documented)
if(wrong OR NOT kernels EQUAL documented OR kernels EQUAL 0)
  message(FATAL_ERROR "${FOLDER}/README.md names ${documented} kernels, the analyzer ${kernels}; these rows are missing:\n${wrong}")
endif()
