// SPDX-License-Identifier: Apache-2.0
// docs/queue-lab.html: the queue beside the slots of a real kernel, in one file that needs no network.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/lab/timeline.h"

namespace handoff::lab {

/// The text of queue_lab.html, with a mark where the timeline goes.
std::string_view pageTemplate();

std::string renderPage(const Timeline& timeline);

}  // namespace handoff::lab
