// SPDX-License-Identifier: Apache-2.0
// Classes of picture.css for what a picture holds.
#pragma once

#include <string_view>

#include "analyzer/diagnose/picture.h"

namespace handoff::report {

inline std::string_view stateClass(diagnose::Picture::SlotState state) {
  switch (state) {
    case diagnose::Picture::SlotState::kFree:
      return "slot free";
    case diagnose::Picture::SlotState::kFilling:
      return "slot filling";
    case diagnose::Picture::SlotState::kReady:
      return "slot ready";
    case diagnose::Picture::SlotState::kReading:
      return "slot reading";
    case diagnose::Picture::SlotState::kStale:
      return "slot stale";
  }
  return "";
}

inline std::string_view edgeClass(diagnose::Picture::Edge::Kind kind) {
  switch (kind) {
    case diagnose::Picture::Edge::Kind::kIssue:
      return "issue";
    case diagnose::Picture::Edge::Kind::kCompletion:
      return "completion";
    case diagnose::Picture::Edge::Kind::kArrival:
      return "arrival";
    case diagnose::Picture::Edge::Kind::kBarrier:
      return "barrier";
    case diagnose::Picture::Edge::Kind::kMissing:
      return "missing";
  }
  return "";
}

inline std::string_view markClass(diagnose::Picture::Mark::Kind kind) {
  switch (kind) {
    case diagnose::Picture::Mark::Kind::kIssue:
      return "issue";
    case diagnose::Picture::Mark::Kind::kCommit:
      return "commit";
    case diagnose::Picture::Mark::Kind::kWait:
      return "wait";
    case diagnose::Picture::Mark::Kind::kBarrier:
      return "barrier";
    case diagnose::Picture::Mark::Kind::kArrive:
      return "arrival";
    case diagnose::Picture::Mark::Kind::kAccess:
      return "access";
    case diagnose::Picture::Mark::Kind::kOther:
      return "other";
  }
  return "";
}

}  // namespace handoff::report
