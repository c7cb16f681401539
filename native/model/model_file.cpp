// Which reader a path is for; see model_file.h.
#include "model/model_file.h"

#include <cstring>
#include <filesystem>

#include "model/gguf_model.h"
#include "model/hf_model.h"
#include "model/mapped_file.h"
#include "model/words.h"

namespace hearth {

namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool has_magic(const std::string& path) {
  auto file = MappedFile::open(path);
  return file->bytes().size() >= 4 && std::memcmp(file->bytes().data(), "GGUF", 4) == 0;
}

}  // namespace

ModelFile open_model(const std::string& path, const OpenOptions& options) {
  std::error_code error;
  fs::path where = fs::u8path(path);
  if (!fs::exists(where, error)) fail(ErrorCode::file_not_found, "There is no file or folder ", file_name(path));
  if (fs::is_directory(where, error)) return open_hf_folder(path, options);
  if (ends_with(path, ".gguf") || has_magic(path)) return open_gguf_model(path, options);
  return open_hf_file(path, options);
}

void check_whole(const ModelFile& model) {
  for (const auto& file : model.files) file->check_whole();
}

}  // namespace hearth
