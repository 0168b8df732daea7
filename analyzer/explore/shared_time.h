// SPDX-License-Identifier: Apache-2.0
// Processor time that the kernels of a unit have together.
#pragma once

#include <algorithm>
#include <cstddef>

namespace handoff::explore {

/// Dealt out in equal parts; what one kernel leaves is for those after it.
class SharedTime {
 public:
  SharedTime(double seconds, std::size_t kernels) : left_(seconds), kernels_(kernels) {}

  /// What the next kernel may take, in seconds.
  double part() const { return std::max(left_, 0.0) / static_cast<double>(std::max<std::size_t>(kernels_, 1)); }
  void take(double seconds) {
    left_ -= seconds;
    if (kernels_ != 0) --kernels_;
  }

 private:
  double left_ = 0;
  std::size_t kernels_ = 0;  ///< that are still to come
};

}  // namespace handoff::explore
