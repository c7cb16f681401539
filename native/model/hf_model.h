// A whole model out of a Hugging Face folder: config.json, safetensors (sharded or not), tokenizer files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/mapped_file.h"
#include "model/model_file.h"
#include "model/safetensors.h"

namespace hearth {

struct HfShard {
  std::shared_ptr<const MappedFile> file;
  Safetensors safetensors;
};

/// What a folder holds, read but not understood. Texts are absent where the file is.
struct HfFolder {
  std::string path, name;
  std::vector<HfShard> shards;
  std::optional<std::string> config, generation_config, tokenizer_config, chat_template;
  std::string tokenizer_json;  // path, or ""
  std::string license;
};

/// Errors as open_model. A folder with exactly one GGUF model and no safetensors opens that.
ModelFile open_hf_folder(const std::string& path, const OpenOptions& options);
/// `path` names a file of such a folder.
ModelFile open_hf_file(const std::string& path, const OpenOptions& options);
ModelFile read_hf_model(const HfFolder& folder, const OpenOptions& options);

}  // namespace hearth
