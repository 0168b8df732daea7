// SPDX-License-Identifier: Apache-2.0
#include "analyzer/audit/api.h"

#include <gtest/gtest.h>

namespace handoff::audit {
namespace {

SourceStack stackOf(const std::vector<std::string>& functions) {
  SourceStack stack;
  for (const std::string& function : functions) stack.push_back({{"a.cu", 1, 1}, function});
  return stack;
}

TEST(PlainName, KeepsWhatUsersWrite) {
  EXPECT_EQ(plainName("__pipeline_memcpy_async"), "__pipeline_memcpy_async");
  EXPECT_EQ(plainName("cuda::ptx::cp_async_bulk"), "cuda::ptx::cp_async_bulk");
}

TEST(PlainName, DropsTemplateArgumentsAndParameters) {
  EXPECT_EQ(plainName("void cooperative_groups::memcpy_async<thread_block, int, (void*)0>(thread_block const&, int*)"),
            "cooperative_groups::memcpy_async");
  EXPECT_EQ(plainName("f<a<b>, c>::g<1>"), "f::g");
}

TEST(PlainName, DropsReservedNamespaces) {
  EXPECT_EQ(plainName("cooperative_groups::__v1::memcpy_async"), "cooperative_groups::memcpy_async");
  EXPECT_EQ(plainName("cuda::__4::memcpy_async"), "cuda::memcpy_async");
}

TEST(PlainName, DropsTheNamespaceOfInternalLinkage) {
  EXPECT_EQ(plainName("_INTERNAL_c886eaf_4_a_cu_46436ad2::__pipeline_memcpy_async"), "__pipeline_memcpy_async");
}

TEST(PlainName, ReadsSymbols) { EXPECT_EQ(plainName("_ZN4cuda3ptx13cp_async_bulkEPv"), "cuda::ptx::cp_async_bulk"); }

TEST(PlainName, DoesNotTakeAShortNameForASymbol) { EXPECT_EQ(plainName("f"), "f"); }

TEST(FindApi, NoneInAnOrdinaryStack) {
  EXPECT_FALSE(findApi(stackOf({"cp_async16", "fill", "kernel"})));
  EXPECT_FALSE(findApi({}));
}

TEST(FindApi, NameOfTheUserDoesNotCount) {
  EXPECT_FALSE(findApi(stackOf({"mine::memcpy_async", "kernel"})));
  EXPECT_FALSE(findApi(stackOf({"memcpy_async", "kernel"})));
}

TEST(FindApi, TakesTheOutermost) {
  const auto api = findApi(stackOf({"impl", "__pipeline_memcpy_async", "cooperative_groups::__v1::details::copy",
                                    "cooperative_groups::__v1::memcpy_async<thread_block>", "kernel"}));
  ASSERT_TRUE(api);
  EXPECT_EQ(api->name, "cooperative_groups::memcpy_async");
  EXPECT_EQ(api->frame, 3u);
}

TEST(FindApi, KnowsCopyAtoms) {
  const auto api = findApi(stackOf({"cute::SM80_CP_ASYNC_CACHEGLOBAL<float4, float4>::copy", "kernel"}));
  ASSERT_TRUE(api);
  EXPECT_EQ(api->name, "cute::SM80_CP_ASYNC_CACHEGLOBAL::copy");
}

}  // namespace
}  // namespace handoff::audit
