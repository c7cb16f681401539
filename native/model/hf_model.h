// A whole model out of a Hugging Face folder: family, tokenizer, identity.
#pragma once

#include <string>

#include "model/hf_folder.h"
#include "model/model_file.h"

namespace hearth {

/// Errors as open_model.
ModelFile open_hf_folder(const std::string& path, const OpenOptions& options);
/// `path` names a file of such a folder: a shard, config.json or the index.
ModelFile open_hf_file(const std::string& path, const OpenOptions& options);
/// From a folder that is read already.
ModelFile read_hf_model(const HfFolder& folder, const OpenOptions& options);

}  // namespace hearth
