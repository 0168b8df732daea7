// SPDX-License-Identifier: Apache-2.0
// The kernels, in the order in which they are listed. Each function is defined in the kernel's own folder.
#include "common/kernel.h"

namespace handoff::kernels {

const Kernel& rowExchange();
const Kernel& clusterExchange();
const Kernel& tmaTileCopy();
const Kernel& activationTile();
const Kernel& rmsNorm();
const Kernel& stencil();
const Kernel& storeRing();
const Kernel& cudaApi();
const Kernel& namedBarrier();
const Kernel& gemmCpAsync();
const Kernel& gemmWgmma();

const std::vector<const Kernel*>& allKernels() {
  static const std::vector<const Kernel*> kKernels = {
      &rowExchange(), &clusterExchange(), &tmaTileCopy(), &activationTile(), &rmsNorm(),
      &stencil(),     &storeRing(),       &cudaApi(),     &namedBarrier(),   &gemmCpAsync(),
      &gemmWgmma(),
  };
  return kKernels;
}

}  // namespace handoff::kernels
