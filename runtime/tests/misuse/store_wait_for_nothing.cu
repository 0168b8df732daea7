// SPDX-License-Identifier: Apache-2.0
// expect: such a wait would never wait for anything
#include "handoff/bulk_copy.h"
__global__ void kernel() {
  handoff::BulkStores<1> stores;
  stores.commit();
  stores.waitRead<1>();
}
