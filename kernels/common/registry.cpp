// SPDX-License-Identifier: Apache-2.0
// The kernels, in the order in which they are listed. Each function is defined in the kernel's own folder.
#include "common/kernel.h"

namespace handoff::kernels {

const std::vector<const Kernel*>& allKernels() {
  static const std::vector<const Kernel*> kKernels = {};
  return kKernels;
}

}  // namespace handoff::kernels
