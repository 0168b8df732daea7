// SPDX-License-Identifier: Apache-2.0
// Reading the arguments of an encoding. Their order and their limits: <cuda.h>.
#include "analyzer/frontend/clang/encodings.h"

#include "analyzer/frontend/clang/fields.h"

namespace handoff::frontend {
namespace {

using clang::CallExpr;
using clang::QualType;

/// Positions of the arguments that matter.
struct Signature {
  unsigned count, box, strides, interleave, swizzle;
};
constexpr Signature kTiled{12, 6, 7, 8, 9};
constexpr Signature kIm2col{15, 8, 10, 11, 12};  // box: channels per pixel; then pixels per column

constexpr std::int64_t kMaxRank = 5, kMaxExtent = 256, kMaxIm2colExtent = 1024, kMaxStride = 8;

bool isPointerTo(QualType type, bool (*is_wanted)(QualType)) {
  type = type.getNonReferenceType();
  return type->isPointerType() && is_wanted(type->getPointeeType());
}

bool isMap(QualType type) { return isTensorMap(type->getAsRecordDecl()); }
bool isInteger(QualType type) { return type->isIntegralOrEnumerationType(); }

const Signature* signatureOf(const CallExpr* call) {
  if (llvm::isa<clang::CXXOperatorCallExpr>(call)) return nullptr;  // its first argument is the callee
  QualType type = call->getCallee()->IgnoreParenImpCasts()->getType();
  if (type->isPointerType()) type = type->getPointeeType();
  const auto* function = type->getAs<clang::FunctionProtoType>();
  if (function == nullptr || function->getNumParams() < 2 || call->getNumArgs() < function->getNumParams() ||
      !isPointerTo(function->getParamType(0), isMap) ||
      !isInteger(function->getParamType(1).getNonReferenceType()))
    return nullptr;
  const auto parameter = [&](unsigned index) { return function->getParamType(index); };
  if (function->getNumParams() == kTiled.count && isPointerTo(parameter(kTiled.box), isInteger) &&
      isPointerTo(parameter(kTiled.strides), isInteger))
    return &kTiled;
  if (function->getNumParams() == kIm2col.count && isInteger(parameter(kIm2col.box).getNonReferenceType()) &&
      isPointerTo(parameter(kIm2col.strides), isInteger))
    return &kIm2col;
  return nullptr;
}

/// By CUtensorMapDataType. The packed 4- and 6-bit types are left out: what a copy of them counts is not
/// specified.
std::uint32_t elementBytes(std::int64_t type) {
  constexpr std::array<std::uint32_t, 13> kBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < static_cast<std::int64_t>(kBytes.size()) ? kBytes[static_cast<std::size_t>(type)]
                                                                      : 0;
}

bool addExtent(std::vector<std::uint32_t>& out, const Folded& value, std::int64_t limit) {
  if (!value || *value < 1 || *value > limit) return false;
  out.push_back(static_cast<std::uint32_t>(*value));
  return true;
}

}  // namespace

bool isTensorMapEncoding(const CallExpr* call) { return signatureOf(call) != nullptr; }

std::optional<TensorMapFact> foldEncoding(Folder& folder, const CallExpr* call) {
  const Signature* signature = signatureOf(call);
  if (signature == nullptr) return std::nullopt;
  TensorMapFact fact;
  const Folded type = folder.integer(call->getArg(1)), rank = folder.integer(call->getArg(2));
  fact.element_bytes = type ? elementBytes(*type) : 0;
  if (fact.element_bytes == 0 || !rank || *rank < 1 || *rank > kMaxRank) return std::nullopt;
  if (signature == &kIm2col) {
    // Strides between pixels thin out what is read, not how many pixels arrive.
    fact.element_strides = {1, 1};
    for (const unsigned index : {signature->box, signature->box + 1})
      if (!addExtent(fact.box, folder.integer(call->getArg(index)), kMaxIm2colExtent)) return std::nullopt;
  } else {
    for (std::uint64_t d = 0; d < static_cast<std::uint64_t>(*rank); ++d)
      if (!addExtent(fact.box, folder.element(call->getArg(signature->box), d), kMaxExtent) ||
          !addExtent(fact.element_strides, folder.element(call->getArg(signature->strides), d), kMaxStride))
        return std::nullopt;
  }
  fact.interleave = folder.integer(call->getArg(signature->interleave));
  fact.swizzle = folder.integer(call->getArg(signature->swizzle));
  return fact;
}

}  // namespace handoff::frontend
