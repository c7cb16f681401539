// Whole GGUF models: what the file says reaches the spec, and what it lacks is named.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/quant.h"
#include "model/model_file.h"
#include "test/make/expect_error.h"
#include "test/make/models.h"

namespace hearth {
namespace {

using namespace make;

class GgufModel : public ::testing::Test {
 protected:
  ModelFile open(const make::Gguf& g, const OpenOptions& options = {}) {
    return open_model(folder.write("m.gguf", g.bytes()), options);
  }
  make::Gguf llama() {
    make::Gguf g = llama_keys();
    return llama_tensors(g);
  }
  make::Gguf gpt_oss(uint32_t layers = 4) {
    make::Gguf g = gpt_oss_keys({layers});
    return gpt_oss_tensors(g, {layers});
  }
  TempFolder folder;
};

TEST_F(GgufModel, LlamaHasInterleavedRotationAndATiedOutput) {
  ModelFile m = open(llama());
  EXPECT_EQ(m.info.architecture, "llama");
  EXPECT_EQ(m.info.name, "tiny llama");
  EXPECT_EQ(m.info.license, "apache-2.0");
  EXPECT_EQ(m.info.quantization, "F32");
  EXPECT_EQ(m.info.parameters, 8u * 32 + 3 * 32 + 4 * 32 * 32 + 3 * 64 * 32);
  EXPECT_EQ(m.info.model_id.size(), 64u);
  EXPECT_EQ(m.spec.head_dim, 16u);
  EXPECT_EQ(m.spec.kv_heads, 2u);
  EXPECT_EQ(m.spec.layers[0].attention.rope.layout, RopeLayout::interleaved);
  EXPECT_EQ(m.spec.layers[0].attention.rope.theta, 10000.0);
  EXPECT_DOUBLE_EQ(m.spec.layers[0].attention.scale, 0.25);
  EXPECT_TRUE(m.spec.tied_embedding);
  EXPECT_EQ(m.weights.output.data, m.weights.embedding.data);
  ASSERT_EQ(m.spec.groups.size(), 1u);
  EXPECT_EQ(m.spec.groups[0].kind, AttentionKind::full);
  EXPECT_EQ(m.weights.layers[0].mlp_norm.size(), 32u);
  EXPECT_EQ(m.weights.layers[0].mlp_norm[63 - 32], -0.5f);
  EXPECT_TRUE(m.warnings.empty());
}

TEST_F(GgufModel, GptOssAlternatesWindowAndFullLayers) {
  ModelFile m = open(gpt_oss());
  ASSERT_EQ(m.spec.groups.size(), 2u);
  EXPECT_EQ(m.spec.groups[0].kind, AttentionKind::full);
  EXPECT_EQ(m.spec.groups[1].kind, AttentionKind::window);
  EXPECT_EQ(m.spec.groups[1].window, 128u);
  for (uint32_t i = 0; i < 4; ++i) {
    const AttentionSpec& a = m.spec.layers[i].attention;
    EXPECT_EQ(a.kind, i % 2 == 0 ? AttentionKind::window : AttentionKind::full);
    EXPECT_EQ(a.group, i % 2 == 0 ? 1u : 0u);
    EXPECT_EQ(a.layer_in_group, i / 2);
    EXPECT_TRUE(a.sinks && a.qkv_bias && a.out_bias);
    EXPECT_TRUE(a.rope.yarn);
    EXPECT_FALSE(a.rope.yarn_truncate);
    EXPECT_EQ(a.rope.layout, RopeLayout::half_split);
    EXPECT_EQ(a.rope.yarn_original_context, 4096u);
    EXPECT_EQ(m.spec.layers[i].mlp.experts, 4u);
    EXPECT_EQ(m.spec.layers[i].mlp.experts_used, 2u);
    EXPECT_EQ(m.spec.layers[i].mlp.activation, Activation::swiglu_oai);
  }
  const LayerWeights& layer = m.weights.layers[3];
  EXPECT_EQ(layer.gate.type, DType::mxfp4);
  EXPECT_EQ(layer.gate.experts, 4u);
  EXPECT_EQ(layer.gate.row_stride, 34u);
  EXPECT_EQ(layer.gate.expert_stride, 34u * 32);
  EXPECT_EQ(layer.sinks.size(), 2u);
  EXPECT_EQ(layer.down_bias.size(), 4u * 64);
  EXPECT_EQ(m.info.context, 131072u);
  EXPECT_TRUE(open(gpt_oss(), {.yarn_truncate = true}).spec.layers[0].attention.rope.yarn_truncate);
}

TEST_F(GgufModel, GptOssPatternKeyOverridesTheAlternation) {
  auto kinds = [&](const make::Gguf& g) {
    std::string out;
    for (const LayerSpec& layer : open(g).spec.layers) out += layer.attention.kind == AttentionKind::window ? 'w' : 'f';
    return out;
  };
  const std::string key = "gpt-oss.attention.sliding_window_pattern";
  EXPECT_EQ(kinds(gpt_oss().u32(key, 2)), "wfwf");
  EXPECT_EQ(kinds(gpt_oss().u32(key, 4)), "wwwf");
  EXPECT_EQ(kinds(gpt_oss().u32(key, 1)), "ffff");
  EXPECT_EQ(kinds(gpt_oss().array<uint8_t>(key, BOOL, {0, 1, 1, 0})), "fwwf");
  EXPECT_EQ(open(gpt_oss().u32(key, 1)).spec.groups.size(), 1u);
  EXPECT_ERROR(ErrorCode::bad_file, key, open(gpt_oss().array<uint8_t>(key, BOOL, {0, 1})));
}

TEST_F(GgufModel, OlderNamesOfOllamaAreUnderstood) {
  make::Gguf g = gpt_oss_keys({1}, "gptoss").without("gptoss.rope.scaling.type");
  f32_tensor(g, "token_embd.weight", {8, 64});
  f32_tensor(g, "output_norm.weight", {64});
  f32_tensor(g, "output.weight", {8, 64});
  f32_tensor(g, "blk.0.attn_norm.weight", {64});
  f32_tensor(g, "blk.0.attn_qkv.weight", {64, 64});
  f32_tensor(g, "blk.0.attn_qkv.bias", {64});
  f32_tensor(g, "blk.0.attn_out.weight", {64, 32});
  f32_tensor(g, "blk.0.attn_out.bias", {64});
  f32_tensor(g, "blk.0.attn_sinks", {2});
  f32_tensor(g, "blk.0.ffn_norm.weight", {64});
  f32_tensor(g, "blk.0.ffn_gate_inp.weight", {4, 64});
  f32_tensor(g, "blk.0.ffn_gate_inp.bias", {4});
  g.tensor("blk.0.ffn_gate_up_exps.weight", {4, 64, 64}, T_MXFP4, mxfp4(4 * 64 * 2));
  f32_tensor(g, "blk.0.ffn_gate_up_exps.bias", {4, 64});
  g.tensor("blk.0.ffn_down_exps.weight", {4, 64, 32}, T_MXFP4, mxfp4(4 * 64));
  f32_tensor(g, "blk.0.ffn_down_exps.bias", {4, 64});
  ModelFile m = open(g);
  EXPECT_EQ(m.warnings, std::vector<std::string>{"The file has no tokenizer"});
  EXPECT_TRUE(m.spec.layers[0].attention.rope.yarn);
  const LayerWeights& layer = m.weights.layers[0];
  EXPECT_EQ(layer.k.data, layer.q.data + 32 * layer.q.row_stride);
  EXPECT_EQ(layer.v.data, layer.q.data + 48 * layer.q.row_stride);
  EXPECT_EQ(layer.v_bias[0], (48 - 63) / 64.0f);
  EXPECT_EQ(layer.gate.row_stride, 68u);
  EXPECT_EQ(layer.up.data, layer.gate.data + 34);
  EXPECT_EQ(layer.gate.expert_stride, 34u * 64);
  EXPECT_EQ(layer.up_bias[0], -62 / 64.0f);
}

TEST_F(GgufModel, NamesTheMissingTensorAndItsBlock) {
  make::Gguf g = llama_keys();
  f32_tensor(g, "token_embd.weight", {8, 32});
  EXPECT_ERROR(ErrorCode::incomplete_model, "m.gguf: a tensor of block 0 is missing: blk.0.attn_norm.weight", open(g));
  EXPECT_ERROR(ErrorCode::incomplete_model, "a tensor is missing: token_embd.weight", open(llama_keys()));
  EXPECT_ERROR(ErrorCode::incomplete_model, "of block 1 is missing: blk.1.attn_norm.weight",
               open(llama().u32("llama.block_count", 2)));
}

TEST_F(GgufModel, NamesTheTensorOfAWrongShape) {
  make::Gguf g = llama_keys().u32("llama.feed_forward_length", 96);
  EXPECT_ERROR(ErrorCode::bad_file, "blk.0.ffn_gate.weight has the shape [64, 32], the model needs [96, 32]",
               open(llama_tensors(g)));
}

TEST_F(GgufModel, NamesTheTensorOfATypeThatIsNotComputed) {
  make::Gguf g = llama_keys();
  g.tensor("blk.0.attn_q.weight", {32, 32}, 24, std::string(1024, '\0'));  // I8
  f32_tensor(g, "token_embd.weight", {8, 32});
  f32_tensor(g, "blk.0.attn_norm.weight", {32});
  EXPECT_ERROR(ErrorCode::unsupported_type, "blk.0.attn_q.weight is of type I8", open(g));
}

TEST_F(GgufModel, ChecksTypeAndRangeOfEveryKeyItUses) {
  auto fails = [&](const make::Gguf& g, const std::string& words) {
    EXPECT_ERROR(ErrorCode::bad_file, words, open(g));
  };
  fails(llama().str("llama.block_count", "one"), "llama.block_count is of type string, it must be a whole number");
  fails(llama().u32("llama.block_count", 0), "llama.block_count is 0");
  fails(llama().u32("llama.block_count", 1u << 31), "llama.block_count is 2147483648");
  fails(llama().key("llama.block_count", I32, raw<int32_t>(-1)), "llama.block_count is -1");
  fails(llama().f32("llama.block_count", 1.0f), "llama.block_count is of type f32");
  fails(llama().without("llama.block_count"), "llama.block_count is missing");
  fails(llama().u32("llama.context_length", 0), "llama.context_length is 0");
  fails(llama().u32("llama.embedding_length", 0), "llama.embedding_length is 0");
  fails(llama().u32("llama.embedding_length", 64), "token_embd.weight has the shape [8, 32]");
  fails(llama().u32("llama.attention.head_count", 0), "llama.attention.head_count is 0");
  fails(llama().u32("llama.attention.head_count", 3), "3 attention heads");
  fails(llama().u32("llama.attention.head_count_kv", 4), "llama.attention.head_count_kv is 4");
  fails(llama().u32("llama.attention.key_length", 17).u32("llama.attention.value_length", 17), "must be even");
  fails(llama().f32("llama.attention.layer_norm_rms_epsilon", NAN), "layer_norm_rms_epsilon is nan");
  fails(llama().str("llama.attention.layer_norm_rms_epsilon", "x"), "must be a number");
  fails(llama().f32("llama.rope.freq_base", 0.0f), "llama.rope.freq_base is 0");
  fails(llama().u32("llama.rope.dimension_count", 15), "dimension_count is 15");
  fails(llama().u32("llama.rope.dimension_count", 64), "dimension_count is 64");
  fails(llama().u32("llama.vocab_size", 9), "llama.vocab_size is 9, but token_embd.weight has 8 rows");
  fails(gpt_oss().u32("gpt-oss.expert_count", 0), "gpt-oss.expert_count is 0");
  fails(gpt_oss().u32("gpt-oss.expert_used_count", 5), "gpt-oss.expert_used_count is 5");
  fails(gpt_oss().u32("gpt-oss.attention.sliding_window", 0), "sliding_window is 0");
  fails(gpt_oss().without("gpt-oss.rope.scaling.original_context_length"), "original_context_length is missing");
  fails(gpt_oss().f32("gpt-oss.rope.scaling.factor", INFINITY), "factor is inf");
}

TEST_F(GgufModel, RefusesOtherArchitecturesAndMathematicsByName) {
  auto fails = [&](const make::Gguf& g, const std::string& words) {
    EXPECT_ERROR(ErrorCode::unsupported_architecture, words, open(g));
  };
  fails(llama().str("general.architecture", "mamba"), "m.gguf is of the architecture mamba");
  fails(llama().u32("llama.expert_count", 8), "Mixtral");
  fails(llama().str("llama.rope.scaling.type", "longrope"), "longrope");
  fails(llama().f32("llama.logit_scale", 2.0f), "llama.logit_scale");
  fails(llama().array<uint32_t>("llama.attention.head_count_kv", U32, {1, 2}), "head_count_kv");
  EXPECT_ERROR(ErrorCode::bad_file, "general.architecture is missing", open(llama().without("general.architecture")));
}

TEST_F(GgufModel, ReadsTheScalingOfLongContexts) {
  make::Gguf g = llama();
  g.tensor("rope_freqs.weight", {8}, T_F32, [] {
    std::string out;
    for (float f : {1.f, 1.f, 1.f, 2.f, 4.f, 8.f, 8.f, 8.f}) out += raw(f);
    return out;
  }());
  EXPECT_EQ(open(g).spec.layers[0].attention.rope.frequency_divisors, (std::vector<float>{1, 1, 1, 2, 4, 8, 8, 8}));
  make::Gguf zeros = llama();
  zeros.tensor("rope_freqs.weight", {8}, T_F32, std::string(32, '\0'));
  EXPECT_ERROR(ErrorCode::bad_file, "rope_freqs.weight", open(zeros));
  EXPECT_EQ(open(llama().str("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4.0f))
                .spec.layers[0]
                .attention.rope.linear_factor,
            4.0);
}

TEST_F(GgufModel, ReadsTheTokenizer) {
  make::Gguf g = llama().str("tokenizer.ggml.model", "gpt2").str("tokenizer.ggml.pre", "gpt-4o");
  g.strs("tokenizer.ggml.merges", {"a b", "ab c"})
      .flag("tokenizer.ggml.add_bos_token", true)
      .str("tokenizer.chat_template", "{{ x }}");
  g.array<int32_t>("tokenizer.ggml.eos_token_ids", I32, {2, 5, 5, 99}).u32("tokenizer.ggml.eot_token_id", 6);
  g.u32("tokenizer.ggml.unknown_token_id", 77);
  ModelFile m = open(g);
  EXPECT_EQ(m.tokenizer.model, "gpt2");
  EXPECT_EQ(m.tokenizer.pre, "gpt-4o");
  EXPECT_EQ(m.tokenizer.tokens[3], "a");
  EXPECT_EQ(m.tokenizer.merges[1], "ab c");
  EXPECT_EQ(m.tokenizer.types[1], 3);
  EXPECT_EQ(m.tokenizer.bos, 1);
  EXPECT_EQ(m.tokenizer.eos, 2);
  EXPECT_EQ(m.tokenizer.eos_ids, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(m.tokenizer.unknown, -1);
  EXPECT_TRUE(m.tokenizer.add_bos);
  EXPECT_FALSE(m.tokenizer.add_space_prefix);
  EXPECT_EQ(m.tokenizer.chat_template, "{{ x }}");
  EXPECT_EQ(m.warnings.size(), 1u);
  EXPECT_TRUE(open(g, {.tokenizer = false}).tokenizer.tokens.empty());
  EXPECT_ERROR(ErrorCode::bad_file, "tokenizer.ggml.token_type has 3 items",
               open(llama().array<int32_t>("tokenizer.ggml.token_type", I32, {1, 1, 1})));
  EXPECT_ERROR(ErrorCode::bad_file, "tokenizer.ggml.tokens has 9 tokens",
               open(llama().strs("tokenizer.ggml.tokens", std::vector<std::string>(9, "x"))));
}

TEST_F(GgufModel, WarnsOfTensorsThatNobodyAsksFor) {
  make::Gguf g = llama();
  f32_tensor(g, "v.patch_embd.weight", {16});
  ModelFile m = open(g);
  ASSERT_EQ(m.warnings.size(), 1u);
  EXPECT_NE(m.warnings[0].find("v.patch_embd.weight"), std::string::npos);
}

TEST_F(GgufModel, RefusesLayersWithWeightsThatItWouldLeaveOut) {
  for (const char* name : {"attn_q_norm.weight", "attn_sinks.weight", "ffn_gate_shexp.weight", "attn_k.bias"}) {
    make::Gguf g = llama();
    f32_tensor(g, std::string("blk.0.") + name, {16});
    EXPECT_ERROR(ErrorCode::unsupported_architecture, name, open(g));
  }
}

TEST_F(GgufModel, LooksWithoutTouchingWeights) {
  ModelFile m = open(gpt_oss(), {.weights = false});
  EXPECT_TRUE(m.weights.layers[0].attention_norm.empty());
  EXPECT_EQ(m.tensors.size(), 3u + 4 * 19);
}

class SplitGguf : public GgufModel {
 protected:
  /// Part `number` of `count` from 1, holding what `fill` adds.
  make::Gguf part(make::Gguf g, uint16_t number, uint16_t count, int32_t tensors) {
    g.key("split.no", U16, raw<uint16_t>(number - 1)).key("split.count", U16, raw(count));
    return g.key("split.tensors.count", I32, raw(tensors));
  }
  std::string name(int number) { return "m-0000" + std::to_string(number) + "-of-00003.gguf"; }
  void write_all() {
    make::Gguf one = part(llama_keys(), 1, 3, 11), two = part({}, 2, 3, 11), three = part({}, 3, 3, 11);
    f32_tensor(two, "token_embd.weight", {8, 32});
    f32_tensor(two, "output_norm.weight", {32});
    for (const char* n : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      f32_tensor(two, std::string("blk.0.") + n + ".weight", {32, 32});
    }
    f32_tensor(two, "blk.0.attn_norm.weight", {32});
    f32_tensor(three, "blk.0.ffn_norm.weight", {32});
    f32_tensor(three, "blk.0.ffn_gate.weight", {64, 32});
    f32_tensor(three, "blk.0.ffn_up.weight", {64, 32});
    f32_tensor(three, "blk.0.ffn_down.weight", {32, 64});
    folder.write(name(1), one.bytes());
    folder.write(name(2), two.bytes());
    folder.write(name(3), three.bytes());
  }
};

TEST_F(SplitGguf, OpensWholeFromAnyPartAndFromTheFolder) {
  write_all();
  std::string id = open_model(folder.path(name(1))).info.model_id;
  for (int i = 1; i <= 3; ++i) {
    ModelFile m = open_model(folder.path(name(i)));
    EXPECT_EQ(m.info.model_id, id);
    EXPECT_EQ(m.info.path, folder.path(name(1)));
    EXPECT_EQ(m.files.size(), 3u);
    EXPECT_EQ(m.tensors.size(), 11u);
  }
  EXPECT_EQ(open_model(folder.path()).info.model_id, id);
}

TEST_F(SplitGguf, NamesTheMissingParts) {
  folder.write(name(2), part(llama_keys(), 2, 3, 3).bytes());
  EXPECT_ERROR(ErrorCode::incomplete_model, "is part 2 of 3 of a split model; parts 1 and 3 are missing",
               open_model(folder.path(name(2))));
}

TEST_F(SplitGguf, RefusesPartsThatDoNotBelongTogether) {
  write_all();
  folder.write(name(3), part({}, 2, 3, 11).bytes());
  EXPECT_ERROR(ErrorCode::bad_file, "says that it is part 2 of 3, its name says part 3",
               open_model(folder.path(name(1))));
  folder.write(name(3), part({}, 3, 3, 11).bytes());
  EXPECT_ERROR(ErrorCode::incomplete_model, "split.tensors.count says 11", open_model(folder.path(name(1))));
  make::Gguf again = part({}, 3, 3, 8);
  f32_tensor(again, "output_norm.weight", {32});
  folder.write(name(3), again.bytes());
  make::Gguf first = part(llama_keys(), 1, 3, 8);
  folder.write(name(1), first.bytes());
  EXPECT_ERROR(ErrorCode::bad_file, "repeats the tensor output_norm.weight", open_model(folder.path(name(1))));
}

TEST_F(SplitGguf, RefusesAPartWhoseNameHidesTheOthers) {
  folder.write("renamed.gguf", part(llama_keys(), 1, 3, 11).bytes());
  EXPECT_ERROR(ErrorCode::incomplete_model, "its name does not say so", open_model(folder.path("renamed.gguf")));
  EXPECT_ERROR(ErrorCode::bad_file, "split.count", open(llama().u32("split.count", 1u << 30)));
  EXPECT_ERROR(ErrorCode::bad_file, "split.no", open(llama().u32("split.count", 2).u32("split.no", 2)));
}

}  // namespace
}  // namespace hearth
