// SPDX-License-Identifier: Apache-2.0
// A kernel's declaration: names, parameters taken apart, attributes.
#include "analyzer/frontend/clang/facts.h"
#include "analyzer/frontend/clang/fields.h"

namespace handoff::frontend {
namespace {

using clang::QualType;

/// Longer arrays (a tensor map's opaque words, tables) tell nothing element by element.
constexpr std::uint64_t kMaxElements = 16;
constexpr std::size_t kMaxLeaves = 256;

class Flattener {
 public:
  Flattener(clang::ASTContext& context, std::vector<Leaf>& out) : context_(context), out_(out) {}

  void add(QualType type, const Path& path, const std::string& name, std::uint64_t offset) {
    type = type.getCanonicalType();
    if (const clang::ConstantArrayType* array = context_.getAsConstantArrayType(type))
      if (array->getZExtSize() <= kMaxElements) return addElements(*array, path, name, offset);
    if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
        record != nullptr && isTransparent(*record))
      return addMembers(*record, path, name, offset);
    addScalar(type, path, name, offset);
  }

 private:
  static bool isTransparent(const clang::CXXRecordDecl& record) {
    if (!record.hasDefinition() || record.isUnion() || record.isInvalidDecl() || record.isPolymorphic() ||
        record.getNumVBases() != 0)
      return false;
    // A tensor map is one thing, not sixteen numbers.
    return !isTensorMap(&record);
  }

  void addElements(const clang::ConstantArrayType& array, const Path& path, const std::string& name,
                   std::uint64_t offset) {
    const std::uint64_t stride =
        static_cast<std::uint64_t>(context_.getTypeSizeInChars(array.getElementType()).getQuantity());
    for (std::uint64_t i = 0; i < array.getZExtSize() && out_.size() < kMaxLeaves; ++i) {
      Path longer = path;
      longer.push_back({nullptr, i});
      add(array.getElementType(), longer, name + "[" + std::to_string(i) + "]", offset + i * stride);
    }
  }

  void addMembers(const clang::CXXRecordDecl& record, const Path& path, const std::string& name,
                  std::uint64_t offset) {
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
    for (const clang::CXXBaseSpecifier& base : record.bases())
      if (const clang::CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl())
        add(base.getType(), path, name,
            offset + static_cast<std::uint64_t>(layout.getBaseClassOffset(parent).getQuantity()));
    for (const clang::FieldDecl* field : record.fields()) {
      if (field->isBitField() || field->isZeroSize(context_) || out_.size() >= kMaxLeaves) continue;
      Path longer = path;
      longer.push_back({field, 0});
      add(field->getType(), longer, name + "." + field->getNameAsString(),
          offset + layout.getFieldOffset(field->getFieldIndex()) / 8);
    }
  }

  void addScalar(QualType type, const Path& path, const std::string& name, std::uint64_t offset) {
    Leaf leaf{path, name, static_cast<std::uint32_t>(offset)};
    if (type->isReferenceType() || type->isPointerType()) {
      leaf.size = static_cast<std::uint32_t>(context_.getTypeSizeInChars(context_.VoidPtrTy).getQuantity());
      leaf.kind = ParamField::Kind::kPointer;
      const QualType pointee = type->getPointeeType();
      if (!pointee->isIncompleteType() && !pointee->isFunctionType() && !pointee->isVoidType())
        leaf.pointee_size = static_cast<std::uint32_t>(context_.getTypeSizeInChars(pointee).getQuantity());
      leaf.points_to_tensor_map = isTensorMap(pointee->getAsRecordDecl());
    } else {
      leaf.size = static_cast<std::uint32_t>(context_.getTypeSizeInChars(type).getQuantity());
      if (type->isIntegralOrEnumerationType())
        leaf.kind = ParamField::Kind::kInteger;
      else if (type->isRealFloatingType())
        leaf.kind = ParamField::Kind::kFloat;
      else if (isTensorMap(type->getAsRecordDecl()))
        leaf.kind = ParamField::Kind::kTensorMap;
      leaf.is_signed = type->isSignedIntegerOrEnumerationType();
    }
    out_.push_back(std::move(leaf));
  }

  clang::ASTContext& context_;
  std::vector<Leaf>& out_;
};

Folded constantOf(clang::ASTContext& context, const clang::Expr* expr) {
  clang::Expr::EvalResult result;
  if (expr == nullptr || expr->isValueDependent() || !expr->EvaluateAsInt(result, context))
    return std::nullopt;
  return result.Val.getInt().getExtValue();
}

std::string prettyName(clang::ASTContext& context, const clang::FunctionDecl& kernel) {
  clang::PrintingPolicy policy = context.getPrintingPolicy();
  policy.SuppressTagKeyword = true;
  policy.adjustForCPlusPlus();
  std::string text;
  llvm::raw_string_ostream out(text);
  kernel.getNameForDiagnostic(out, policy, /*Qualified=*/true);
  out << '(';
  for (unsigned i = 0; i < kernel.getNumParams(); ++i) {
    if (i != 0) out << ", ";
    kernel.getParamDecl(i)->getType().print(out, policy);
  }
  out << ')';
  return text;
}

}  // namespace

bool isTensorMap(const clang::RecordDecl* record) {
  return record != nullptr && (record->getName() == "CUtensorMap_st" || record->getName() == "CUtensorMap");
}

std::vector<Leaf> leavesOf(clang::ASTContext& context, QualType type) {
  std::vector<Leaf> leaves;
  if (!type->isDependentType() && !type->isIncompleteType()) Flattener(context, leaves).add(type, {}, "", 0);
  return leaves;
}

KernelDecl describeKernel(clang::ASTContext& context, const Attempt& attempt,
                          const clang::FunctionDecl& kernel) {
  KernelDecl decl;
  decl.name = mangledName(context, kernel);
  decl.pretty = prettyName(context, kernel);
  decl.pos = positionOf(context.getSourceManager(), attempt.paths, kernel.getLocation());
  for (unsigned i = 0; i < kernel.getNumParams(); ++i) {
    const clang::ParmVarDecl* parameter = kernel.getParamDecl(i);
    for (const Leaf& leaf : leavesOf(context, parameter->getType()))
      decl.fields.push_back({parameter->getNameAsString() + leaf.name, i, leaf.offset, leaf.size, leaf.kind,
                             leaf.is_signed, leaf.pointee_size});
  }
  if (const auto* bounds = kernel.getAttr<clang::CUDALaunchBoundsAttr>())
    decl.max_threads = constantOf(context, bounds->getMaxThreads());
  if (const auto* cluster = kernel.getAttr<clang::CUDAClusterDimsAttr>())
    decl.cluster_dims = {constantOf(context, cluster->getX()),
                         cluster->getY() != nullptr ? constantOf(context, cluster->getY()) : Folded(1),
                         cluster->getZ() != nullptr ? constantOf(context, cluster->getZ()) : Folded(1)};
  return decl;
}

}  // namespace handoff::frontend
