// Failures prevented: a folder of a known family read with the mathematics of another release, another size or another
// container of the same family. Weights are the oracles' fixtures; the configurations are written the ways in which
// published folders write them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "model/model_file.h"
#include "test/make/expect_error.h"
#include "test/make/files.h"

namespace hearth {
namespace {

using make::TempFolder;

std::string bytes_of(const std::string& fixture) {
  std::ifstream file(std::string(HEARTH_FIXTURES) + "/oracles/" + fixture, std::ios::binary);
  EXPECT_TRUE(file) << fixture;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

class HfFamily : public ::testing::Test {
 protected:
  /// The weights of a family's fixture under a configuration of the test's.
  ModelFile open(const std::string& family, const std::string& config) {
    folder.write("config.json", "{" + config + "}");
    folder.write("model.safetensors", bytes_of(family + "/hf/model.safetensors"));
    return open_model(folder.path());
  }
  TempFolder folder;
};

const std::string sizes =
    R"("hidden_size":32,"intermediate_size":48,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":96,)"
    R"("max_position_embeddings":1024)";
const std::string gemma = R"("model_type":"gemma3_text","num_hidden_layers":6,"head_dim":16,"sliding_window":20,)" + sizes;
const std::string qwen2 = R"("model_type":"qwen2","num_hidden_layers":2,"tie_word_embeddings":true,)" + sizes;
const std::string mistral = R"("model_type":"mistral","num_hidden_layers":2,"head_dim":16,)" + sizes;
const std::string moe =
    R"("model_type":"qwen3_moe","num_hidden_layers":2,"head_dim":16,"num_experts":8,"num_experts_per_tok":3,)"
    R"("moe_intermediate_size":32,)" + sizes;
const std::string smollm3 = R"("model_type":"smollm3","num_hidden_layers":4,"tie_word_embeddings":true,)" + sizes;
const std::string phi3 =
    R"("model_type":"phi3","num_hidden_layers":2,"hidden_size":64,"intermediate_size":48,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"vocab_size":96,"max_position_embeddings":1024,"original_max_position_embeddings":64,)"
    R"("partial_rotary_factor":0.75)";

std::string kinds(const ModelFile& m) {
  std::string out;
  for (const LayerSpec& layer : m.spec.layers) out += layer.attention.kind == AttentionKind::window ? 'w' : 'f';
  return out;
}

TEST_F(HfFamily, Gemma3OfTheFirstReleasesHasTwoThetasAtTheTop) {
  ModelFile m = open("gemma3", gemma + R"(,"rope_theta":500000.0,"rope_local_base_freq":9999.0,"sliding_window_pattern":3,)"
                                       R"("rope_scaling":{"rope_type":"linear","factor":8.0},"query_pre_attn_scalar":16)");
  EXPECT_EQ(kinds(m), "wwfwwf");
  const RopeSpec &window = m.spec.layers[0].attention.rope, &full = m.spec.layers[2].attention.rope;
  EXPECT_EQ(window.theta, 9999.0);
  EXPECT_EQ(window.linear_factor, 1.0);
  EXPECT_EQ(full.theta, 500000.0);
  EXPECT_EQ(full.linear_factor, 8.0);
  EXPECT_DOUBLE_EQ(m.spec.layers[0].attention.scale, 0.25);
  EXPECT_TRUE(m.spec.tied_embedding);
  EXPECT_DOUBLE_EQ(m.spec.embedding_scale, std::sqrt(32.0));
}

TEST_F(HfFamily, Gemma3LeavesOutWhatItsClassKnows) {
  ModelFile m = open("gemma3", gemma);
  EXPECT_EQ(kinds(m), "wwwwwf");
  EXPECT_EQ(m.spec.layers[5].attention.rope.theta, 1e6);
  EXPECT_EQ(m.spec.layers[0].attention.rope.theta, 1e4);
  EXPECT_DOUBLE_EQ(m.spec.layers[0].attention.scale, 1.0 / 16);
  EXPECT_DOUBLE_EQ(m.spec.norm_eps, 1e-6);
}

TEST_F(HfFamily, TextModelsAreFoundInsideModelsThatSeePictures) {
  for (const char* root : {"language_model.model.", "model.language_model."}) {
    const std::string from = bytes_of("gemma3/hf/model.safetensors");
    uint64_t header = 0;
    std::memcpy(&header, from.data(), 8);
    std::string names = replaced(from.substr(8, header), "\"model.", std::string("\"") + root);
    while (names.size() % 8) names += ' ';
    folder.write("model.safetensors", make::raw(uint64_t(names.size())) + names + from.substr(8 + header));
    folder.write("config.json", R"({"model_type":"gemma3","vision_config":{"hidden_size":9},"text_config":{)" + gemma + "}}");
    ModelFile m = open_model(folder.path());
    EXPECT_EQ(m.info.architecture, "gemma3");
    EXPECT_EQ(kinds(m), "wwwwwf");
    EXPECT_TRUE(m.weights.layers[5].down);
  }
  folder.write("config.json", R"({"model_type":"mistral3","text_config":{"model_type":"ministral3"}})");
  EXPECT_ERROR(ErrorCode::unsupported_architecture, "scaled by position", open_model(folder.path()));
}

TEST_F(HfFamily, MistralHasAWindowUnlessItSaysNull) {
  EXPECT_EQ(kinds(open("mistral", mistral + R"(,"sliding_window":24)")), "ww");
  EXPECT_EQ(kinds(open("mistral", mistral + R"(,"sliding_window":null)")), "ff");
  EXPECT_EQ(kinds(open("mistral", mistral)), "ff") << "4096 is more than the context";
  EXPECT_EQ(open("mistral", mistral + R"(,"sliding_window":24)").spec.groups.size(), 1u);
}

TEST_F(HfFamily, QwenUsesItsWindowOnlyWhenAsked) {
  EXPECT_EQ(kinds(open("qwen2", qwen2 + R"(,"sliding_window":24,"use_sliding_window":false,"max_window_layers":1)")), "ff");
  EXPECT_EQ(kinds(open("qwen2", qwen2 + R"(,"sliding_window":24,"use_sliding_window":true,"max_window_layers":1)")), "fw");
  EXPECT_EQ(kinds(open("qwen3moe", moe + R"(,"sliding_window":24,"use_sliding_window":true)")), "ww");
}

TEST_F(HfFamily, Qwen2HasBiasesOfQkvButNotOfO) {
  ModelFile m = open("qwen2", qwen2);
  EXPECT_EQ(m.weights.layers[0].q_bias.size(), 32u);
  EXPECT_TRUE(m.weights.layers[0].o_bias.empty());
  EXPECT_TRUE(m.weights.layers[0].q_norm.empty());
}

TEST_F(HfFamily, WeightsOfExpertsSumToOneOnlyWhereTheConfigSaysSo) {
  EXPECT_EQ(open("qwen3moe", moe).spec.layers[0].mlp.softmax, RouterSoftmax::all);
  EXPECT_EQ(open("qwen3moe", moe + R"(,"norm_topk_prob":true)").spec.layers[0].mlp.softmax, RouterSoftmax::chosen);
  EXPECT_ERROR(ErrorCode::unsupported_architecture, "dense layers", open("qwen3moe", moe + R"(,"mlp_only_layers":[0])"));
  EXPECT_ERROR(ErrorCode::unsupported_architecture, "dense layers", open("qwen3moe", moe + R"(,"decoder_sparse_step":2)"));
}

TEST_F(HfFamily, SmolLm3SaysWhichLayersAreRotated) {
  auto rotated = [&](const std::string& more) {
    std::string out;
    for (const LayerSpec& layer : open("smollm3", smollm3 + more).spec.layers) {
      out += layer.attention.rope.layout == RopeLayout::none ? '-' : 'r';
    }
    return out;
  };
  EXPECT_EQ(rotated(""), "rrr-");
  EXPECT_EQ(rotated(R"(,"no_rope_layer_interval":2)"), "r-r-");
  EXPECT_EQ(rotated(R"(,"no_rope_layers":[0,1,1,0])"), "-rr-");
  EXPECT_ERROR(ErrorCode::bad_file, "no_rope_layers has 1 items", rotated(R"(,"no_rope_layers":[0])"));
}

TEST_F(HfFamily, Phi3OfEveryReleaseIsLongRope) {
  const std::string factors = R"("short_factor":[1,1,1,1,1,2],"long_factor":[1,2,3,4,5,6])";
  for (const char* type : {"su", "yarn", "longrope"}) {
    ModelFile m = open("phi3", phi3 + R"(,"rope_scaling":{"type":")" + type + "\"," + factors + "}");
    const RopeSpec& rope = m.spec.layers[0].attention.rope;
    EXPECT_FALSE(rope.yarn);
    EXPECT_EQ(rope.dims, 12u);
    EXPECT_EQ(rope.short_context, 64u);
    EXPECT_EQ(rope.frequency_divisors.at(5), 2.0f);
    EXPECT_EQ(rope.long_divisors.at(5), 6.0f);
    EXPECT_NEAR(rope.attention_factor, std::sqrt(1 + std::log(16.0) / std::log(64.0)), 1e-9);
  }
  EXPECT_ERROR(ErrorCode::bad_file, "long_factor must hold 6 numbers",
               open("phi3", phi3 + R"(,"rope_scaling":{"type":"su","short_factor":[1,1,1,1,1,2],"long_factor":[1]})"));
  EXPECT_ERROR(ErrorCode::unsupported_architecture, "short_mscale",
               open("phi3", phi3 + R"(,"rope_scaling":{"type":"longrope","short_mscale":1.2,)" + factors + "}"));
}

TEST_F(HfFamily, WhatWouldBeComputedWronglyIsRefused) {
  auto fails = [&](const std::string& family, const std::string& config, const std::string& words) {
    EXPECT_ERROR(ErrorCode::unsupported_architecture, words, open(family, config));
  };
  fails("gemma3", gemma + R"(,"final_logit_softcapping":30.0)", "final_logit_softcapping");
  fails("gemma3", gemma + R"(,"use_bidirectional_attention":true)", "use_bidirectional_attention");
  fails("gemma3", gemma + R"(,"hidden_activation":"gelu")", "gelu");
  fails("gemma3", replaced(gemma, "gemma3_text", "gemma2"), "capped");
  fails("qwen2", qwen2 + R"(,"partial_rotary_factor":0.5)", "partial_rotary_factor");
  fails("qwen3", replaced(mistral, "mistral", "llama"), "k_norm.weight is not known");
  fails("qwen3moe", replaced(moe, "qwen3_moe", "qwen2_moe"), "shared by all tokens");
}

}  // namespace
}  // namespace hearth
