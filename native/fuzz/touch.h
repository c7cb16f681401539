// Shared by the fuzzers: reads both ends of every weight that a reader handed out, so that a view outside its memory
// is a finding, and writes seeds.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/model_file.h"

namespace hearth::fuzz {

inline volatile unsigned sink = 0;

inline void touch(const std::byte* data, uint64_t bytes) {
  if (bytes == 0) return;
  sink = sink + std::to_integer<unsigned>(data[0]) + std::to_integer<unsigned>(data[bytes - 1]);
}

inline void touch(const Matrix& m) {
  if (!m) return;
  for (uint32_t expert : {0u, m.experts - 1}) {
    for (uint32_t row : {0u, m.rows - 1}) {
      touch(m.begin(expert) + row * m.row_stride, row_bytes(m.type, m.cols));
      if (m.scales) touch(m.scales_begin(expert) + row * m.scale_row_stride, m.cols / 32);
    }
  }
}

inline void touch(const ModelFile& model) {
  touch(model.weights.embedding);
  touch(model.weights.output);
  for (const LayerWeights& layer : model.weights.layers) {
    for (const Matrix* m : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.router, &layer.gate, &layer.up, &layer.down})
      touch(*m);
  }
  for (const LayerSpec& layer : model.spec.layers) make_rope_table(layer.attention.rope, model.spec.context);
  check_whole(model);
}

/// Writes a seed into the folder that HEARTH_FUZZ_SEEDS names.
inline void seed(const std::string& name, const std::string& bytes) {
  const char* folder = std::getenv("HEARTH_FUZZ_SEEDS");
  if (!folder) return;
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << bytes;
}

}  // namespace hearth::fuzz
