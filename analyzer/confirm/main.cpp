// SPDX-License-Identifier: Apache-2.0
// `handoff-confirm`: runs witness jobs on the GPU of this machine. Needs a driver and nothing else.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "analyzer/confirm/supervisor.h"
#include "analyzer/confirm/worker.h"

namespace handoff::confirm {
namespace {

namespace fs = std::filesystem;

constexpr int kNothingConfirmed = 0, kConfirmed = 1, kBadInput = 2;

constexpr std::string_view kUsage =
    "Usage: handoff-confirm DIR [OPTION...]\n"
    "\n"
    "Runs the jobs that `handoff check --emit-witness=DIR` wrote on the GPU of this machine: each kernel as "
    "it\n"
    "is and under the perturbations that its finding suggests, and the repaired kernel under the same ones.\n"
    "\n"
    "  --json FILE     write the results to FILE, for `handoff check --confirm-results=FILE`\n"
    "  --args FILE     sizes and values of arguments, as {\"n\": {\"value\": 64}, \"in\": {\"bytes\": "
    "4096}}\n"
    "  --launches N    launches of each kernel under each perturbation (default 50)\n"
    "  --timeout S     seconds without progress that count as a hang (default 5)\n"
    "  --jobs N        jobs at a time (default 4)\n"
    "  --only TEXT     jobs whose name contains this\n"
    "  --all           run all perturbations, also after one has shown the defect\n"
    "  --variants LIST only these perturbations, as plain,queue; the plain kernel is always among them\n"
    "  --blocks N      multiply the grid until a launch has N blocks\n"
    "  --one-launch    launch the kernel of one job once, as it is, for other tools to look at\n"
    "  --mode N        with --one-launch: how memory is filled, as fill_mode in the results (default 0)\n"
    "  --help          print this text\n"
    "\n"
    "Exit codes: 0 nothing confirmed, 1 a finding confirmed or a control failed, 2 usage, input, or no "
    "GPU.\n";

struct CommandLine {
  std::string folder, json_file, only;
  Settings settings;
  unsigned jobs = 4;
  bool is_worker = false, is_one_launch = false, wants_help = false;
  WorkerOptions worker;
};

std::optional<std::string> parse(int argc, char** argv, CommandLine& line) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  unsigned variant = 0, launches = line.settings.launches;
  const auto number = [&](std::size_t& i, unsigned& target) {
    const std::string_view text = ++i < words.size() ? words[i] : "";
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), target);
    return status == std::errc() && end == text.data() + text.size();
  };
  const auto text = [&](std::size_t& i, std::string& target) {
    if (++i >= words.size()) return false;
    target = words[i];
    return true;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    bool is_right = true;
    if (word == "--help" || word == "-h")
      line.wants_help = true;
    else if (word == "--json")
      is_right = text(i, line.json_file);
    else if (word == "--args")
      is_right = text(i, line.settings.arguments);
    else if (word == "--only")
      is_right = text(i, line.only);
    else if (word == "--launches")
      is_right = number(i, launches) && launches > 0;
    else if (word == "--timeout")
      is_right = number(i, line.settings.seconds) && line.settings.seconds > 0;
    else if (word == "--jobs")
      is_right = number(i, line.jobs) && line.jobs > 0;
    else if (word == "--all")
      line.settings.runs_all = true;
    else if (word == "--until-confirmed")
      line.settings.runs_all = false;
    else if (word == "--variants")
      is_right = text(i, line.settings.variants);
    else if (word == "--blocks")
      is_right = number(i, line.settings.blocks);
    else if (word == "--one-launch")
      line.is_one_launch = true;
    else if (word == "--worker")
      line.is_worker = true;
    else if (word == "--variant")
      is_right = number(i, variant);
    else if (word == "--which")
      is_right = number(i, line.worker.first_which);
    else if (word == "--mode")
      is_right = number(i, line.worker.mode);
    else if (word.starts_with("-"))
      return "unknown option '" + std::string(word) + "'";
    else if (line.folder.empty())
      line.folder = word;
    else
      return "more than one folder is given";
    if (!is_right) return "option '" + std::string(word) + "' needs a value";
  }
  line.settings.launches = line.worker.launches = launches;
  line.worker.first_variant = variant;
  line.worker.runs_all = line.settings.runs_all;
  if (line.folder.empty() && !line.wants_help) return "no folder is given";
  return std::nullopt;
}

int fail(const Error& error) {
  if (error.pos.file.empty()) std::cerr << "handoff-confirm: ";
  std::cerr << toString(error) << "\n";
  return kBadInput;
}

std::vector<std::string> jobFolders(const std::string& folder, const std::string& only) {
  std::vector<std::string> folders;
  std::error_code error;
  if (fs::exists(fs::path(folder) / "job.json", error)) folders.push_back(folder);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (fs::exists(entry->path() / "job.json")) folders.push_back(entry->path().string());
  }
  std::erase_if(folders, [&](const std::string& path) { return path.find(only) == std::string::npos; });
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// Somebody wants the program to end: what has been learned so far is written.
std::atomic<bool> is_stopping = false;

void stopOnSignals() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { is_stopping = true; });
}

/// Totals over all jobs, for the summary and for whoever asks how often correct kernels failed.
struct Totals {
  unsigned confirmed = 0, not_reproduced = 0, invalid = 0, held = 0, failed = 0;
  std::uint64_t repaired_launches = 0, repaired_failures = 0, launches = 0, control_launches = 0;

