// SPDX-License-Identifier: Apache-2.0
// The protocol as a client sees it: life cycle, synchronisation, order of results, cancellation, bad input.
#include "analyzer/lsp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/lsp/client_for_test.h"
#include "analyzer/lsp/fake_checker_for_test.h"

namespace handoff::lsp {
namespace {

using test::Client;
using test::FakeChecker;
namespace json = llvm::json;
using testing::HasSubstr;

constexpr const char* kFile = "/w/a.cu";

std::string dump(const json::Value& value) { return llvm::formatv("{0:2}", value); }
std::string dump(json::Object value) { return dump(json::Value(std::move(value))); }

std::int64_t errorCode(const json::Object& reply) {
  const json::Object* const error = reply.getObject("error");
  return error == nullptr ? 0 : error->getInteger("code").value_or(0);
}

class ServerTest : public testing::Test {
 protected:
  FakeChecker checker_;
};

TEST_F(ServerTest, SaysWhatItCanDo) {
  Client client(checker_, test::optionsForTest());
  const std::string reply = dump(client.initialize());
  EXPECT_THAT(reply, HasSubstr("\"hoverProvider\": true"));
  EXPECT_THAT(reply, HasSubstr("\"positionEncoding\": \"utf-16\""));
  EXPECT_THAT(reply, HasSubstr("\"version\": \"1.2.3\""));
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, TakesBytesAsColumnsFromClientsThatOfferThem) {
  Client client(checker_, test::optionsForTest());
  const std::string reply = dump(client.initialize(
      json::Object{{"general", json::Object{{"positionEncodings", json::Array{"utf-16", "utf-8"}}}}}));
  EXPECT_THAT(reply, HasSubstr("\"positionEncoding\": \"utf-8\""));
}

TEST_F(ServerTest, ExitWithoutShutdownIsAFailure) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.notify("exit", nullptr);
  EXPECT_EQ(client.endStream(), 1);
}

TEST_F(ServerTest, EndOfTheStreamEndsIt) {
  {
    Client client(checker_, test::optionsForTest());
    client.initialize();
    EXPECT_EQ(client.endStream(), 1);
  }
  Client silent(checker_, test::optionsForTest());
  EXPECT_EQ(silent.endStream(), 1);
}

TEST_F(ServerTest, RequestsBeforeInitializeAndAfterShutdownAreRefused) {
  Client client(checker_, test::optionsForTest());
  EXPECT_EQ(errorCode(client.request("textDocument/hover", test::at(kFile, 0, 0))), -32002);
  client.initialize();
  EXPECT_EQ(errorCode(client.request("initialize", json::Object{{"capabilities", json::Object()}})), -32600);
  client.request("shutdown", nullptr);
  EXPECT_EQ(errorCode(client.request("textDocument/hover", test::at(kFile, 0, 0))), -32600);
  client.notify("exit", nullptr);
  EXPECT_EQ(client.endStream(), 0);
}

TEST_F(ServerTest, OpenShowsDiagnosticsAndSaveShowsNewOnes) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k\nBUG(x);\n");
  const json::Array first = client.diagnostics(kFile);
  ASSERT_EQ(first.size(), 1U);
  const std::string text = dump(first[0]);
  EXPECT_THAT(text, HasSubstr("\"code\": \"missing-wait\""));
  EXPECT_THAT(text, HasSubstr("\"href\": \"file:///docs/missing-wait.md\""));
  EXPECT_THAT(text, HasSubstr("\"source\": \"handoff\""));
  EXPECT_THAT(text, HasSubstr("the copy is issued here"));
  EXPECT_THAT(text, HasSubstr("\"severity\": 1"));
  client.change(kFile, "k\nfine\n", 2);
  client.save(kFile);
  EXPECT_TRUE(client.diagnostics(kFile).empty());
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, ChangesAreCheckedOnlyWhenAskedFor) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k\n");
  EXPECT_TRUE(client.diagnostics(kFile).empty());
  client.change(kFile, "k\nBUG\n", 2);
  EXPECT_EQ(errorCode(client.request("textDocument/hover", test::at(kFile, 0, 0))), 0);
  EXPECT_EQ(checker_.calls(), 1);

  Client eager(checker_, test::optionsForTest());
  eager.initialize({}, json::Object{{"checkOnChange", true}, {"changeDelay", 10}});
  eager.open(kFile, "k\n");
  EXPECT_TRUE(eager.diagnostics(kFile).empty());
  eager.change(kFile, "k\nBUG\n", 2);
  EXPECT_EQ(eager.diagnostics(kFile).size(), 1U);
}

