// The files of a Hugging Face folder: which shards belong together, and the small texts beside them.
// It reads them; hf_model.h understands them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/mapped_file.h"
#include "model/safetensors.h"

namespace hearth {

struct HfShard {
  std::shared_ptr<const MappedFile> file;
  Safetensors safetensors;
};

/// What a folder holds, read but not understood. Texts are absent where the file is.
struct HfFolder {
  std::string path, name;
  std::vector<HfShard> shards;  // in name order
  std::optional<std::string> config, generation_config, tokenizer_config, chat_template;
  std::string tokenizer_json;  // path, or ""
  std::string license;         // of README.md's front matter, or ""
};

/// Reads a folder. `chosen`: name of a safetensors file in it that must be among the shards, or "".
/// Throws Error{file_not_found | bad_file | incomplete_model | unsupported_type}.
HfFolder read_hf_folder(const std::string& path, const std::string& chosen = "");

/// True when the folder holds config.json or safetensors files.
bool is_hf_folder(const std::string& path);

/// File names in the text of model.safetensors.index.json: its map tensor -> file may name plain files of the folder
/// only. Throws Error{bad_file}.
std::set<std::string> read_shard_index(const std::string& text, const std::string& name);

/// File names in a folder that end so, sorted.
std::vector<std::string> files_ending(const std::string& path, const std::string& end);

}  // namespace hearth
