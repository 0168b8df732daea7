// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: whatever a client sends, the server answers, ignores or ends; it never crashes, and what it
// writes is a row of messages. An input that starts with '#' is the bytes of the stream; of any other each line is
// one message, so that mutations reach the handlers.
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/JSON.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analyzer/lsp/fake_checker_for_test.h"
#include "analyzer/lsp/server.h"
#include "analyzer/support/check.h"

namespace {

using namespace handoff;

/// What the server reads, message by message. Behind one that asks for a check the client waits for a moment, so that
/// later ones meet its result.
class Client {
 public:
  explicit Client(std::string_view input) {
    if (input.starts_with('#')) {
      pieces_.emplace_back(input.substr(1));
      return;
    }
    while (!input.empty()) {
      const std::size_t end = std::min(input.find('\n'), input.size());
      const std::string_view line = input.substr(0, end);
      pieces_.push_back("Content-Length: " + std::to_string(line.size()) + "\r\n\r\n" + std::string(line));
      input.remove_prefix(std::min(end + 1, input.size()));
    }
  }

  std::size_t pieces() const { return pieces_.size(); }
  std::FILE* open() {
    return fopencookie(this, "r", {.read = read, .write = nullptr, .seek = nullptr, .close = nullptr});
  }

 private:
  static ssize_t read(void* cookie, char* to, std::size_t size) {
    return static_cast<Client*>(cookie)->readNext(to, size);
  }

  ssize_t readNext(char* to, std::size_t size) {
    if (next_ > 0 && at_ == 0 && pieces_[next_ - 1].find("/did") != std::string::npos)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (next_ == pieces_.size()) return 0;
    const std::string& piece = pieces_[next_];
    const std::size_t count = std::min(size, piece.size() - at_);
    std::memcpy(to, piece.data() + at_, count);
    at_ += count;
    if (at_ == piece.size()) ++next_, at_ = 0;
    return static_cast<ssize_t>(count);
  }

  std::vector<std::string> pieces_;
  std::size_t next_ = 0, at_ = 0;  ///< piece, and byte of it
};

/// Takes the stream apart; how many of its messages are answers.
std::size_t countAnswers(std::string_view stream) {
  std::size_t answers = 0;
  while (!stream.empty()) {
    llvm::StringRef text(stream.data(), stream.size());
    HANDOFF_CHECK(text.consume_front("Content-Length: "));
    std::size_t length = 0;
    HANDOFF_CHECK(!text.consumeInteger(10, length));
    HANDOFF_CHECK(text.consume_front("\r\n\r\n") && length <= text.size());
    llvm::Expected<llvm::json::Value> message = llvm::json::parse(text.take_front(length));
    if (!message) llvm::consumeError(message.takeError());
    HANDOFF_CHECK(message && message->getAsObject() != nullptr);
    const llvm::json::Object& object = *message->getAsObject();
    HANDOFF_CHECK(object.getString("jsonrpc") == llvm::StringRef("2.0"));
    if (object.get("method") == nullptr) {
      HANDOFF_CHECK((object.get("result") != nullptr) != (object.get("error") != nullptr));
      ++answers;
    }
    stream.remove_prefix(stream.size() - text.size() + length);
  }
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Client client({reinterpret_cast<const char*>(data), size});
  std::string written;
  llvm::raw_string_ostream out(written);
  lsp::test::FakeChecker checker;
  lsp::ServerOptions options = lsp::test::optionsForTest();
  options.workers = 1;
  std::FILE* const in = client.open();
  const int code = serve(checker, options, in, out);
  std::fclose(in);
  HANDOFF_CHECK(code == 0 || code == 1);
  const std::size_t answers = countAnswers(written);
  if (size != 0 && data[0] != '#') HANDOFF_CHECK(answers <= client.pieces());
  return 0;
}
