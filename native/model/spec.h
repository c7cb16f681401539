// ModelSpec: a model as plain data, read from its file. A new family is a new reader of this struct.
// It holds no weights and no code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/ops.h"
#include "backend/rope.h"

namespace hearth {

enum class AttentionKind { full, window };
enum class MlpKind { dense, moe };

struct AttentionSpec {
  AttentionKind kind = AttentionKind::full;
  uint32_t window = 0;                 // positions reached, the current one included; window kind only
  uint32_t group = 0;                  // index into ModelSpec::groups
  uint32_t layer_in_group = 0;
  bool sinks = false, qkv_bias = false, out_bias = false;
  bool qk_norm = false;                // each head of q and k is normed before rope
  double scale = 0.0;                  // of q.k
  RopeSpec rope;
};

struct MlpSpec {
  MlpKind kind = MlpKind::dense;
  Activation activation = Activation::silu;
  double swiglu_alpha = 1.702, swiglu_limit = 7.0;
  uint32_t intermediate = 0;
  bool bias = false;
  uint32_t experts = 0, experts_used = 0;  // moe: the best by (value desc, index asc)
  RouterSoftmax softmax = RouterSoftmax::chosen;
};

struct LayerSpec {
  AttentionSpec attention;
  MlpSpec mlp;
  bool post_norms = false;  // what attention and MLP add to the residual stream is normed first
};

/// Layers that share a block table: same attention reach, same KV shape.
struct LayerGroup {
  AttentionKind kind = AttentionKind::full;
  uint32_t window = 0;
  uint32_t layers = 0;
};

struct ModelSpec {
  std::string architecture, name, license;
  uint32_t hidden = 0, vocabulary = 0, context = 0;
  uint32_t heads = 0, kv_heads = 0, head_dim = 0;
  double norm_eps = 1e-5;
  double embedding_scale = 1.0;
  bool tied_embedding = false;
  std::vector<LayerGroup> groups;
  std::vector<LayerSpec> layers;
};

}  // namespace hearth
