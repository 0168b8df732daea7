// SPDX-License-Identifier: Apache-2.0
// Launches of what a function is given: one site for each of its callers.
#include <gmock/gmock.h>

#include "analyzer/frontend/clang/launches_for_test.h"

namespace handoff::frontend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<std::string> kernelsIn(const std::string& program) {
  std::vector<std::string> names;
  for (const LaunchSite& site : launchesOf(program)) names.push_back(site.kernel);
  return names;
}

/// "kernel grid block argument", the last one of parameter 1.
std::vector<std::string> summaries(const std::string& program) {
  const auto show = [](const Folded& value) { return value ? std::to_string(*value) : "?"; };
  std::vector<std::string> all;
  for (const LaunchSite& site : launchesOf(program))
    all.push_back(site.kernel + " " + show(site.grid[0]) + " " + show(site.block[0]) + " " +
                  show(argument(site, 1)));
  return all;
}

TEST(LaunchWrappers, ArgumentsOfTheCaller) {
  EXPECT_THAT(summaries("static void run(int n) { plain<<<(n + 127) / 128, 128>>>(d, n); }"
                        "void a() { run(256); } void b() { const int n = 500; run(n); }"),
              ElementsAre("_Z5plainPfi 2 128 256", "_Z5plainPfi 4 128 500"));
}

TEST(LaunchWrappers, CallersOfCallers) {
  EXPECT_THAT(summaries("static void inner(int n, int block) { plain<<<n / block, block>>>(d, n); }"
                        "static void outer(int n) { inner(n, 64); }"
                        "int main() { outer(640); outer(1280); }"),
              ElementsAre("_Z5plainPfi 10 64 640", "_Z5plainPfi 20 64 1280"));
}

TEST(LaunchWrappers, WhoeverElseMayCallIsASiteOfItsOwn) {
  const std::string run = "void run(int n) { plain<<<n, 128>>>(d, n); }";
  EXPECT_THAT(summaries(run + "void test() { run(4); }"),
              ElementsAre("_Z5plainPfi 4 128 4", "_Z5plainPfi ? 128 ?"));
  EXPECT_THAT(summaries(run + "int main() { run(4); }"), ElementsAre("_Z5plainPfi 4 128 4"))
      << "a program of one file has no other callers";
  EXPECT_THAT(summaries("static " + run + "void (*table[])(int) = {run}; int main() { run(4); }"),
              ElementsAre("_Z5plainPfi 4 128 4", "_Z5plainPfi ? 128 ?"))
      << "a function whose address is taken";
  EXPECT_THAT(summaries(run), ElementsAre("_Z5plainPfi ? 128 ?"));
}

TEST(LaunchWrappers, KernelAsAParameter) {
  EXPECT_THAT(kernelsIn("template <class K, class... A> void go(K kernel, dim3 grid, A... a) { "
                        "kernel<<<grid, 64>>>(a...); }"
                        "int main() { go(t<1>, 4, d); go(&t<2>, 8, d); go(plain, 8, d, 3); }"),
              UnorderedElementsAre("_Z1tILi1EEvPf", "_Z1tILi2EEvPf", "_Z5plainPfi"));
  EXPECT_THAT(summaries("static void go(void (*kernel)(float*, int), int n) { kernel<<<n, 64>>>(d, n); }"
                        "int main() { go(plain, 5); }"),
              ElementsAre("_Z5plainPfi 5 64 5"));
}

TEST(LaunchWrappers, ArgumentsThatAreForwarded) {
  const std::string forward =
      "namespace std { template <class T> T&& forward(T& t) { return static_cast<T&&>(t); } }"
      "template <class K, class... A> void go(K* kernel, dim3 grid, A&&... a) {"
      "  kernel<<<grid, 64>>>(std::forward<A>(a)...); }";
  EXPECT_THAT(summaries(forward + "int main() { int n = 7; dim3 grid(n); go(plain, grid, d, n); }"),
              ElementsAre("_Z5plainPfi 7 64 7"));
  EXPECT_THAT(summaries(forward + "void change(int& n) { n = 9; }"
                                  "int main() { int n = 7; change(n); go(plain, 2, d, n); }"),
              ElementsAre("_Z5plainPfi 2 64 ?"));
}

TEST(LaunchWrappers, KernelAsATemplateArgument) {
  EXPECT_THAT(kernelsIn("template <auto* kernel> void go(int n) { kernel<<<n, 64>>>(d); }"
                        "int main() { go<t<1>>(4); go<t<2>>(8); }"),
              UnorderedElementsAre("_Z1tILi1EEvPf", "_Z1tILi2EEvPf"));
}

TEST(LaunchWrappers, KernelsThatAreChosenAtRunTime) {
  for (const char* choice :
       {"auto kernel = argc > 1 ? t<1> : t<2>;", "auto kernel = t<1>; if (argc > 1) kernel = t<2>;",
        "void (*kernel)(float*); switch (argc) { case 1: kernel = t<1>; break; default: kernel = &t<2>; }",
        "void (*const all[])(float*) = {t<1>, t<2>}; auto kernel = all[argc];",
        "auto kernel = [&]() -> void (*)(float*) { if (argc > 1) return t<1>; return t<2>; }();"})
    EXPECT_THAT(
        kernelsIn("int main(int argc, char** argv) {" + std::string(choice) + "kernel<<<4, 64>>>(d); }"),
        UnorderedElementsAre("_Z1tILi1EEvPf", "_Z1tILi2EEvPf"))
        << choice;
}

