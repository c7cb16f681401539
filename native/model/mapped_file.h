// One file of a model, mapped read-only. It knows its size from the moment of opening and notices when the file
// shrinks under it. It interprets no byte, and offers no writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hearth {

class MappedFile {
 public:
  /// Maps a regular file whole. Throws Error{file_not_found | bad_file | out_of_ram}.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  /// Bytes in memory under a name, for tests and fuzzers.
  static std::shared_ptr<const MappedFile> from_memory(const std::string& name, std::vector<std::byte> bytes);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /// File name, fit for messages.
  const std::string& name() const { return name_; }

  /// False once the file on disk is shorter than it was, or a page of it could not be read. One system call.
  bool still_whole() const;
  /// Throws Error{bad_file} when not still_whole().
  void check_whole() const;

 private:
  MappedFile() = default;

  std::string path_, name_;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  std::vector<std::byte> memory_;
  bool mapped_ = false;
  int guard_ = -1;  // slot of the page guard (POSIX)
#ifdef _WIN32
  void* file_ = nullptr;
#else
  int file_ = -1;
#endif
};

}  // namespace hearth
