// Looking into model files without loading them: what a file is and what a token of context costs.
// Weights are not touched; devices are in devices.cpp.
#include "hearth/probe.h"

#include "model/model_file.h"

namespace hearth {

namespace {

/// Window layers stop growing, so at long contexts only full ones count. Keys and values, two bytes each (f16).
uint64_t kv_growth(const ModelSpec& spec) {
  uint64_t full = 0;
  for (const LayerGroup& group : spec.groups) {
    if (group.kind == AttentionKind::full) full += group.layers;
  }
  return full * spec.kv_heads * spec.head_dim * 2 * sizeof(uint16_t);
}

}  // namespace

Inspection inspect(const std::string& path) {
  OpenOptions options;
  options.weights = false;
  ModelFile file = open_model(path, options);
  Inspection out;
  out.kv_bytes_per_token = kv_growth(file.spec);
  out.model = std::move(file.info);
  out.tokenizer = std::move(file.tokenizer);
  out.tensors = std::move(file.tensors);
  out.warnings = std::move(file.warnings);
  return out;
}

ModelInfo identify(const std::string& path) {
  OpenOptions options;
  options.weights = false;
  options.tokenizer = false;
  return open_model(path, options).info;
}

}  // namespace hearth
