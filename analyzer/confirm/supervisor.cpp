// SPDX-License-Identifier: Apache-2.0
// Processes, their time limits, and the verdict.
#include "analyzer/confirm/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <utility>

#include "analyzer/confirm/worker.h"

extern char** environ;

namespace handoff::confirm {

namespace {

using Clock = std::chrono::steady_clock;

/// A driver that compiles PTX while others do the same.
constexpr std::chrono::seconds kMaxLoad{60};

/// A child and its standard output, line by line.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
  }
  ~Child() {
    if (output_ >= 0) close(output_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool hasStarted() const { return pid_ > 0; }

  enum class Wait : std::uint8_t { kLine, kEnd, kTimeout };
  Wait next(std::string& line, Clock::time_point deadline, const std::atomic<bool>* stop) {
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return Wait::kLine;
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return Wait::kTimeout;
      if (stop != nullptr && *stop) return Wait::kEnd;
      constexpr std::int64_t kSlice = 100;  // to look after `stop`
      pollfd file{output_, POLLIN, 0};
      if (poll(&file, 1, static_cast<int>(std::min<std::int64_t>(left, kSlice))) <= 0) continue;
      char bytes[4096];
      const ssize_t count = read(output_, bytes, sizeof bytes);
      if (count <= 0) return Wait::kEnd;
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffer_;
};

class Session {
 public:
  Session(const Job& job, const Settings& settings) : job_(job), settings_(settings) {}

  JobResult run() {
    while (runOnce()) {
    }
    judge();
    return std::move(result_);
  }

 private:
  /// True when another process has to go on.
  bool runOnce() {
    const std::size_t first_variant = variant_;
    unsigned cells = 0;
    Child child({settings_.program, "--worker", job_.folder, "--args", settings_.arguments, "--launches",
                 std::to_string(settings_.launches), "--variant", std::to_string(variant_), "--which",
                 std::to_string(which_), "--mode", std::to_string(result_.mode), "--variants",
                 settings_.variants, "--blocks", std::to_string(settings_.blocks),
                 settings_.runs_all || job_.is_control ? "--all" : "--until-confirmed"});
    if (!child.hasStarted()) return refuse("the process could not be started");
    Clock::time_point deadline = Clock::now() + kMaxLoad;
    bool is_running = false;
    cell_ = nullptr;
    std::string line;
    while (true) {
      switch (child.next(line, deadline, settings_.stop)) {
        case Child::Wait::kEnd:
          return refuse("the process ended unexpectedly");
        case Child::Wait::kTimeout:
          if (!is_running) return refuse("the kernel was not loaded in time");
          if (cell_ == nullptr) return tryNextMode("it does not end");
          // A GPU that others use, or that recovers from their faults, can be slow for seconds: a kernel has
          // to hang twice, the second time for longer.
          if (retried_.insert({variant_, which_}).second) {
            *cell_ = {};
            // Without a repaired kernel, the first cell is the undisturbed kernel, whatever comes first.
            if (cells == 1 && !job_.hasRepair()) variant_ = first_variant;
            return true;
          }
          cell_->is_hang = true;
          return goOn();
        case Child::Wait::kLine:
          break;
      }
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "device") result_.device = line.substr(7);
      if (word == "driver") words >> result_.driver_version;
      if (word == "loading" || word == "running") is_running = word == "running";
      if (word == "reference") return tryNextMode(line.substr(10));
      if (word == "cell") {
        ++cells;
        words >> variant_ >> which_;
        cell_ = &(which_ == 0 ? result_.base : result_.repaired)[variant_];
      }
      if (cell_ != nullptr && word == "count") words >> cell_->launches >> cell_->wrong >> cell_->first_word;
      if (cell_ != nullptr && word == "skip") cell_->skipped = line.substr(5);
      if (word == "done") return false;
      if (word == "fault") {
        if (cell_ == nullptr) return tryNextMode("it fails: " + line.substr(6));
        cell_->fault = line.substr(6);
        return goOn();
      }
      const unsigned patience = cell_ != nullptr && retried_.contains({variant_, which_}) ? 2 : 1;
      deadline = Clock::now() + (is_running ? std::chrono::seconds(patience * settings_.seconds) : kMaxLoad);
    }
  }

  bool refuse(const std::string& why) {
    why_invalid_ = why;
    return false;
  }

  // Sizes and contents that suit the kernel are a guess.
  bool tryNextMode(const std::string& why) {
    if (why_invalid_.empty())
      why_invalid_ = (job_.hasRepair() ? "the repaired kernel cannot serve as the reference: "
                                       : "the kernel cannot serve as the reference: ") +
                     why;
    if (!result_.base.empty() || result_.mode + 1 >= kFillModes) return false;
    ++result_.mode;
    variant_ = which_ = 0;
    return true;
  }

  // The process is lost; the next one takes up where it was.
  bool goOn() {
    if (!job_.hasRepair()) return false;  // the reference is the kernel itself
    const Cell& base = result_.base[variant_];
    if (which_ == 0) {
      which_ = 1;
      return true;
    }
    if (base.hasFailed() && !result_.repaired[variant_].hasFailed() && !settings_.runs_all) return false;
    which_ = 0;
    return ++variant_ < job_.variants.size();
  }

  void judgeControl() {
    unsigned launches = 0;
    result_.status = "held";
    for (const auto& [variant, cell] : result_.base) {
      launches += cell.launches;
      if (!cell.hasFailed() || result_.status == "failed") continue;
      // What the reference cannot stand either is the perturbation's mistake.
      const auto reference = result_.repaired.find(variant);
      if (reference != result_.repaired.end() && reference->second.hasFailed()) continue;
      result_.status = "failed";
      result_.summary = cell.text() + ", with this: " + job_.variants[variant].what;
    }
    if (result_.status == "failed") return;
    result_.summary = "no failure in " + std::to_string(launches) + " launches";
    if (why_invalid_.empty() && launches != 0) return;
    result_.status = "invalid";
    result_.summary = why_invalid_.empty() ? "no variant could be run" : why_invalid_;
  }

  void judge() {
    if (job_.is_control) return judgeControl();
    result_.status = "not reproduced";
    unsigned launches = 0, bad_repairs = 0;
    std::string bad_repair;
    for (const auto& [variant, cell] : result_.repaired) {
      if (!cell.hasFailed()) continue;
      ++bad_repairs;
      bad_repair =
          "the repaired kernel fails as well: " + cell.text() + " (" + job_.variants[variant].what + ")";
    }
    for (const auto& [variant, cell] : result_.base) {
      launches += cell.launches;
      if (!cell.hasFailed()) continue;
      const auto repaired = result_.repaired.find(variant);
      const bool is_compared = repaired != result_.repaired.end() && repaired->second.hasRun();
      if (job_.hasRepair() ? !is_compared || repaired->second.hasFailed() : !isPredicted(cell)) continue;
      result_.status = "confirmed";
      result_.summary = cell.text() + ", with this: " + job_.variants[variant].what;
      if (is_compared) result_.summary += "; repaired: " + repaired->second.text();
      return;
    }
    if (!why_invalid_.empty() && launches == 0) {
      result_.status = "invalid";
      result_.summary = why_invalid_;
    } else if (bad_repairs != 0) {
      result_.status = "invalid";
      result_.summary = bad_repair;
    } else if (launches == 0) {
      result_.status = "invalid";
      result_.summary = "no variant could be run";
      for (const auto& [variant, cell] : result_.base) {
        if (!cell.skipped.empty()) result_.summary = cell.skipped;
        if (cell.hasFailed()) {
          result_.summary =
              cell.text() +
              ", which the finding does not predict, and no repaired kernel is known to compare with";
        }
      }
    } else {
      result_.summary =
          "no failure in " + std::to_string(launches) + " launches; that says nothing about other chips";
    }
  }

  // Without a kernel that is right to compare with, a stop has to be the one that the finding is about.
  bool isPredicted(const Cell& cell) const {
    if (cell.wrong != 0) return true;
    return cell.is_hang ? job_.predicts_hang : job_.predicts_fault;
  }

  const Job& job_;
  const Settings& settings_;
  JobResult result_;
  std::size_t variant_ = 0;
  unsigned which_ = 0;
  Cell* cell_ = nullptr;
  std::string why_invalid_;
  std::set<std::pair<std::size_t, unsigned>> retried_;  ///< variants and kernels that seemed to hang
};

json::Value describeCell(const Cell& cell) {
  json::Value value;
  value.set("launches", cell.launches);
  value.set("wrong", cell.wrong);
  if (cell.wrong != 0) value.set("first_word", cell.first_word);
  if (cell.is_hang) value.set("hang", true);
  if (!cell.fault.empty()) value.set("fault", cell.fault);
  if (!cell.skipped.empty()) value.set("skipped", cell.skipped);
  return value;
}

}  // namespace

std::string Cell::text() const {
  const std::string of = " of " + std::to_string(launches) + (launches == 1 ? " launch" : " launches");
  if (!fault.empty())
    return "stopped by the hardware in launch " + std::to_string(launches) + " (" + fault + ")";
  if (is_hang)
    return "hangs" + (launches == 0 ? std::string() : " after " + std::to_string(launches) + " launches");
  return "wrong in " + std::to_string(wrong) + of;
}

JobResult confirmJob(const Job& job, const Settings& settings) { return Session(job, settings).run(); }

json::Value describe(const Job& job, const JobResult& result) {
  json::Value value;
  value.set("name", job.name);
  value.set("file", job.file);
  value.set("line", job.line);
  value.set("rule", job.rule);
  value.set("kernel", job.kernel);
  value.set("status", result.status);
  value.set("summary", result.summary);
  value.set("reference", job.hasRepair() ? "repaired" : "self");
  value.set("fill_mode", result.mode);
  json::Array variants;
  for (std::size_t v = 0; v < job.variants.size(); ++v) {
    const auto base = result.base.find(v), repaired = result.repaired.find(v);
    if (base == result.base.end() && repaired == result.repaired.end()) continue;
    json::Value variant = json::Object{{"name", job.variants[v].name}, {"what", job.variants[v].what}};
    if (base != result.base.end()) variant.set("base", describeCell(base->second));
    if (repaired != result.repaired.end()) variant.set("repaired", describeCell(repaired->second));
    variants.push_back(std::move(variant));
  }
  value.set("variants", std::move(variants));
  return value;
}

}  // namespace handoff::confirm
