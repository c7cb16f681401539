// Failures prevented: a GGUF file of a known family read with a window, rotation, scale or choice of experts that its
// model does not have; a key that changes the mathematics passed over.
#include <gtest/gtest.h>

#include <cmath>

#include "model/model_file.h"
#include "test/make/decoders.h"
#include "test/make/expect_error.h"

namespace hearth {
namespace {

using namespace make;

class GgufFamily : public ::testing::Test {
 protected:
  make::Gguf whole(const std::string& architecture, const DecoderSize& size = {}) {
    make::Gguf g = decoder_keys(architecture, size);
    return decoder_tensors(g, architecture, size);
  }
  ModelFile open(const make::Gguf& g) { return open_model(folder.write("m.gguf", g.bytes())); }
  std::string kinds(const make::Gguf& g) {
    std::string out;
    for (const LayerSpec& layer : open(g).spec.layers) out += layer.attention.kind == AttentionKind::window ? 'w' : 'f';
    return out;
  }
  TempFolder folder;
};

TEST_F(GgufFamily, EveryFamilyOpensAndUsesAllItsTensors) {
  for (const char* name : {"llama", "mistral3", "qwen2", "qwen3", "qwen3moe", "gemma3", "phi3", "smollm3"}) {
    SCOPED_TRACE(name);
    ModelFile m = open(whole(name));
    EXPECT_EQ(m.info.architecture, name);
    EXPECT_EQ(m.warnings, std::vector<std::string>{"The file has no tokenizer"});
    EXPECT_EQ(m.weights.layers[0].q.rows, 16u);
    EXPECT_EQ(m.weights.layers[0].up.rows, 64u);
    EXPECT_EQ(m.spec.layers[0].mlp.experts, name == std::string("qwen3moe") ? 4u : 0u);
  }
}

TEST_F(GgufFamily, WindowsAreWhereTheModelsHaveThem) {
  auto with = [&](const std::string& name, uint32_t layers) {
    return whole(name, {.layers = layers}).u32(name + ".attention.sliding_window", 128);
  };
  EXPECT_EQ(kinds(with("gemma3", 7)), "wwwwwfw");
  EXPECT_EQ(kinds(with("llama", 2)), "ww") << "Mistral 7B";
  EXPECT_EQ(kinds(with("phi3", 2)), "ww");
  EXPECT_EQ(kinds(with("qwen2", 2)), "ff") << "published models do not use the window that their configs name";
  EXPECT_EQ(kinds(with("qwen2", 2).array<uint8_t>("qwen2.attention.sliding_window_pattern", BOOL, {0, 1})), "fw");
  EXPECT_EQ(kinds(with("gemma3", 4).u32("gemma3.attention.sliding_window_pattern", 2)), "wfwf");
  EXPECT_EQ(kinds(whole("phi3")), "w") << "files older than the key, context 4096";
  EXPECT_EQ(kinds(whole("phi3").u32("phi3.attention.sliding_window", 0)), "f");
  EXPECT_EQ(kinds(whole("llama").u32("llama.attention.sliding_window", 4096)), "f") << "nothing leaves it";
}

TEST_F(GgufFamily, Gemma3RotatesWindowsPlainlyAndScalesByItsSize) {
  make::Gguf g = whole("gemma3", {.layers = 6}).u32("gemma3.attention.sliding_window", 128);
  g.str("gemma3.rope.scaling.type", "linear").f32("gemma3.rope.scaling.factor", 8.0f);
  ModelFile m = open(g);
  EXPECT_EQ(m.spec.layers[0].attention.rope.theta, 1e4);
  EXPECT_EQ(m.spec.layers[0].attention.rope.linear_factor, 1.0);
  EXPECT_EQ(m.spec.layers[5].attention.rope.theta, 1e6);
  EXPECT_EQ(m.spec.layers[5].attention.rope.linear_factor, 8.0);
  EXPECT_EQ(m.spec.layers[0].mlp.activation, Activation::gelu_tanh);
  EXPECT_TRUE(m.spec.layers[0].post_norms);
  EXPECT_DOUBLE_EQ(m.spec.embedding_scale, std::sqrt(32.0));
  EXPECT_DOUBLE_EQ(m.spec.layers[0].attention.scale, 1 / std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(open(whole("gemma3", {.layers = 62})).spec.layers[0].attention.scale, 1 / std::sqrt(16.0));
}

TEST_F(GgufFamily, SmolLm3LeavesEveryFourthLayerUnrotated) {
  std::string rotated;
  for (const LayerSpec& layer : open(whole("smollm3", {.layers = 5})).spec.layers) {
    rotated += layer.attention.rope.layout == RopeLayout::none ? '-' : 'r';
  }
  EXPECT_EQ(rotated, "rrr-r");
}

TEST_F(GgufFamily, Phi3SplitsWhatItsFileFuses) {
  ModelFile m = open(whole("phi3"));
  const LayerWeights& layer = m.weights.layers[0];
  EXPECT_EQ(layer.k.data, layer.q.data + 16 * layer.q.row_stride);
  EXPECT_EQ(layer.v.data, layer.q.data + 24 * layer.q.row_stride);
  EXPECT_EQ(layer.up.data, layer.gate.data + 64 * layer.gate.row_stride);
}

TEST_F(GgufFamily, LongRopeIsReadFromItsTensors) {
  auto factors = [](float last) { return raw(1.0f) + raw(1.0f) + raw(2.0f) + raw(last); };
  make::Gguf g = whole("phi3").u32("phi3.rope.scaling.original_context_length", 256);
  g.tensor("rope_factors_short.weight", {4}, T_F32, factors(3)).tensor("rope_factors_long.weight", {4}, T_F32, factors(9));
  const RopeSpec rope = open(g).spec.layers[0].attention.rope;
  EXPECT_EQ(rope.frequency_divisors, (std::vector<float>{1, 1, 2, 3}));
  EXPECT_EQ(rope.long_divisors, (std::vector<float>{1, 1, 2, 9}));
  EXPECT_EQ(rope.short_context, 256u);
  EXPECT_NEAR(rope.attention_factor, std::sqrt(1 + std::log(16.0) / std::log(256.0)), 1e-9);
  make::Gguf stated = g;
  EXPECT_NEAR(open(stated.f32("phi3.rope.scaling.attn_factor", 1.5f)).spec.layers[0].attention.rope.attention_factor, 1.5, 1e-6);
  make::Gguf yarn = g;
  EXPECT_ERROR(ErrorCode::unsupported_architecture, "rope_factors_long", open(yarn.str("phi3.rope.scaling.type", "yarn")));
  make::Gguf bare = whole("phi3");
  bare.tensor("rope_factors_long.weight", {4}, T_F32, factors(9));
  EXPECT_ERROR(ErrorCode::bad_file, "original_context_length is missing", open(bare));
}

TEST_F(GgufFamily, WeightsOfExpertsSumToOneUnlessTheFileSaysNot) {
  EXPECT_EQ(open(whole("qwen3moe")).spec.layers[0].mlp.softmax, RouterSoftmax::chosen);
  EXPECT_EQ(open(whole("qwen3moe").flag("qwen3moe.expert_weights_norm", false)).spec.layers[0].mlp.softmax, RouterSoftmax::all);
}

TEST_F(GgufFamily, WhatWouldBeComputedWronglyIsRefused) {
  auto fails = [&](const make::Gguf& g, const std::string& words) {
    EXPECT_ERROR(ErrorCode::unsupported_architecture, words, open(g));
  };
  fails(whole("gemma3").f32("gemma3.final_logit_softcapping", 30.0f), "final_logit_softcapping");
  fails(whole("llama").str("general.architecture", "gemma2"), "capped by tanh");
  fails(whole("llama").str("general.architecture", "qwen2moe"), "shared by all tokens");
  fails(whole("mistral3").f32("mistral3.attention.temperature_scale", 0.1f), "temperature_scale");
  fails(whole("qwen3moe").u32("qwen3moe.expert_gating_func", 2), "gating function 2");
  fails(whole("qwen3moe").u32("qwen3moe.expert_shared_count", 1), "expert_shared_count");
  fails(whole("qwen3moe").u32("qwen3moe.leading_dense_block_count", 1), "leading_dense_block_count");
}

}  // namespace
}  // namespace hearth
