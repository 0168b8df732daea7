// SPDX-License-Identifier: Apache-2.0
// Classes with constructors in __shared__ memory.
#include <llvm/ADT/StringSet.h>

#include "analyzer/frontend/clang/hooks.h"

namespace handoff::frontend {

bool SharedClasses::isWanted(const clang::CXXRecordDecl& record) const {
  // libcu++'s synchronisation classes: users put them in shared memory all the time and initialise them by
  // hand.
  const bool is_library_name =
      llvm::StringSwitch<bool>(record.getName())
          .Cases({"barrier", "pipeline_shared_state", "atomic", "atomic_ref", "binary_semaphore"}, true)
          .Cases({"counting_semaphore", "latch", "__atomic_impl", "__barrier_base", "__pipeline_stage"}, true)
          .Default(false);
  if (!is_library_name && attempt_.applied.shared_records.empty()) return false;
  const std::string name = record.getQualifiedNameAsString();
  return (is_library_name && llvm::StringRef(name).starts_with("cuda::")) ||
         attempt_.applied.shared_records.count(name) != 0;
}

void SharedClasses::relax(clang::CXXMethodDecl* method) {
  if (method->isTrivial()) return;
  method->setTrivial(true);
  relaxed_.push_back(method);
}

void SharedClasses::relax(clang::TagDecl* tag) {
  auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(tag);
  if (record == nullptr || record->isDependentContext() || record->getIdentifier() == nullptr ||
      !isWanted(*record))
    return;
  if (attempt_.sema != nullptr) {
    // Implicit members are declared on demand; the flag can only be set on a declaration.
    if (record->needsImplicitDefaultConstructor()) attempt_.sema->LookupDefaultConstructor(record);
    attempt_.sema->LookupDestructor(record);
  }
  for (clang::CXXConstructorDecl* constructor : record->ctors())
    if (constructor->isDefaultConstructor()) relax(constructor);
  if (clang::CXXDestructorDecl* destructor = record->getDestructor()) relax(destructor);
}

void SharedClasses::restore() {
  for (clang::CXXMethodDecl* method : relaxed_) method->setTrivial(false);
  if (attempt_.sema == nullptr) return;
  for (clang::CXXMethodDecl* method : relaxed_) {
    // A use of a trivial defaulted member defines nothing, so what the parser skipped is made up for here.
    // (isDefined() is true of every defaulted member, with or without a body.)
    if (!method->isDefaulted() || method->isDeleted() || method->hasBody() || !method->isReferenced()) continue;
    if (auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(method))
      attempt_.sema->DefineImplicitDefaultConstructor(constructor->getLocation(), constructor);
    else if (auto* destructor = llvm::dyn_cast<clang::CXXDestructorDecl>(method))
      attempt_.sema->DefineImplicitDestructor(destructor->getLocation(), destructor);
  }
  // Members of class templates that only these bodies use.
  attempt_.sema->PerformPendingInstantiations();
  relaxed_.clear();
}

}  // namespace handoff::frontend
