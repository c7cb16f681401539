// TokenizerData from the tokenizer.* keys of a GGUF file. It tokenizes nothing.
#pragma once

#include <string>
#include <vector>

#include "hearth/probe.h"
#include "model/gguf_meta.h"

namespace hearth {

/// Throws Error{bad_file} for keys of the wrong type or length; what is merely odd goes to `warnings`.
TokenizerData read_gguf_tokenizer(const GgufMeta& meta, std::vector<std::string>& warnings);

}  // namespace hearth
