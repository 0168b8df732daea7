// SPDX-License-Identifier: Apache-2.0
#include "analyzer/support/json.h"

#include <gtest/gtest.h>

namespace handoff::json {
namespace {

TEST(Json, PrintsWhatItParses) {
  Value value;
  value.set("name", "a \"b\"\n\x01");
  value.set("count", 3);
  value.set("rate", 0.5);
  value.set("none", Value());
  value.set("is", true);
  value.set("box", Array{1, 2, 3});
  value.set("list", Array{Object{{"x", -1}}, "y"});
  const std::string text = print(value);
  const Result<Value> again = parse(text, "t.json");
  ASSERT_TRUE(again) << toString(again.error());
  EXPECT_EQ(print(*again), text);
  EXPECT_EQ((*again)["name"].text(), "a \"b\"\n\x01");
  EXPECT_EQ((*again)["list"].array()[0]["x"].integer(), -1);
  EXPECT_TRUE((*again)["absent"]["deeper"].isNull());
}

TEST(Json, ErrorsHaveAPosition) {
  for (const char* text :
       {"", "{", "[1,", "{\"a\" 1}", "\"abc", "tru", "[1] 2", "{a:1}", "\"\\u12\"", "\"\\q\""}) {
    EXPECT_FALSE(parse(text, "t.json")) << text;
  }
  const Result<Value> bad = parse("{\n  \"a\": ?\n}", "t.json");
  ASSERT_FALSE(bad);
  EXPECT_EQ(toString(bad.error()), "t.json:2:8: error: this is no value");
  EXPECT_FALSE(parse(std::string(200, '['), "t.json"));
}

TEST(Json, MissingFileIsAnError) { EXPECT_FALSE(read("/nowhere/at/all.json")); }

}  // namespace
}  // namespace handoff::json
