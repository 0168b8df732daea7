// SPDX-License-Identifier: Apache-2.0
// The same as cuda_pipeline.h.
#pragma once
#include <cuda_pipeline.h>
