// SPDX-License-Identifier: Apache-2.0
// Canonical layouts of matrix operands, and the spellings that say which part of them is read.
#include "analyzer/machine/matrix_operand.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <variant>

#include "analyzer/ptx/decode.h"

namespace handoff::machine {

namespace {

using ptx::Operand;

/// Layouts are made of chunks of this many bytes, which no swizzle tears apart.
constexpr unsigned kChunk = 16;

/// XORs `bits` address bits from `to` up with those from bit 7 up.
struct Swizzle {
  unsigned bits = 0;
  unsigned to = 4;
  unsigned row_chunks = 1;   ///< chunks in one row of the atom
  unsigned mn_k_period = 8;  ///< K values of one atom, MN-major

  std::uint64_t apply(std::uint64_t address, unsigned base_offset) const {
    const std::uint64_t phase = ((address >> 7) - base_offset) & ((1u << bits) - 1);
    return address ^ (phase << to);
  }
};

constexpr Swizzle kNoSwizzle{};
constexpr Swizzle kSwizzle32{.bits = 1, .row_chunks = 2};
constexpr Swizzle kSwizzle64{.bits = 2, .row_chunks = 4};
constexpr Swizzle kSwizzle128{.bits = 3, .row_chunks = 8};
constexpr Swizzle kSwizzle128Base32{.bits = 2, .to = 5, .row_chunks = 8, .mn_k_period = 4};

struct Layout {
  std::uint64_t start = 0;    ///< bytes, like the strides
  std::uint64_t leading = 0;  ///< "leading dimension byte offset"
  std::uint64_t stride = 0;   ///< "stride dimension byte offset"
  unsigned base_offset = 0;   ///< place of `start`'s pattern in a 1024-byte unit, in 128 bytes
  Swizzle swizzle;
};

constexpr std::uint64_t field(std::uint64_t word, unsigned first, unsigned count) {
  return (word >> first) & ((std::uint64_t{1} << count) - 1);
}

// The fields that both generations share hold bits 4 to 17 of a byte count.
Layout commonFields(std::uint64_t descriptor, const Swizzle& swizzle) {
  return {.start = field(descriptor, 0, 14) * kChunk,
          .leading = field(descriptor, 16, 14) * kChunk,
          .stride = field(descriptor, 32, 14) * kChunk,
          .base_offset = static_cast<unsigned>(field(descriptor, 49, 3)),
          .swizzle = swizzle};
}

std::vector<std::uint64_t> kMajorChunks(const Layout& layout, const MatrixShape& shape) {
  const unsigned width = layout.swizzle.row_chunks;
  const unsigned chunks = shape.k_bytes / kChunk;
  // Chunks that follow each other; then comes the leading offset. Rows of 64 and 128 bytes are never left that way: the
  // step along K is in the start address. Rows of 32 bytes are by a sparse B, whose K is twice as long (seen on sm_90).
  const unsigned adjacent = width > 2 ? chunks : width;
  std::vector<std::uint64_t> addresses;
  addresses.reserve(std::size_t{shape.rows} * chunks);
  for (unsigned row = 0; row < shape.rows; ++row) {
    const std::uint64_t begin = layout.start + (row / 8) * layout.stride + (row % 8) * width * kChunk;
    for (unsigned c = 0; c < chunks; ++c) {
      addresses.push_back(begin + (c / adjacent) * layout.leading + (c % adjacent) * kChunk);
    }
  }
  return addresses;
}

std::vector<std::uint64_t> mnMajorChunks(const Layout& layout, const MatrixShape& shape) {
  const unsigned width = layout.swizzle.row_chunks;
  const unsigned period = layout.swizzle.mn_k_period;
  const unsigned per_chunk = kChunk / shape.element_bytes;
  const unsigned chunks = (shape.rows + per_chunk - 1) / per_chunk;
  const unsigned depth = shape.k_bytes / shape.element_bytes;
  // Without a swizzle the two offsets change their roles.
  const bool is_swizzled = layout.swizzle.bits != 0;
  const std::uint64_t along_mn = is_swizzled ? layout.leading : layout.stride;
  const std::uint64_t along_k = is_swizzled ? layout.stride : layout.leading;
  std::vector<std::uint64_t> addresses;
  addresses.reserve(std::size_t{chunks} * depth);
  for (unsigned k = 0; k < depth; ++k) {
    const std::uint64_t begin = layout.start + (k / period) * along_k + (k % period) * width * kChunk;
    for (unsigned c = 0; c < chunks; ++c) {
      addresses.push_back(begin + (c / width) * along_mn + (c % width) * kChunk);
    }
  }
  return addresses;
}

std::vector<ByteRange> rangesOf(const Layout& layout, const MatrixShape& shape) {
  if (shape.is_mn_major && shape.element_bytes == 0) return {};
  std::vector<std::uint64_t> chunks =
      shape.is_mn_major ? mnMajorChunks(layout, shape) : kMajorChunks(layout, shape);
  for (std::uint64_t& address : chunks) address = layout.swizzle.apply(address, layout.base_offset);
  std::ranges::sort(chunks);
  std::vector<ByteRange> ranges;
  for (const std::uint64_t address : chunks) {
    const std::uint64_t end = ranges.empty() ? 0 : ranges.back().address + ranges.back().bytes;
    if (ranges.empty() || address > end) {
      ranges.push_back({.address = address, .bytes = kChunk});
    } else if (address == end) {
      ranges.back().bytes += kChunk;
    }  // else: strides so small that the rows repeat
  }
  return ranges;
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

struct WgmmaShape {
  unsigned n = 0, k = 0;
};

// "m64n256k16"
std::optional<WgmmaShape> wgmmaShape(std::string_view word) {
  constexpr std::string_view kRows = "m64n";
  const std::size_t at_k = word.find('k');
  if (!word.starts_with(kRows) || at_k == std::string_view::npos) return std::nullopt;
  const std::optional<unsigned> n = number(word.substr(kRows.size(), at_k - kRows.size()));
  const std::optional<unsigned> k = number(word.substr(at_k + 1));
  if (!n || !k) return std::nullopt;
  return WgmmaShape{.n = *n, .k = *k};
}

unsigned elementBits(std::string_view type) {
  constexpr struct {
    std::string_view name;
    unsigned bits;
  } kTypes[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"s8", 8}, {"u8", 8}, {"b1", 1}};
  const auto* row = std::ranges::find_if(kTypes, [&](const auto& t) { return t.name == type; });
  return row == std::end(kTypes) ? 0 : row->bits;
}

// The word that has this prefix, without it.
std::string_view suffixOf(const ptx::Decoded& decoded, std::string_view prefix) {
  for (const std::string& word : decoded.modifiers) {
    if (word.starts_with(prefix)) return std::string_view(word).substr(prefix.size());
  }
  return {};
}

}  // namespace

std::vector<ByteRange> wgmmaOperandRanges(std::uint64_t descriptor, const MatrixShape& shape) {
  constexpr Swizzle kModes[] = {kNoSwizzle, kSwizzle128, kSwizzle64, kSwizzle32};
  return rangesOf(commonFields(descriptor, kModes[field(descriptor, 62, 2)]), shape);
}

std::vector<ByteRange> tcgen05OperandRanges(std::uint64_t descriptor, const MatrixShape& shape) {
  // Bit 52 makes the leading offset an address, for rows of 48 bytes.
  if (field(descriptor, 52, 1) != 0) return {};
  switch (field(descriptor, 61, 3)) {
    case 0: return rangesOf(commonFields(descriptor, kNoSwizzle), shape);
    case 1: return rangesOf(commonFields(descriptor, kSwizzle128Base32), shape);
    case 2: return rangesOf(commonFields(descriptor, kSwizzle128), shape);
    case 4: return rangesOf(commonFields(descriptor, kSwizzle64), shape);
    case 6: return rangesOf(commonFields(descriptor, kSwizzle32), shape);
    default: return {};
  }
}

std::optional<WgmmaForm> wgmmaForm(const ptx::Instruction& instruction) {
  const ptx::Decoded& decoded = *instruction.decoded;
  const auto* wgmma = std::get_if<ptx::Wgmma>(&decoded.effect);
  if (wgmma == nullptr || wgmma->op != ptx::WgmmaOp::kMma) return std::nullopt;
  // ...{.shape}{.dtype}{.atype}{.btype}...
  const auto& words = decoded.modifiers;
  const auto shape_word =
      std::ranges::find_if(words, [](const std::string& word) { return wgmmaShape(word).has_value(); });
  if (words.end() - shape_word < 4) return std::nullopt;
  const WgmmaShape shape = *wgmmaShape(*shape_word);
  const unsigned bits = elementBits(shape_word[2]);
  if (bits == 0 || instruction.operands.size() < 3) return std::nullopt;

  WgmmaForm form{.n = shape.n, .k = shape.k};
  form.is_sparse = decoded.has("sp") || decoded.has("sp::ordered_metadata");
  form.is_a_in_registers = instruction.operands[WgmmaForm::kA].kind == Operand::Kind::kVector;
  const unsigned element_bytes = std::max(bits / 8, 1u);
  const unsigned k_bytes = shape.k * bits / 8;
  // Of a sparse A only half is stored.
  form.a = {.rows = 64, .k_bytes = form.is_sparse ? k_bytes / 2 : k_bytes, .element_bytes = element_bytes};
  form.b = {.rows = shape.n, .k_bytes = k_bytes, .element_bytes = element_bytes};
  if (bits != 16) return form;
  // d, a, b, {metadata, selector, }scale-d, scale-a, scale-b, {trans-a, }trans-b
  const unsigned first = form.is_sparse ? 8 : 6;
  const std::size_t count = first + (form.is_a_in_registers ? 1 : 2);
  if (instruction.operands.size() != count) return std::nullopt;
  for (std::size_t i = first; i < count; ++i) {
    if (instruction.operands[i].kind != Operand::Kind::kImmediate) return std::nullopt;
  }
  form.a.is_mn_major = !form.is_a_in_registers && instruction.operands[first].imm != 0;
  form.b.is_mn_major = instruction.operands[count - 1].imm != 0;
  return form;
}

std::optional<Tcgen05MmaForm> tcgen05MmaForm(const ptx::Instruction& instruction) {
  const ptx::Decoded& decoded = *instruction.decoded;
  const auto* tcgen05 = std::get_if<ptx::Tcgen05>(&decoded.effect);
  if (tcgen05 == nullptr || tcgen05->op != ptx::Tcgen05Op::kMma) return std::nullopt;
  Tcgen05MmaForm form{.ctas = decoded.has("cta_group::2") ? 2u : 1u, .is_sparse = decoded.has("sp")};
  form.idesc = form.is_sparse ? 4 : 3;
  if (instruction.operands.size() <= form.idesc) return std::nullopt;
  form.is_a_in_tensor_memory = instruction.operands[Tcgen05MmaForm::kA].kind == Operand::Kind::kAddress;
  const std::string_view kind = suffixOf(decoded, "kind::");
  if (kind.empty()) return std::nullopt;
  form.element_bytes = kind == "f16" ? 2 : kind == "tf32" ? 4 : 1;
  form.is_packed_fp4 = kind == "mxf4" || kind == "mxf4nvf4";
  return form;
}

std::optional<MmaShapes> tcgen05MmaShapes(const Tcgen05MmaForm& form, std::uint32_t idesc) {
  const auto n = static_cast<unsigned>(field(idesc, 17, 6) * 8);
  const auto m = static_cast<unsigned>(field(idesc, 24, 5) * 16);
  if (m == 0 || n == 0 || n > 256 || m > 256 || m % form.ctas != 0 || n % form.ctas != 0) return std::nullopt;
  // Elements narrower than a byte fill one each, except packed ones; so every dense row has the same length.
  const unsigned stored = form.is_packed_fp4 && field(idesc, 31, 1) != 0 ? 48 : 32;
  MmaShapes shapes;
  shapes.a = {.rows = m / form.ctas,
              .k_bytes = stored,
              .element_bytes = form.element_bytes,
              .is_mn_major = field(idesc, 15, 1) != 0};
  shapes.b = {.rows = n / form.ctas,
              .k_bytes = form.is_sparse ? 2 * stored : stored,
              .element_bytes = form.element_bytes,
              .is_mn_major = field(idesc, 16, 1) != 0};
  return shapes;
}

std::optional<MatrixShape> tcgen05CopyShape(const ptx::Instruction& instruction) {
  const ptx::Decoded& decoded = *instruction.decoded;
  const auto* tcgen05 = std::get_if<ptx::Tcgen05>(&decoded.effect);
  if (tcgen05 == nullptr || tcgen05->op != ptx::Tcgen05Op::kCp) return std::nullopt;
  // "128x256b": rows and bits. Formats that are unpacked on the way take as many bytes before as after.
  for (const std::string& word : decoded.modifiers) {
    const std::string_view text = word;
    const std::size_t by = text.find('x');
    if (by == std::string_view::npos || !text.ends_with('b')) continue;
    const std::optional<unsigned> rows = number(text.substr(0, by));
    const std::optional<unsigned> bits = number(text.substr(by + 1, text.size() - by - 2));
    if (rows && bits) return MatrixShape{.rows = *rows, .k_bytes = *bits / 8, .element_bytes = 1};
  }
  return std::nullopt;
}

}  // namespace handoff::machine
