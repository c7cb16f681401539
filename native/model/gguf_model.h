// A whole model out of GGUF: parts, family, tokenizer, identity.
#pragma once

#include <string>
#include <vector>

#include "model/gguf_parts.h"
#include "model/model_file.h"

namespace hearth {

/// Opens the model that `path` is (a part of). Errors as open_model.
ModelFile open_gguf_model(const std::string& path, const OpenOptions& options);
/// The same from parts at hand; they are moved into the model's owner.
ModelFile read_gguf_model(std::vector<GgufPart> parts, const OpenOptions& options);

}  // namespace hearth
