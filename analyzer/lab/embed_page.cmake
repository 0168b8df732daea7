# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=queue_lab.html -DOUTPUT=page_template.cpp -P embed_page.cmake
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "// Generated from queue_lab.html.
#include \"analyzer/lab/page.h\"

namespace handoff::lab {

std::string_view pageTemplate() {
  return R\"page(${text})page\";
}

}  // namespace handoff::lab
")
