// Mapping on POSIX and Windows; see mapped_file.h.
#include "model/mapped_file.h"

#include <cerrno>
#include <cstring>

#include "model/page_guard.h"
#include "model/paths.h"
#include "model/words.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace hearth {

std::shared_ptr<const MappedFile> MappedFile::from_memory(const std::string& name, std::vector<std::byte> bytes) {
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = name;
  file->name_ = file_name(name);
  file->memory_ = std::move(bytes);
  file->data_ = file->memory_.data();
  file->size_ = file->memory_.size();
  return file;
}

void MappedFile::check_whole() const {
  if (!still_whole()) {
    fail(ErrorCode::bad_file, name_, " became shorter on disk while it was open (it had ", size_,
         " bytes); load it again");
  }
}

#ifndef _WIN32

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->name_ = file_name(path);
  // O_NONBLOCK: a pipe under a model's name must not stop us here.
  file->file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->file_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) fail(ErrorCode::file_not_found, "There is no file ", file->name_);
    fail(ErrorCode::bad_file, file->name_, " cannot be opened: ", std::strerror(errno));
  }
  struct stat status = {};
  if (fstat(file->file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(ErrorCode::bad_file, file->name_, " is not a regular file");
  }
  file->size_ = static_cast<uint64_t>(status.st_size);
  if (file->size_ == 0) return file;
  void* data = mmap(nullptr, file->size_, PROT_READ, MAP_SHARED, file->file_, 0);
  if (data == MAP_FAILED) {
    throw Error(errno == ENOMEM ? ErrorCode::out_of_ram : ErrorCode::bad_file,
                say(file->name_, " cannot be mapped: ", std::strerror(errno)), file->size_);
  }
  file->data_ = static_cast<const std::byte*>(data);
  file->mapped_ = true;
  file->guard_ = guard_pages(data, file->size_);
  return file;
}

MappedFile::~MappedFile() {
  release_pages(guard_);
  if (mapped_) munmap(const_cast<std::byte*>(data_), size_);
  if (file_ >= 0) close(file_);
}

bool MappedFile::still_whole() const {
  if (!mapped_) return true;
  struct stat status = {};
  return !pages_lost(guard_) && fstat(file_, &status) == 0 && static_cast<uint64_t>(status.st_size) >= size_;
}

#else

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->name_ = file_name(path);
  std::wstring wide = path_of(path).wstring();
  // Shared deletion: a model in use can be replaced or deleted, the old bytes live until the unload.
  HANDLE handle = CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) {
      fail(ErrorCode::file_not_found, "There is no file ", file->name_);
    }
    if (error == ERROR_SHARING_VIOLATION)
      fail(ErrorCode::bad_file, file->name_, " is being written by another program");
    fail(ErrorCode::bad_file, file->name_, " cannot be opened: Windows error ", error);
  }
  file->file_ = handle;
  LARGE_INTEGER size = {};
  if (!GetFileSizeEx(handle, &size)) fail(ErrorCode::bad_file, file->name_, " has no size");
  file->size_ = static_cast<uint64_t>(size.QuadPart);
  if (file->size_ == 0) return file;
  HANDLE section = CreateFileMappingW(handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  void* data = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0) : nullptr;
  DWORD error = GetLastError();
  if (section) CloseHandle(section);  // the view keeps it
  if (!data) {
    throw Error(error == ERROR_NOT_ENOUGH_MEMORY ? ErrorCode::out_of_ram : ErrorCode::bad_file,
                say(file->name_, " cannot be mapped: Windows error ", error), file->size_);
  }
  file->data_ = static_cast<const std::byte*>(data);
  file->mapped_ = true;
  return file;
}

MappedFile::~MappedFile() {
  if (mapped_) UnmapViewOfFile(data_);
  if (file_) CloseHandle(file_);
}

bool MappedFile::still_whole() const {
  LARGE_INTEGER size = {};
  return !mapped_ || (GetFileSizeEx(file_, &size) && static_cast<uint64_t>(size.QuadPart) >= size_);
}

#endif

}  // namespace hearth
