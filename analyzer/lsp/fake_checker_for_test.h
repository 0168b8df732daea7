// SPDX-License-Identifier: Apache-2.0
// A checker that finds "BUG" in the text, and waits where a test wants it to.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

#include "analyzer/lsp/checker.h"
#include "analyzer/lsp/server.h"

namespace handoff::lsp::test {

inline SourceStack stackAt(const std::string& file, std::uint32_t line, std::uint32_t column = 0) {
  return {{{file, line, column}, "k"}};
}

/// One kernel at line 1, with a finding and a repair at each line with "BUG", and a limit if "LIMIT" is
/// anywhere. A line "COPY" is an asynchronous call.
class FakeChecker : public Checker {
 public:
  std::shared_ptr<const Checked> check(const CheckRequest& request) override {
    {
      std::unique_lock lock(mutex_);
      ++calls_;
      changed_.notify_all();
      while (is_held_ && !(heeds_cancel_ && isCancelled(request.cancel)))
        changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    auto checked = std::make_shared<Checked>();
    checked->is_cancelled = heeds_cancel_ && isCancelled(request.cancel);
    checked->report.path = request.file;
    checked->dependencies = {request.file};
    diagnose::KernelReport kernel;
    kernel.name = kernel.pretty = "k";
    kernel.pos = {request.file, 1, 1};
    kernel.has_async = true;
    kernel.verdict = diagnose::Verdict::kVerified;
    kernel.holds_for = {"all n >= 0", "block = (128,1,1)"};
    std::vector<std::uint32_t> copies;
    for (const auto& [path, text] : request.texts) {
      if (path != request.file && !includes(*request.texts.at(request.file), path)) continue;
      checked->dependencies.push_back(path);
      for (std::uint32_t line = 1; line <= text->lineCount(); ++line)
        addLine(path, *text, line, kernel, copies);
    }
    checked->report.kernels.push_back(kernel);
    checked->audit = [file = request.file, copies](const CancelToken&) { return auditOf(file, copies); };
    return checked;
  }

  /// Checks wait until they are released.
  void hold(bool heeds_cancel) {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
    heeds_cancel_ = heeds_cancel;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }
  void waitForCall(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return calls_ >= count; });
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  static bool includes(const Text& text, const std::string& path) {
    return text.content().find("#include \"" + path) != std::string::npos;
  }

  static void addLine(const std::string& path, const Text& text, std::uint32_t number,
                      diagnose::KernelReport& kernel, std::vector<std::uint32_t>& copies) {
    const std::string line(text.line(number - 1));
    if (line.find("COPY") != std::string::npos) copies.push_back(number);
    if (line.find("LIMIT") != std::string::npos) {
      kernel.limits.push_back({"there is a limit", {path, number, 1}});
      if (kernel.verdict == diagnose::Verdict::kVerified) kernel.verdict = diagnose::Verdict::kBounded;
    }
    if (line.find("BUG") == std::string::npos) return;
    diagnose::Finding finding;
    finding.rule = "missing-wait";
    finding.message = "read too early";
    finding.stack = stackAt(path, number, static_cast<std::uint32_t>(line.find("BUG")) + 1);
    finding.related = {{"the copy is issued here", stackAt(path, 1, 1)}};
    finding.witness.launch = "grid=(1,1,1) block=(128,1,1) smem=0";
    for (int i = 0; i < 12; ++i)
      finding.witness.steps.push_back({"thread 0", "does step " + std::to_string(i), stackAt(path, number)});
    finding.repair = diagnose::Repair{"insert wait()", stackAt(path, number)};
    std::string repaired = line;
    repaired.replace(repaired.find("BUG"), 3, "fix");
    finding.repair->changes = {
        {diagnose::SourceChange::Kind::kReplace, {path, number, 0}, line, repaired},
        {diagnose::SourceChange::Kind::kInsertBefore, {path, number, 0}, line, "wait();"}};
    kernel.findings.push_back(finding);
    kernel.verdict = diagnose::Verdict::kViolation;
  }

  static std::vector<audit::KernelAudit> auditOf(const std::string& file,
                                                 const std::vector<std::uint32_t>& copies) {
    std::vector<audit::KernelAudit> audits(1);
    for (const std::uint32_t line : copies) {
      audit::Call call;
      call.api = "cuda::memcpy_async";
      call.stack = stackAt(file, line, 1);
      call.instructions = {{audit::Lowering::kCpAsync, "cp.async.cg, 16 bytes", true, 2, 24}};
      call.batches = {{"group 0", "ring[0]", "cp.async.wait_group 1", stackAt(file, line + 1)},
                      {"group 1", "ring[1]", "", {}}};
      call.batch_count = 12;
      audits.front().calls.push_back(call);
    }
    return audits;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false, heeds_cancel_ = false;
  int calls_ = 0;
};

inline ServerOptions optionsForTest() {
  return {.version = "1.2.3",
          .paths = report::Paths("/", {}),
          .rule_link = [](std::string_view rule) { return "file:///docs/" + std::string(rule) + ".md"; },
          .rule_page =
              [](std::string_view rule) {
                return rule == "missing-wait" ? std::optional<std::string_view>("# missing-wait")
                                              : std::nullopt;
              }};
}

}  // namespace handoff::lsp::test
