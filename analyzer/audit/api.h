// SPDX-License-Identifier: Apache-2.0
// Which functions promise an asynchronous operation, and where in an inline stack they are called.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/support/source.h"

namespace handoff::audit {

/// The qualified name as its user writes it: no return type, template arguments, parameters or inline namespaces.
/// "void cooperative_groups::__v1::memcpy_async<...>(...)" -> "cooperative_groups::memcpy_async".
std::string plainName(std::string_view function);

struct ApiFrame {
  std::string name;       ///< plain
  std::size_t frame = 0;  ///< of the stack: the function itself; its call is in the next one
};

/// The outermost function of the stack that is an asynchronous interface of the toolkit, of libcu++ or of CuTe.
std::optional<ApiFrame> findApi(const SourceStack& stack);

}  // namespace handoff::audit
