// Which reader a path is for; see model_file.h.
#include "model/model_file.h"

#include <cstring>
#include <filesystem>

#include "model/gguf_model.h"
#include "model/hf_model.h"
#include "model/mapped_file.h"
#include "model/paths.h"
#include "model/words.h"

namespace hearth {

namespace {

namespace fs = std::filesystem;

bool has_magic(const std::string& path) {
  auto file = MappedFile::open(path);
  return file->bytes().size() >= 4 && std::memcmp(file->bytes().data(), "GGUF", 4) == 0;
}

/// Two parts of one split model.
bool same_split(const std::string& a, const std::string& b) {
  return a.size() == b.size() && a.size() > 20 && a.compare(0, a.size() - 20, b, 0, b.size() - 20) == 0 &&
         a.compare(a.size() - 14, 14, b, b.size() - 14, 14) == 0 && a.compare(a.size() - 14, 4, "-of-") == 0;
}

/// A folder that is no Hugging Face model may hold one GGUF model, whole or split.
ModelFile open_folder(const std::string& path, const OpenOptions& options) {
  if (is_hf_folder(path)) return open_hf_folder(path, options);
  std::vector<std::string> models;
  for (const std::string& name : files_ending(path, ".gguf")) {
    if (name.starts_with("mmproj")) continue;  // an image encoder, no language model
    if (!models.empty() && same_split(models.back(), name)) continue;
    models.push_back(name);
  }
  if (models.empty()) fail(ErrorCode::file_not_found, "There is no model in the folder ", file_name(path));
  if (models.size() > 1) {
    fail(ErrorCode::bad_file, "The folder ", file_name(path), " holds several models: ", list_words(models, 4),
         "; choose one of them");
  }
  return open_gguf_model(utf8_of(path_of(path) / path_of(models.front())), options);
}

}  // namespace

ModelFile open_model(const std::string& path, const OpenOptions& options) {
  std::error_code error;
  fs::path where = path_of(path);
  if (!fs::exists(where, error)) fail(ErrorCode::file_not_found, "There is no file or folder ", file_name(path));
  if (fs::is_directory(where, error)) return open_folder(path, options);
  if (path.ends_with(".gguf") || has_magic(path)) return open_gguf_model(path, options);
  return open_hf_file(path, options);
}

void check_whole(const ModelFile& model) {
  for (const auto& file : model.files) file->check_whole();
}

}  // namespace hearth