TEST_F(ServerTest, ManyChangesAreOneCheck) {
  ServerOptions options = test::optionsForTest();
  options.checks_on_change = true;
  options.change_delay = std::chrono::milliseconds(200);
  Client client(checker_, options);
  client.initialize();
  client.open(kFile, "k\n");
  client.diagnostics(kFile);
  for (int i = 2; i < 30; ++i)
    client.change(kFile, "k\n" + std::string(static_cast<std::size_t>(i), 'x') + "BUG\n", i);
  EXPECT_EQ(client.diagnostics(kFile).size(), 1U);
  EXPECT_EQ(checker_.calls(), 2);
}

TEST_F(ServerTest, OldResultNeverOverwritesANewOne) {
  for (const bool heeds_cancel : {true, false}) {
    FakeChecker checker;
    Client client(checker, test::optionsForTest());
    client.initialize();
    checker.hold(heeds_cancel);
    client.open(kFile, "k\nBUG 1\n");
    checker.waitForCall(1);
    // The first check hangs while its text is replaced and saved; then it comes to its end, cancelled or not.
    client.change(kFile, "k\nfine\n", 2);
    client.save(kFile);
    client.request("textDocument/codeAction",
                   json::Object{{"textDocument", json::Object{{"uri", test::uriOf(kFile)}}},
                                {"range", json::Object{{"start", json::Object{{"line", 0}, {"character", 0}}},
                                                       {"end", json::Object{{"line", 0}, {"character", 0}}}}},
                                {"context", json::Object{{"diagnostics", json::Array()}}}});
    checker.release();
    const json::Object published = client.nextOf("textDocument/publishDiagnostics");
    EXPECT_TRUE(published.getArray("diagnostics")->empty())
        << "the first publication is that of the second text";
    EXPECT_EQ(published.getInteger("version"), 2);
    EXPECT_EQ(client.quit(), 0);
    EXPECT_FALSE(client.hasAny("textDocument/publishDiagnostics"));
  }
}

TEST_F(ServerTest, ClosedAndOpenedAgainIsANewDocument) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  checker_.hold(/*heeds_cancel=*/false);
  client.open(kFile, "k\nBUG\n");
  checker_.waitForCall(1);
  client.close(kFile);
  EXPECT_TRUE(client.diagnostics(kFile).empty());
  client.open(kFile, "k\n");
  checker_.release();
  EXPECT_TRUE(client.diagnostics(kFile).empty());
  EXPECT_EQ(client.quit(), 0);
  EXPECT_FALSE(client.hasAny("textDocument/publishDiagnostics"));
}

TEST_F(ServerTest, WaitingRequestCanBeCancelled) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  checker_.hold(/*heeds_cancel=*/true);
  client.open(kFile, "k\nCOPY\n");
  const std::int64_t hover = client.ask("textDocument/hover", test::at(kFile, 1, 0));
  const std::int64_t lenses = client.ask(
      "textDocument/codeLens", json::Object{{"textDocument", json::Object{{"uri", test::uriOf(kFile)}}}});
  client.notify("$/cancelRequest", json::Object{{"id", hover}});
  EXPECT_EQ(errorCode(client.replyTo(hover)), -32800);
  client.notify("$/cancelRequest", json::Object{{"id", 999}});
  checker_.release();
  EXPECT_THAT(dump(client.replyTo(lenses)), HasSubstr("handoff: verified for all n >= 0"));
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, HoverWaitsForTheAudit) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k\nCOPY\nwait\n");
  const std::string hover = dump(client.request("textDocument/hover", test::at(kFile, 1, 0)));
  EXPECT_THAT(hover, HasSubstr("became `cp.async.cg, 16 bytes`"));
  EXPECT_THAT(hover, HasSubstr("group 0: fills `ring[0]`, complete after `cp.async.wait_group 1` (line 3)"));
  EXPECT_THAT(dump(client.request("textDocument/hover", test::at(kFile, 0, 0))),
              HasSubstr("\"result\": null"));
}

