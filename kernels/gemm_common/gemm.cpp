// SPDX-License-Identifier: Apache-2.0
// Random problems and their reference: products of bf16 values, accumulated in double.
#include "gemm_common/gemm.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace handoff::kernels {
namespace {

constexpr std::int64_t kFullCheckProducts = 400'000'000;  // beyond, elements are picked
constexpr int kPickedRows = 128, kPickedColumns = 256;
constexpr std::uint16_t kPoison = 0xffff;
constexpr double kTolerance =
    0x1p-8;  // bf16 rounds to 8 bits: half a unit is 2^-9, and the sum's own error is small

std::uint16_t bitsOfBf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

float floatOfBf16(std::uint16_t value) {
  const std::uint32_t bits = std::uint32_t{value} << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

/// Random bf16 values in [-1, 1), with all bits of the mantissa in use.
std::vector<float> randomBf16(std::size_t count, std::uint64_t seed) {
  std::vector<float> values = randomFloats(count, seed);
  for (float& value : values) value = floatOfBf16(bitsOfBf16(value));
  return values;
}

/// Rows of `columns` values, `stride` elements apart, as bf16 on the device; NaN in the gaps.
void upload(const DeviceBuffer<__nv_bfloat16>& buffer, const std::vector<float>& values, int columns,
            int stride) {
  std::vector<std::uint16_t> bits(buffer.size(), kPoison);
  const std::size_t rows = values.size() / static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < static_cast<std::size_t>(columns); ++i)
      bits[row * static_cast<std::size_t>(stride) + i] =
          bitsOfBf16(values[row * static_cast<std::size_t>(columns) + i]);
  require(cudaMemcpy(buffer.get(), bits.data(), bits.size() * sizeof bits[0], cudaMemcpyHostToDevice),
          "cudaMemcpy");
}

std::size_t area(int rows, int stride) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride);
}

int paddedStride(std::int64_t extent, int padding) {
  return static_cast<int>(divideUp(extent, 8) * 8) + padding;
}

GemmProblem sizesOf(const Shape& shape, int padding) {
  GemmProblem sizes;
  sizes.m = static_cast<int>(shape[0]);
  sizes.n = static_cast<int>(shape[1]);
  sizes.k = static_cast<int>(shape[2]);
  sizes.lda = sizes.ldb = paddedStride(shape[2], padding);
  sizes.ldc = paddedStride(shape[1], padding);
  return sizes;
}

}  // namespace

GemmData::GemmData(const Shape& shape, int padding, std::uint64_t seed)
    : sizes_(sizesOf(shape, padding)),
      seed_(seed),
      host_a_(randomBf16(area(sizes_.m, sizes_.k), seed)),
      host_b_(randomBf16(area(sizes_.n, sizes_.k), seed + 1)),
      a_(area(sizes_.m, sizes_.lda)),
      b_(area(sizes_.n, sizes_.ldb)),
      c_(area(sizes_.m, sizes_.ldc)) {
  upload(a_, host_a_, sizes_.k, sizes_.lda);
  upload(b_, host_b_, sizes_.k, sizes_.ldb);
}

GemmProblem GemmData::problem() const {
  GemmProblem problem = sizes_;
  problem.a = a_.get();
  problem.b = b_.get();
  problem.c = c_.get();
  return problem;
}

