// The one door to model files: opens GGUF (split or not) or a Hugging Face safetensors folder and hands out data.
// Bounds are checked before anything is believed; weights are mapped, never read here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/weights.h"
#include "hearth/probe.h"
#include "model/spec.h"

namespace hearth {

class MappedFile;

/// A whole model on disk. Views in `weights` point into mappings (or memory) that `owner` keeps alive.
struct ModelFile {
  ModelInfo info;
  ModelSpec spec;
  ModelWeights weights;
  TokenizerData tokenizer;
  std::vector<TensorInfo> tensors;
  std::vector<std::string> warnings;
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::shared_ptr<void> owner;
};

struct OpenOptions {
  bool yarn_truncate = false;
  bool tokenizer = true;  // false: leave TokenizerData empty (an engine load needs none)
  bool weights = true;    // false: spec and tensor list only
};

/// Opens and binds a model. Throws Error{file_not_found | bad_file | incomplete_model | unsupported_architecture |
/// unsupported_type}.
ModelFile open_model(const std::string& path, const OpenOptions& options = {});

/// Throws Error{bad_file} when a file behind the views became shorter since it was opened (missing pages then read as
/// zeros, see page_guard.h). One system call a file: ask before a step, and before its results are believed.
void check_whole(const ModelFile& model);

}  // namespace hearth