  void add(const JobResult& result, bool is_control) {
    if (result.status == "invalid") {
      ++invalid;
    } else if (is_control) {
      ++(result.status == "held" ? held : failed);
    } else {
      ++(result.status == "confirmed" ? confirmed : not_reproduced);
    }
    for (const auto& [variant, cell] : result.base)
      (is_control ? control_launches : launches) += cell.launches;
    for (const auto& [variant, cell] : result.repaired) {
      repaired_launches += cell.launches;
      repaired_failures += cell.wrong + (cell.is_hang || !cell.fault.empty() ? 1 : 0);
    }
  }
};

int confirmAll(const CommandLine& line, const std::vector<Job>& jobs, json::Array broken) {
  stopOnSignals();
  Settings settings = line.settings;
  settings.stop = &is_stopping;
  const auto start = std::chrono::steady_clock::now();
  std::vector<JobResult> results(jobs.size());
  std::atomic<std::size_t> next{0};
  std::mutex output;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::min<std::size_t>(line.jobs, jobs.size()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < jobs.size(); i = next++) {
        JobResult result = confirmJob(jobs[i], settings);
        if (is_stopping) return;  // the signal may have ended its process
        results[i] = std::move(result);
        const std::lock_guard lock(output);
        std::cout << results[i].status << ": " << jobs[i].file << ":" << jobs[i].line << ": " << jobs[i].rule
                  << ": " << results[i].summary << std::endl;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  Totals totals;
  json::Value report;
  report.set("version", 1);
  report.set("date", today());
  for (const JobResult& result : results) {
    if (result.device.empty()) continue;
    report.set("device", result.device);
    report.set("driver_version", result.driver_version);
  }
  report.set("processes", line.jobs);
  report.set("wall_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  report.set("launches_per_cell", line.settings.launches);
  if (line.settings.blocks != 0) report.set("blocks", line.settings.blocks);
  if (is_stopping) report.set("interrupted", true);
  json::Array list = std::move(broken);
  totals.invalid = static_cast<unsigned>(list.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (results[i].status.empty()) continue;
    totals.add(results[i], jobs[i].is_control);
    list.push_back(describe(jobs[i], results[i]));
  }
  report.set("confirmed", totals.confirmed);
  report.set("not_reproduced", totals.not_reproduced);
  report.set("invalid", totals.invalid);
  report.set("launches", totals.launches);
  report.set("repaired_launches", totals.repaired_launches);
  report.set("repaired_failures", totals.repaired_failures);
  report.set("held", totals.held);
  report.set("failed", totals.failed);
  report.set("control_launches", totals.control_launches);
  report.set("jobs", std::move(list));
  std::cout << totals.confirmed << " confirmed, " << totals.not_reproduced << " not reproduced, "
            << totals.invalid << " invalid; repaired kernels: " << totals.repaired_failures << " failures in "
            << totals.repaired_launches << " launches";
  if (totals.control_launches != 0)
    std::cout << "; kernels without findings: " << totals.held << " held, " << totals.failed << " failed, "
              << totals.control_launches << " launches";
  std::cout << "\n";
  if (!line.json_file.empty()) {
    std::ofstream file(line.json_file);
    file << json::print(report);
    if (!file.flush()) return fail({"cannot write the results", {line.json_file, 0, 0}});
  }
  return totals.confirmed + totals.failed != 0 ? kConfirmed : kNothingConfirmed;
}

int run(int argc, char** argv) {
  CommandLine line;
  if (const std::optional<std::string> mistake = parse(argc, argv, line)) {
    std::cerr << "handoff-confirm: error: " << *mistake << "\n" << kUsage;
    return kBadInput;
  }
  if (line.wants_help) {
    std::cout << kUsage;
    return kNothingConfirmed;
  }
  json::Value given;
  if (!line.settings.arguments.empty()) {
    const Result<json::Value> read = json::read(line.settings.arguments);
    if (!read) return fail(read.error());
    given = *read;
  }
  if (line.is_worker || line.is_one_launch) {
    Result<Job> job = readJob(line.folder, given);
    if (!job) return fail(job.error());
    narrow(*job, line.settings.variants, line.settings.blocks);
    return line.is_worker ? runWorker(*job, line.worker) : runOneLaunch(*job, line.worker);
  }
  const std::vector<std::string> folders = jobFolders(line.folder, line.only);
  if (folders.empty())
    return fail({"there is no job: no job.json in this folder or in one below it", {line.folder, 0, 0}});
  std::vector<Job> jobs;
  json::Array broken;
  for (const std::string& folder : folders) {
    Result<Job> job = readJob(folder, given);
    if (job) {
      narrow(*job, line.settings.variants, line.settings.blocks);
      jobs.push_back(std::move(*job));
      continue;
    }
    // One job that cannot be run must not keep the others from it.
    const std::string name = fs::path(folder).filename().string();
    broken.push_back(json::Object{{"name", name}, {"status", "invalid"}, {"summary", job.error().message}});
    std::cout << "invalid: " << toString(job.error()) << std::endl;
  }
  // Whether there is a GPU at all is asked once, not by every worker.
  if (const Result<Driver> driver = Driver::open(); !driver) return fail(driver.error());
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  line.settings.program = length > 0 ? std::string(path, static_cast<std::size_t>(length)) : argv[0];
  return confirmAll(line, jobs, std::move(broken));
}

}  // namespace
}  // namespace handoff::confirm

int main(int argc, char** argv) {
  try {
    return handoff::confirm::run(argc, argv);
  } catch (const std::exception& fault) {
    std::cerr << "handoff-confirm: error: " << fault.what() << "\n";
    return 2;
  }
}