double GemmData::reference(int row, int column) const {
  const float* a = &host_a_[area(row, sizes_.k)];
  const float* b = &host_b_[area(column, sizes_.k)];
  constexpr int kLanes = 8;  // independent sums, for the sake of the host's vector units
  double sums[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= sizes_.k; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(a[i + lane]) * b[i + lane];
  for (; i < sizes_.k; ++i) sums[0] += static_cast<double>(a[i]) * b[i];
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

void GemmData::makeReference() {
  const bool is_full = std::int64_t{sizes_.m} * sizes_.n * sizes_.k <= kFullCheckProducts;
  Random random(seed_ + 2);
  const auto pick = [&](int extent, int count) {
    std::vector<int> picked;
    for (int i = 0; i < (is_full ? extent : count); ++i)
      picked.push_back(is_full ? i : static_cast<int>(random.bits() % static_cast<std::uint64_t>(extent)));
    return picked;
  };
  rows_ = pick(sizes_.m, kPickedRows);
  columns_ = pick(sizes_.n, kPickedColumns);
  want_.resize(rows_.size() * columns_.size());
  const std::size_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    threads.emplace_back([this, worker, workers] {
      for (std::size_t i = worker; i < want_.size(); i += workers)
        want_[i] = static_cast<float>(reference(rows_[i / columns_.size()], columns_[i % columns_.size()]));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void GemmData::check(Check& check, const GemmVariant& variant) {
  if (want_.empty()) makeReference();
  c_.poison();
  require(variant.launch(problem()), variant.name.c_str());
  const std::vector<__nv_bfloat16> result = c_.download();
  const auto* bits = reinterpret_cast<const std::uint16_t*>(result.data());
  const auto at = [&](int row, int column) {
    return bits[area(row, sizes_.ldc) + static_cast<std::size_t>(column)];
  };

  std::vector<float> got;
  for (const int row : rows_)
    for (const int column : columns_) got.push_back(floatOfBf16(at(row, column)));
  compare(check, variant.name.c_str(), got, want_, std::sqrt(sizes_.k) / 3);  // the deviation of such a sum

  // The poison inside the matrix is an element that was not written; anything else in the gaps is one too
  // many.
  for (int row = 0; row < sizes_.m; ++row) {
    for (int column = 0; column < sizes_.ldc; ++column) {
      const bool is_poison = at(row, column) == kPoison;
      if (is_poison == (column >= sizes_.n)) continue;
      check.max_relative_error = std::numeric_limits<double>::infinity();
      check.where = variant.name + ", row " + std::to_string(row) + ", column " + std::to_string(column) +
                    (is_poison ? " was not written" : " lies outside and was written");
      return;
    }
  }
}

std::vector<Shape> gemmShapes() {
  return {{1, 1, 1},         {1, 8, 16},        {7, 5, 3},          {16, 16, 16},       {33, 65, 17},
          {64, 256, 64},     {128, 256, 64},    {127, 255, 63},     {129, 257, 65},     {128, 256, 32},
          {128, 256, 200},   {256, 256, 256},   {255, 511, 129},    {257, 513, 320},    {300, 100, 1000},
          {1, 2000, 777},    {2000, 1, 777},    {384, 768, 512},    {512, 1024, 250},   {1000, 1000, 1000},
          {640, 1280, 2048}, {1111, 2222, 333}, {2048, 2048, 2048}, {3001, 2999, 1003}, {4096, 4096, 4096}};
}

Check checkGemm(const Shape& shape, std::uint64_t seed, const std::vector<GemmVariant>& variants) {
  Check check;
  check.tolerance = kTolerance;
  for (const int padding : {0, 24}) {
    GemmData data(shape, padding, seed + static_cast<std::uint64_t>(padding));
    for (const GemmVariant& variant : variants) data.check(check, variant);
  }
  return check;
}

Bench gemmBench(const Shape& shape) {
  const double m = static_cast<double>(shape[0]), n = static_cast<double>(shape[1]),
               k = static_cast<double>(shape[2]);
  Bench bench;
  bench.shape = shape;
  bench.bytes = 2 * (m * k + n * k + m * n);
  bench.flops = 2 * m * n * k;
  return bench;
}

void measureInTurn(Bench& bench, std::vector<Variant> variants) {
  constexpr int kWarmup = 3, kLaunches = 21;
  cudaEvent_t begin = nullptr, end = nullptr;
  require(cudaEventCreate(&begin), "cudaEventCreate");
  require(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<std::vector<double>> times(variants.size());
  for (int round = 0; round < kWarmup + kLaunches; ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      require(cudaEventRecord(begin), "cudaEventRecord");
      variants[i].launch();
      require(cudaEventRecord(end), "cudaEventRecord");
      require(cudaEventSynchronize(end), variants[i].name.c_str());
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
      if (round >= kWarmup) times[i].push_back(milliseconds);
    }
  }
  require(cudaEventDestroy(begin), "cudaEventDestroy");
  require(cudaEventDestroy(end), "cudaEventDestroy");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    const auto at = [&](double share) { return times[i][static_cast<std::size_t>(share * (kLaunches - 1))]; };
    variants[i].launch = nullptr;  // what it holds on to may go before the report is written
    bench.measured.push_back({std::move(variants[i]), {at(0.5), at(0.1), at(0.9), kLaunches}});
  }
}

}  // namespace handoff::kernels
