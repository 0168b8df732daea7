// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: whatever a client sends, the server answers, ignores or ends; it never crashes. An input
// that starts with '#' is the bytes of the stream; of any other each line is one message, so that mutations
// reach the handlers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "analyzer/lsp/fake_checker_for_test.h"
#include "analyzer/lsp/server.h"
#include "analyzer/support/check.h"

namespace {

std::string streamOf(std::string_view input) {
  if (input.starts_with('#')) return std::string(input.substr(1));
  std::string stream;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    stream += "Content-Length: " + std::to_string(line.size()) + "\r\n\r\n" + std::string(line);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handoff::lsp;
  std::string stream = streamOf({reinterpret_cast<const char*>(data), size});
  if (stream.empty()) return 0;
  std::FILE* const in = fmemopen(stream.data(), stream.size(), "r");
  std::string written;
  llvm::raw_string_ostream out(written);
  test::FakeChecker checker;
  ServerOptions options = test::optionsForTest();
  options.workers = 1;
  const int code = serve(checker, options, in, out);
  std::fclose(in);
  HANDOFF_CHECK(code == 0 || code == 1);
  return 0;
}
