// SPDX-License-Identifier: Apache-2.0
// Frames, and messages that are none.
#include "analyzer/lsp/message_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handoff::lsp {
namespace {

using testing::HasSubstr;

std::string frame(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// All messages of a stream.
std::vector<std::string> read(std::string bytes) {
  std::vector<std::string> messages;
  if (bytes.empty()) return messages;
  std::FILE* const file = fmemopen(bytes.data(), bytes.size(), "r");
  MessageInput input(file);
  std::string json;
  while (!input.isEndOfInput())
    if (llvm::succeeded(input.readStandardMessage(json))) messages.push_back(json);
  std::fclose(file);
  return messages;
}

std::string only(const std::string& bytes) {
  const std::vector<std::string> messages = read(bytes);
  EXPECT_EQ(messages.size(), 1U);
  return messages.empty() ? "" : messages.front();
}

TEST(MessageInput, MessagesFollowEachOther) {
  const std::string one = R"({"jsonrpc":"2.0","method":"a"})",
                    two = R"({"jsonrpc":"2.0","id":1,"method":"b"})";
  EXPECT_THAT(read(frame(one) + frame(two)), testing::ElementsAre(one, two));
}

TEST(MessageInput, HeadersMayComeInAnyCaseAndNumber) {
  const std::string body = R"({"jsonrpc":"2.0","method":"a"})";
  const std::string head = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: " +
                           std::to_string(body.size());
  EXPECT_EQ(only(head + "\r\n\r\n" + body), body);
  EXPECT_EQ(only("Content-Length: " + std::to_string(body.size()) + "\n\n" + body), body);
}

TEST(MessageInput, RequestIdIsThatOfTheLastMessage) {
  std::string bytes =
      frame(R"({"jsonrpc":"2.0","id":"x","method":"a"})") + frame(R"({"jsonrpc":"2.0","method":"b"})");
  std::FILE* const file = fmemopen(bytes.data(), bytes.size(), "r");
  MessageInput input(file);
  std::string json;
  ASSERT_TRUE(llvm::succeeded(input.readStandardMessage(json)));
  EXPECT_EQ(input.requestId(), "\"x\"");
  ASSERT_TRUE(llvm::succeeded(input.readStandardMessage(json)));
  EXPECT_EQ(input.requestId(), "");
  std::fclose(file);
}

TEST(MessageInput, WhatIsNoMessageBecomesACallThatAnswersSo) {
  for (const char* body :
       {"{", "[]", "7", R"({"method":"a"})", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"2.0","method":7})",
        R"({"jsonrpc":"2.0","id":{},"method":"a"})", "\xff\xfe"}) {
    const std::string json = only(frame(body));
    EXPECT_THAT(json, HasSubstr("handoff/malformed")) << body;
    EXPECT_TRUE(static_cast<bool>(llvm::json::parse(json))) << body;
  }
}

TEST(MessageInput, ClientCannotCallTheMethodThatStandsForIt) {
  EXPECT_THAT(only(frame(R"({"jsonrpc":"2.0","id":5,"method":"handoff/malformed","params":{}})")),
              HasSubstr("-32601"));
}

TEST(MessageInput, StreamThatEndsWithinAMessageIsOver) {
  EXPECT_TRUE(read("Content-Length: 100\r\n\r\n{").empty());
  EXPECT_TRUE(read("Content-Len").empty());
  EXPECT_TRUE(read("").empty());
}

TEST(MessageInput, HeaderWithoutALengthIsSkipped) {
  const std::vector<std::string> messages =
      read("Foo: 1\r\n\r\n" + frame(R"({"jsonrpc":"2.0","method":"a"})"));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_THAT(messages[0], HasSubstr("Content-Length"));
  EXPECT_THAT(read("Content-Length: -5\r\n\r\n").front(), HasSubstr("handoff/malformed"));
}

TEST(MessageInput, LengthIsAClaimAndNoMemory) {
  EXPECT_TRUE(read("Content-Length: 200000000\r\n\r\nshort").empty());
  EXPECT_THAT(only("Content-Length: 99999999999\r\n\r\nshort"), HasSubstr("too long"));
}

TEST(MessageInput, DeepNestingIsNotParsed) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(only(frame(deep)), HasSubstr("nests deeper"));
  EXPECT_EQ(nestingOf(R"({"a":["[[[\"[["]})"), 2U);
}

}  // namespace
}  // namespace handoff::lsp
