// SPDX-License-Identifier: Apache-2.0
// Data is not known before a launch, so bytes have placeholders: what a write brings, and what was there
// before.
#include "analyzer/cli/replay.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <vector>

namespace handoff::cli {
namespace {

constexpr std::size_t kMaxBytes = 16, kWidth = 52;
constexpr unsigned kOld = 0x00, kFirst = 0xa0, kSecond = 0xb0;

using Bytes = std::vector<unsigned>;

/// One of the two events, as an access of the cell where they meet.
struct Event {
  std::string thread, what;
  bool writes = false;
  bool is_late = false;  ///< its effect comes at a time of its own
  unsigned pattern = 0;
};

Event eventOf(const json::Value& said, unsigned pattern) {
  const std::string kind = said["kind"].text();
  return {"thread " + said["thread"].text(), kind, said["writes"].boolean(), said["is_async"].boolean(),
          pattern};
}

/// What happens when the effects come in this order; `seen`: what each read gets.
struct Order {
  std::vector<std::string> lines;
  Bytes memory, seen;
};

Order play(const std::array<const Event*, 2>& order, std::size_t bytes) {
  Order result{{}, Bytes(bytes, kOld), {}};
  for (const Event* event : order) {
    const std::string who = event->is_late ? "the " + event->what + " of " + event->thread : event->thread;
    if (event->writes) {
      for (std::size_t i = 0; i < bytes; ++i) result.memory[i] = event->pattern + static_cast<unsigned>(i);
      result.lines.push_back(who + (event->is_late ? " writes its bytes" : " writes"));
    } else {
      result.seen = result.memory;
      result.lines.push_back(who + " reads");
    }
  }
  return result;
}

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const unsigned byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", byte & 0xff);
    text += digits;
  }
  return text;
}

void appendRow(std::string& out, const std::string& left, const std::string& right) {
  const auto piece = [](const std::string& text, std::size_t row) {
    return row * kWidth < text.size() ? text.substr(row * kWidth, kWidth) : std::string();
  };
  const std::size_t rows =
      std::max<std::size_t>(1, (std::max(left.size(), right.size()) + kWidth - 1) / kWidth);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string cell = piece(left, row);
    cell.resize(kWidth, ' ');
    out += "  " + cell + " | " + piece(right, row) + "\n";
  }
}

}  // namespace

std::string replayText(const json::Value& job) {
  std::string out = job["rule"].text() + ": " + job["message"].text() + "\n";
  const json::Array& events = job["events"].array();
  const json::Array& steps = job["steps"].array();
  const std::string place = job["memory"]["place"].text();
  if (!place.empty()) out += "memory: " + place + " (" + job["memory"]["space"].text() + ")\n";
  out += "\n";
  const auto step = [](const json::Value& value) {
    return value["actor"].text() + " " + value["text"].text();
  };
  const bool is_pair = events.size() == 2 && (events[0]["writes"].boolean() || events[1]["writes"].boolean());
  if (!is_pair) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      out += "  " + std::to_string(i + 1) + ". " + step(steps[i]) + "\n";
    for (const json::Value& event : events)
      out += "  thread " + event["thread"].text() + ": " + event["text"].text() + "\n";
    return out + "\nThe finding is not about two orders: this happens in each of them.\n";
  }
  const Event first = eventOf(events[0], kFirst), second = eventOf(events[1], kSecond);
  const auto bytes =
      static_cast<std::size_t>(std::clamp<std::int64_t>(job["memory"]["bytes"].integer(), 1, kMaxBytes));
  const Order meant = play({&first, &second}, bytes), other = play({&second, &first}, bytes);
  appendRow(out, "in the order of the run", "in the order that nothing forbids");
  appendRow(out, std::string(kWidth, '-'), std::string(kWidth, '-'));
  for (const json::Value& each : steps) {
    const bool is_effect = &each == &steps.back() && !second.is_late;
    if (!is_effect) appendRow(out, step(each), step(each));
  }
  for (std::size_t i = 0; i < meant.lines.size(); ++i) appendRow(out, meant.lines[i], other.lines[i]);
  const bool has_read = !meant.seen.empty();
  const Bytes &left = has_read ? meant.seen : meant.memory, &right = has_read ? other.seen : other.memory;
  appendRow(out, std::string(has_read ? "read: " : "left: ") + hex(left),
            std::string(has_read ? "read: " : "left: ") + hex(right));
  std::size_t differing = 0;
  for (std::size_t i = 0; i < bytes; ++i) differing += left[i] != right[i] ? 1 : 0;
  char last[16];
  std::snprintf(last, sizeof last, "0x%llx",
                static_cast<unsigned long long>(job["memory"]["address"].integer() & 0xffffff));
  out += "\n" + std::to_string(differing) + " of " + std::to_string(bytes) + " bytes from " +
         job["memory"]["space"].text() + " address " + last +
         " on differ. 00: what was there before; a0..: what the first event\nwrites; b0..: what the second "
         "one writes.\n";
  return out;
}

ExitCode runReplay(const std::string& folder) {
  const Result<json::Value> job = json::read(folder + "/job.json");
  const bool is_job = job && (*job)["version"].integer() == 1 && (*job)["rule"].isString();
  if (!is_job) {
    std::cerr << (job ? folder + "/job.json: error: this is no witness job" : toString(job.error())) << "\n";
    return ExitCode::kBadInput;
  }
  if ((*job)["is_control"].boolean()) {
    std::cerr << folder << "/job.json: error: a kernel without a finding has no order to replay\n";
    return ExitCode::kBadInput;
  }
  std::cout << replayText(*job);
  return ExitCode::kNothingFound;
}

}  // namespace handoff::cli
