// A small gpt-oss-like model recorded straight onto a backend: two layers (window, full), sinks, experts, logits.
// For tests of what must hold over a whole step; real models are recorded by model/transformer.
#pragma once

#include <algorithm>
#include <map>

#include "test/backend_testing.h"

namespace hearth::testing {

struct MiniConfig {
  uint32_t hidden = 64, heads = 4, kv_heads = 2, head_dim = 16, inner = 96, experts = 6, k = 2, vocabulary = 50;
  uint32_t window = 24, block_size = 16, max_rows = 640, layers = 2;
  DType dense = DType::q8_0, moe = DType::mxfp4;
  uint32_t poisoned_token = ~0u;  // its embedding is NaN
};

/// The weights, made once and shared by all backends that are compared.
struct MiniWeights {
  MiniConfig config;
  struct Layer {
    std::unique_ptr<TestMatrix> q, k, v, o, router, gate, up, down;
    Floats norm1, norm2, bq, bk, bv, bo, br, bg, bu, bd, sinks;
  };
  std::unique_ptr<TestMatrix> embedding, output;
  Floats norm;
  std::vector<Layer> layers;

  explicit MiniWeights(const MiniConfig& c, uint32_t seed = 1) : config(c) {
    Random random(seed);
    const uint32_t qs = c.heads * c.head_dim, ks = c.kv_heads * c.head_dim;
    Floats table = random_floats(random, size_t(c.vocabulary) * c.hidden);
    if (c.poisoned_token < c.vocabulary) std::fill_n(&table[size_t(c.poisoned_token) * c.hidden], c.hidden, NAN);
    embedding = f32_matrix(std::move(table), c.vocabulary, c.hidden);
    output = make_matrix(random, c.dense, c.vocabulary, c.hidden);
    norm = random_floats(random, c.hidden, 0.2f);
    for (uint32_t l = 0; l < c.layers; ++l) {
      Layer y;
      y.q = make_matrix(random, c.dense, qs, c.hidden), y.k = make_matrix(random, c.dense, ks, c.hidden);
      y.v = make_matrix(random, c.dense, ks, c.hidden), y.o = make_matrix(random, c.dense, c.hidden, qs);
      y.router = make_matrix(random, DType::f32, c.experts, c.hidden);
      y.gate = make_matrix(random, c.moe, c.inner, c.hidden, c.experts), y.up = make_matrix(random, c.moe, c.inner, c.hidden, c.experts);
      y.down = make_matrix(random, c.moe, c.hidden, c.inner, c.experts);
      y.norm1 = random_floats(random, c.hidden, 0.3f), y.norm2 = random_floats(random, c.hidden, 0.1f);
      y.bq = random_floats(random, qs), y.bk = random_floats(random, ks), y.bv = random_floats(random, ks), y.bo = random_floats(random, c.hidden);
      y.br = random_floats(random, c.experts), y.bg = random_floats(random, size_t(c.experts) * c.inner);
      y.bu = random_floats(random, size_t(c.experts) * c.inner), y.bd = random_floats(random, size_t(c.experts) * c.hidden);
      y.sinks = random_floats(random, c.heads);
      layers.push_back(std::move(y));
    }
  }
};

class MiniModel {
 public:
  MiniModel(const MiniWeights& w, std::unique_ptr<Backend> b, uint32_t kv_blocks = 64) : backend(std::move(b)), config_(w.config) {
    const MiniConfig& c = w.config;
    auto weight = [&](const auto& m) { return backend->add_weight(m->view); };
    auto vector = [&](const Floats& v) { return backend->add_vector(v); };
    x_ = backend->add_buffer("residual", c.hidden, c.max_rows);
    const Buffer n = backend->add_buffer("normed", c.hidden, c.max_rows), q = backend->add_buffer("q", c.heads * c.head_dim, c.max_rows);
    const Buffer a = backend->add_buffer("attended", c.heads * c.head_dim, c.max_rows), inside = backend->add_buffer("inside", c.inner * c.k, c.max_rows);
    routes_ = backend->add_routes(c.k, c.max_rows);
    const Buffer last = backend->add_buffer("last", c.hidden, c.max_rows), normed = backend->add_buffer("last_normed", c.hidden, c.max_rows);
    logits_ = backend->add_buffer("logits", c.vocabulary, c.max_rows);
    RopeSpec spec;
    spec.dims = c.head_dim, spec.theta = 150000, spec.yarn = true, spec.yarn_factor = 32, spec.yarn_original_context = 4096;
    const RopeRef rope = backend->add_rope(make_rope_table(spec));
    ops_.push_back(Embed{weight(w.embedding), 1.0f, x_});
    for (uint32_t l = 0; l < c.layers; ++l) {
      const MiniWeights::Layer& y = w.layers[l];
      const uint32_t group = l % 2 == 0 ? 1 : 0, window = l % 2 == 0 ? c.window : 0;
      ops_.push_back(Norm{x_, vector(y.norm1), 1e-5f, n});
      ops_.push_back(QkvRopeStore{n, weight(y.q), weight(y.k), weight(y.v), vector(y.bq), vector(y.bk), vector(y.bv), rope, group, l / 2, c.heads, c.kv_heads, c.head_dim, q});
      ops_.push_back(Attention{q, vector(y.sinks), group, l / 2, c.heads, c.kv_heads, c.head_dim, window, 0.25f, a});
      ops_.push_back(LinearResidual{a, weight(y.o), vector(y.bo), x_});
      ops_.push_back(Norm{x_, vector(y.norm2), 1e-5f, n});
      ops_.push_back(Router{n, weight(y.router), vector(y.br), c.experts, c.k, l, routes_});
      ops_.push_back(ExpertsGateUp{n, routes_, weight(y.gate), weight(y.up), vector(y.bg), vector(y.bu), c.k, Activation::swiglu_oai, 1.702f, 7.0f, inside});
      ops_.push_back(ExpertsDown{inside, routes_, weight(y.down), vector(y.bd), c.k, x_});
    }
    ops_.push_back(SelectRows{x_, last});
    ops_.push_back(Norm{last, vector(w.norm), 1e-5f, normed});
    ops_.push_back(Logits{normed, weight(w.output), logits_});
    const uint32_t half = (c.layers + 1) / 2;
    backend->set_kv_shape({c.block_size, c.kv_heads, c.head_dim, {std::max(1u, c.layers / 2), half}});
    backend->resize_kv(kv_blocks);
  }