TEST_F(ServerTest, ShutdownAnswersWhatWaitsAndCancelsWhatRuns) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  checker_.hold(/*heeds_cancel=*/true);
  client.open(kFile, "k\n");
  checker_.waitForCall(1);
  const std::int64_t hover = client.ask("textDocument/hover", test::at(kFile, 0, 0));
  EXPECT_EQ(client.quit(), 0);
  EXPECT_EQ(errorCode(client.replyTo(hover)), -32800);
}

TEST_F(ServerTest, FindingsInAHeaderAreShownWhereItIsOpen) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "#include \"/w/h.cuh\"\n");
  client.diagnostics(kFile);
  client.open("/w/h.cuh", "k\nBUG\n");
  EXPECT_EQ(client.diagnostics("/w/h.cuh").size(), 1U)
      << "it is checked by itself: no open file is known to include it";
  client.save(kFile);
  EXPECT_TRUE(client.diagnostics(kFile).empty()) << "the finding stands in the header";
  client.change("/w/h.cuh", "k\n\nfine\n", 2);
  client.save("/w/h.cuh");
  EXPECT_TRUE(client.diagnostics("/w/h.cuh").empty()) << "a save of a header checks what includes it";
  client.change("/w/h.cuh", "BUG\n", 3);
  client.save(kFile);
  EXPECT_EQ(client.diagnostics("/w/h.cuh").size(), 1U) << "the text that is not saved counts";
  client.close(kFile);
  EXPECT_TRUE(client.diagnostics("/w/h.cuh").empty());
}

TEST_F(ServerTest, ProgressIsShownWhileACheckRuns) {
  Client client(checker_, test::optionsForTest());
  client.initialize(json::Object{{"window", json::Object{{"workDoneProgress", true}}}});
  checker_.hold(/*heeds_cancel=*/true);
  client.open(kFile, "k\n");
  const json::Object begin = client.nextOf("$/progress");
  EXPECT_THAT(dump(json::Object(begin)), HasSubstr("checking a.cu"));
  checker_.release();
  const json::Object end = client.nextOf("$/progress");
  EXPECT_EQ(end.getString("token"), begin.getString("token"));
  EXPECT_THAT(dump(json::Object(end)), HasSubstr("\"end\""));
}

TEST_F(ServerTest, LensesAreAskedForAgainWhenThereIsAResult) {
  Client client(checker_, test::optionsForTest());
  client.initialize(
      json::Object{{"workspace", json::Object{{"codeLens", json::Object{{"refreshSupport", true}}}}}});
  client.open(kFile, "k\n");
  client.nextOf("workspace/codeLens/refresh");
}

TEST_F(ServerTest, CommandsShowTheirTextUnlessTheClientDoes) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k LIMIT\n");
  client.diagnostics(kFile);
  const json::Object explain{{"command", "handoff.explainRule"}, {"arguments", json::Array{"missing-wait"}}};
  const std::int64_t id = client.ask("workspace/executeCommand", json::Object(explain));
  EXPECT_THAT(dump(client.nextOf("window/showMessage")), HasSubstr("# missing-wait"));
  EXPECT_THAT(dump(client.replyTo(id)), HasSubstr("# missing-wait"));
  const json::Object kernel{{"command", "handoff.showKernel"},
                            {"arguments", json::Array{test::uriOf(kFile), 1}}};
  EXPECT_THAT(dump(client.request("workspace/executeCommand", json::Object(kernel))),
              HasSubstr("- there is a limit (/w/a.cu:1)"));
  for (const char* params :
       {R"({"command":"handoff.explainRule","arguments":["nonsense"]})",
        R"({"command":"handoff.explainRule"})", R"({"command":"handoff.showKernel","arguments":[7]})",
        R"({"command":"handoff.showKernel","arguments":[7,8]})", R"({"command":"rm"})", "{}"})
    EXPECT_EQ(errorCode(client.request("workspace/executeCommand", *json::parse(params))), -32602) << params;

  Client quiet(checker_, test::optionsForTest());
  quiet.initialize({}, json::Object{{"showsCommandResults", true}});
  EXPECT_THAT(dump(quiet.request("workspace/executeCommand", json::Object(explain))),
              HasSubstr("# missing-wait"));
  EXPECT_FALSE(quiet.hasAny("window/showMessage"));
}

