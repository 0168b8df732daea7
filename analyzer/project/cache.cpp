// SPDX-License-Identifier: Apache-2.0
// Entries: the name of the format, a hash of the content, the content.
#include "analyzer/project/cache.h"

#include <fcntl.h>
#include <link.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace handoff::project {
namespace {

constexpr std::string_view kMagic = "handoff cache 1\n";
/// llvm::pruneCache looks at no other files.
constexpr std::string_view kPrefix = "llvmcache-";

/// The identifier that the linker gave to a loaded object.
std::string_view buildId(const dl_phdr_info& object) {
  constexpr ElfW(Word) kBuildId = 3;  // NT_GNU_BUILD_ID
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const content = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == kBuildId && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        return {content, note.n_descsz};
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return {};
}

int addObject(dl_phdr_info* object, std::size_t, void* context) {
  std::string& text = *static_cast<std::string*>(context);
  const std::string name = object->dlpi_name != nullptr ? object->dlpi_name : "";
  text += name + '\0';
  if (const std::string_view id = buildId(*object); !id.empty()) {
    text += id;
    return 0;
  }
  struct stat status{};
  if (stat(name.empty() ? "/proc/self/exe" : name.c_str(), &status) == 0)
    text += std::to_string(status.st_size) + "," + std::to_string(status.st_mtim.tv_sec) + "," +
            std::to_string(status.st_mtim.tv_nsec);
  return 0;
}

}  // namespace

Hash hashOf(std::string_view bytes) {
  return llvm::BLAKE3::hash<std::tuple_size_v<Hash>>(
      llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string toHex(const Hash& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : hash) text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  return text;
}

Hash hashOfProgram() {
  std::string objects;
  dl_iterate_phdr(addObject, &objects);
  return hashOf(objects);
}

std::string Cache::defaultFolder() {
  const char* const base = std::getenv("XDG_CACHE_HOME");
  if (base != nullptr && *base == '/') return std::string(base) + "/handoff";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/handoff" : "";
}

Cache::Cache(std::string folder) {
  if (folder.empty()) return;
  // For the user alone: reports hold lines of sources.
  const auto owner = llvm::sys::fs::perms::owner_all;
  std::error_code failed = llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true, owner);
  if (!failed && access(folder.c_str(), W_OK | X_OK) != 0)
    failed = std::error_code(errno, std::generic_category());
  if (failed)
    problem_ = failed.message();
  else
    folder_ = std::move(folder);
}

std::string Cache::pathOf(const Hash& key) const { return folder_ + "/" + std::string(kPrefix) + toHex(key); }

std::optional<std::string> Cache::read(const Hash& key) const {
  if (!isOn()) return std::nullopt;
  const std::string path = pathOf(key);
  const auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return std::nullopt;
  std::string_view text = (*buffer)->getBuffer();
  Hash hash{};
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + hash.size()) return std::nullopt;
  std::memcpy(hash.data(), text.data() + kMagic.size(), hash.size());
  text.remove_prefix(kMagic.size() + hash.size());
  if (hashOf(text) != hash) return std::nullopt;
  // File systems that are mounted to note no access would make pruning take what is used most.
  const timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  utimensat(AT_FDCWD, path.c_str(), now, 0);
  return std::string(text);
}

bool Cache::write(const Hash& key, std::string_view content) const {
  if (!isOn()) return false;
  auto file = llvm::sys::fs::TempFile::create(folder_ + "/" + std::string(kPrefix) + "%%%%%%%%.tmp",
                                              llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  const Hash hash = hashOf(content);
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << kMagic << llvm::StringRef(reinterpret_cast<const char*>(hash.data()), hash.size()) << content;
  stream.flush();
  const bool is_written = !stream.has_error();
  stream.clear_error();
  llvm::Error error = is_written ? file->keep(pathOf(key)) : file->discard();
  const bool is_kept = is_written && !error;
  llvm::consumeError(std::move(error));
  return is_kept;
}

void Cache::prune(std::uint64_t max_bytes, bool now) const {
  if (!isOn()) return;
  llvm::CachePruningPolicy policy;
  policy.Interval = now ? std::chrono::seconds(0) : std::chrono::seconds(20 * 60);
  policy.Expiration = std::chrono::hours(24 * 14);
  policy.MaxSizeBytes = max_bytes;
  policy.MaxSizePercentageOfAvailableSpace = 20;
  llvm::pruneCache(folder_, policy);
}

}  // namespace handoff::project