TEST(LaunchWrappers, Lambdas) {
  EXPECT_THAT(summaries("int main() { int n = 4; auto go = [&](int block) { plain<<<n, block>>>(d, n); };"
                        "go(32); go(64); }"),
              ElementsAre("_Z5plainPfi 4 32 4", "_Z5plainPfi 4 64 4"));
  EXPECT_THAT(kernelsIn("int main() { auto go = [&](auto kernel, int n) { kernel<<<n, 32>>>(d); };"
                        "go(t<1>, 2); go(t<2>, 3); }"),
              UnorderedElementsAre("_Z1tILi1EEvPf", "_Z1tILi2EEvPf"));
  EXPECT_THAT(summaries("template <class F> void repeat(F f) { for (int i = 0; i < 3; ++i) f(); }"
                        "static void run(int n) { repeat([&] { plain<<<n, 64>>>(d, n); }); }"
                        "int main() { run(6); }"),
              ElementsAre("_Z5plainPfi 6 64 6"))
      << "called by another function";
  EXPECT_THAT(summaries("struct Later { template <class F> Later(F f) { static_cast<void>(f); } };"
                        "static void run(int n) { Later later([=] { plain<<<n, 64>>>(d, n); }); }"
                        "int main() { run(6); }"),
              ElementsAre("_Z5plainPfi 6 64 6"))
      << "called out of sight";
  EXPECT_THAT(summaries("int main() { int n = 4; auto set = [&] { n = 5; }; set();"
                        "auto go = [&] { plain<<<n, 64>>>(d, n); }; go(); }"),
              ElementsAre("_Z5plainPfi ? 64 ?"));
}

TEST(LaunchWrappers, ConfigurationAndArgumentsThatAreHandedOn) {
  const std::string wrappers =
      "static void go(const cudaLaunchConfig_t& config, const void* kernel, void** args) {"
      "  cudaLaunchKernelExC(&config, kernel, args); }"
      "static void start(dim3 grid, dim3 block, dim3 cluster, const void* kernel, void** args) {"
      "  cudaLaunchConfig_t config = {}; config.gridDim = grid; config.blockDim = block;"
      "  cudaLaunchAttribute attribute[1]; attribute[0].id = cudaLaunchAttributeClusterDimension;"
      "  attribute[0].val.clusterDim.x = cluster.x; attribute[0].val.clusterDim.y = cluster.y;"
      "  attribute[0].val.clusterDim.z = cluster.z; config.attrs = attribute; config.numAttrs = 1;"
      "  go(config, kernel, args); }";
  const LaunchSite site = launch(
      "int n = 12; void* args[] = {&d, &n}; start(dim3(8), dim3(96), dim3(2, 1, 1), (void*)plain, args);",
      wrappers);
  EXPECT_EQ(site.kernel, "_Z5plainPfi");
  EXPECT_EQ(site.grid, dims(8, 1, 1));
  EXPECT_EQ(site.block, dims(96, 1, 1));
  EXPECT_EQ(site.cluster, dims(2, 1, 1));
  EXPECT_EQ(argument(site, 1), 12);
}

TEST(LaunchWrappers, SitesArePlacedWhereTheKernelIsNamed) {
  const std::vector<LaunchSite> all = launchesOf(
      "\nstatic void go(void (*kernel)(float*, int), int n) {\n  kernel<<<n, 64>>>(d, n);\n}\n"
      "static void named(int n) {\n  plain<<<n, 32>>>(d, n);\n}\n"
      "int main() {\n  go(plain, 5);\n  named(6);\n}\n");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[1].pos.line - all[0].pos.line, -3u) << "a call of go() against the launch in named()";
}

TEST(LaunchWrappers, RecursionEnds) {
  EXPECT_THAT(launchesOf("static void run(int n) { plain<<<n, 64>>>(d, n); if (n > 1) run(n - 1); }"
                         "int main() { run(3); }"),
              testing::Not(IsEmpty()));
}

TEST(LaunchWrappers, StructsOfTheCaller) {
  const LaunchSite site = launch("Params p{}; p.rows = 40; p.inner.stride = 5; go(p);",
                                 "static void go(const Params& p) { k<<<p.rows / 8, 64>>>(d, p.rows, p); }");
  EXPECT_EQ(site.grid[0], 5);
  EXPECT_EQ(argument(site, 1), 40);
  EXPECT_EQ(argument(site, 2, 16), 5);
}

TEST(LaunchWrappers, StructsBehindPointers) {
  EXPECT_EQ(launch("Params p{}; p.rows = 40; go(&p);",
                   "static void go(const Params* p) { k<<<p->rows, 64>>>(d, p->rows, *p); }")
                .grid[0],
            40);
}

}  // namespace
}  // namespace handoff::frontend