  /// Rows of a step: tokens of one sequence from position `first`; `blocks[g]` is its table of group g.
  struct Part {
    uint32_t first;
    std::vector<int32_t> tokens;
    std::vector<uint32_t> blocks[2];
  };

  /// Runs one step with logits of every row; false when it was given up.
  bool step(const std::vector<Part>& parts, const std::atomic<bool>* abandon = nullptr) {
    StepInputs in;
    in.sequences = static_cast<uint32_t>(parts.size()), in.groups = 2;
    for (uint32_t s = 0; s < parts.size(); ++s) {
      for (uint32_t i = 0; i < parts[s].tokens.size(); ++i) {
        in.output_rows.push_back(in.rows());
        in.tokens.push_back(parts[s].tokens[i]), in.positions.push_back(parts[s].first + i), in.sequence.push_back(s);
      }
      for (const auto& table : parts[s].blocks) {
        in.table_begin.push_back(static_cast<uint32_t>(in.blocks.size()));
        in.blocks.insert(in.blocks.end(), table.begin(), table.end());
      }
    }
    in.forced = forced;
    rows_ = in.rows();
    return backend->submit(ops_, in, abandon)->wait();
  }
  Floats logits() {
    Floats out(size_t(rows_) * config_.vocabulary);
    backend->read(logits_, 0, rows_, out.data());
    return out;
  }
  /// Logits of all rows of a prompt run in chunks on blocks base, base + 1, ... (groups interleaved).
  Floats prompt(const std::vector<int32_t>& tokens, uint32_t chunk, uint32_t base = 0) {
    Floats all;
    for (uint32_t first = 0; first < tokens.size(); first += chunk) {
      const uint32_t n = std::min<uint32_t>(chunk, static_cast<uint32_t>(tokens.size()) - first);
      step({part(tokens, first, n, base)});
      const Floats some = logits();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  /// Rows [first, first + n) of a sequence whose blocks are base + 2 i (group 0) and base + 2 i + 1 (group 1).
  Part part(const std::vector<int32_t>& tokens, uint32_t first, uint32_t n, uint32_t base) const {
    Part p{first, {tokens.begin() + first, tokens.begin() + first + n}, {}};
    for (uint32_t i = 0; i * config_.block_size < first + n; ++i) {
      const bool gone = (i + 1) * config_.block_size + config_.window <= first;  // the window reaches it no more
      p.blocks[0].push_back(base + 2 * i), p.blocks[1].push_back(gone ? null_block : base + 2 * i + 1);
    }
    return p;
  }

  std::unique_ptr<Backend> backend;
  ForcedRoutes forced;

 private:
  MiniConfig config_;
  OpList ops_;
  Buffer x_, routes_, logits_;
  uint32_t rows_ = 0;
};

inline std::vector<int32_t> some_tokens(uint32_t n, uint32_t below, uint32_t seed = 7) {
  Random random(seed);
  std::vector<int32_t> t(n);
  for (int32_t& v : t) v = static_cast<int32_t>(random() % below);
  return t;
}

}  // namespace hearth::testing