TEST_F(ServerTest, UnknownMethodsAreAnsweredAndUnknownNotificationsIgnored) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.notify("$/setTrace", json::Object{{"value", "off"}});
  client.notify("workspace/didChangeConfiguration", json::Object{{"settings", nullptr}});
  EXPECT_EQ(errorCode(client.request("textDocument/definition", test::at(kFile, 0, 0))), -32601);
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, BadMessagesAreAnsweredAndTheServerGoesOn) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  const auto refusal = [&](const std::string& body) {
    client.sendBytes("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return errorCode(
        client.next([](const json::Object& message) { return message.get("error") != nullptr; }, "error"));
  };
  EXPECT_EQ(refusal("{oops"), -32700);
  EXPECT_EQ(refusal("[1,2]"), -32600);
  EXPECT_EQ(refusal(R"({"id":1,"method":"shutdown"})"), -32600) << "no version of JSON-RPC";
  EXPECT_EQ(refusal(std::string(50'000, '{')), -32700);
  EXPECT_EQ(errorCode(client.request("textDocument/hover", json::Object{{"textDocument", 7}})), -32602);
  EXPECT_EQ(errorCode(client.request("textDocument/hover", nullptr)), -32602);
  client.notify("textDocument/didOpen", json::Array{1, 2});
  client.notify(
      "textDocument/didOpen",
      json::Object{
          {"textDocument",
           json::Object{{"uri", "untitled:1"}, {"languageId", "cuda"}, {"version", 1}, {"text", ""}}}});
  client.send(json::Object{{"id", "never asked"}, {"result", nullptr}});
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, ChangeOfAnUnopenedDocumentIsLogged) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.change(kFile, "BUG", 2);
  client.save(kFile);
  client.close(kFile);
  EXPECT_THAT(dump(client.nextOf("window/logMessage")), HasSubstr("not open"));
  EXPECT_EQ(checker_.calls(), 0);
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, ImpossibleChangeStopsChecksUntilAWholeTextComes) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k\nBUG\n");
  client.diagnostics(kFile);
  const auto change = [&](json::Value range, const char* text, int version) {
    json::Object event{{"text", text}};
    if (range.kind() != json::Value::Null) event["range"] = std::move(range);
    client.notify(
        "textDocument/didChange",
        json::Object{{"textDocument", json::Object{{"uri", test::uriOf(kFile)}, {"version", version}}},
                     {"contentChanges", json::Array{std::move(event)}}});
  };
  const json::Object beyond{{"start", json::Object{{"line", 70}, {"character", 0}}},
                            {"end", json::Object{{"line", 71}, {"character", 0}}}};
  change(json::Object(beyond), "x", 2);
  EXPECT_THAT(dump(client.nextOf("window/logMessage")), HasSubstr("outside"));
  change(json::Object(beyond), "x", 3);
  client.save(kFile);
  change(nullptr, "k\nfine\n", 4);
  client.save(kFile);
  const json::Object published = client.nextOf("textDocument/publishDiagnostics");
  EXPECT_EQ(published.getInteger("version"), 4);
  EXPECT_EQ(checker_.calls(), 2);
}

TEST_F(ServerTest, LargeDocumentsAreTaken) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  std::string text = "k\n";
  while (text.size() < 8'000'000) text += "int some_line_of_code = 12345;\n";
  client.open(kFile, text + "BUG\n");
  EXPECT_EQ(client.diagnostics(kFile).size(), 1U);
  EXPECT_EQ(client.quit(), 0);
}

TEST_F(ServerTest, FilesThatChangeOutsideAreCheckedAgain) {
  Client client(checker_, test::optionsForTest());
  client.initialize();
  client.open(kFile, "k\n");
  client.diagnostics(kFile);
  client.notify("workspace/didChangeWatchedFiles",
                json::Object{{"changes", json::Array{json::Object{{"uri", test::uriOf("/w/other.yaml")},
                                                                  {"type", 2}}}}});
  client.notify(
      "workspace/didChangeWatchedFiles",
      json::Object{{"changes", json::Array{json::Object{{"uri", test::uriOf(kFile)}, {"type", 2}}}}});
  client.diagnostics(kFile);
  EXPECT_EQ(checker_.calls(), 2);
}

}  // namespace
}  // namespace handoff::lsp
