// TokenizerData from the texts of a Hugging Face folder. The vocabulary itself stays in tokenizer.json.
#pragma once

#include <string>
#include <vector>

#include "hearth/probe.h"
#include "model/hf_config.h"
#include "model/hf_folder.h"

namespace hearth {

/// Damaged files beside the weights are warnings: a model without a template still answers.
TokenizerData read_hf_tokenizer(const HfFolder& folder, const HfConfig& config, std::vector<std::string>& warnings);

}  // namespace hearth
