// SPDX-License-Identifier: Apache-2.0
// expect: such a wait would never wait for anything
#include "handoff/copy_group.h"
__global__ void kernel() {
  handoff::CopyGroups<2> copies;
  copies.commit();
  copies.wait<2>();
}
