// SPDX-License-Identifier: Apache-2.0
// expect: a chunk has to be aligned to its size
#include "handoff/copy_group.h"
struct Four {
  float at[4];
};
__global__ void kernel(const Four* in) {
  __shared__ Four slot;
  handoff::copyAsync(&slot, in);
}
