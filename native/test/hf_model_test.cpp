// Hugging Face folders: rows of packed experts end up where they belong, shards are found, faults are named.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/half.h"
#include "backend/quant.h"
#include "model/model_file.h"
#include "test/make/expect_error.h"
#include "test/make/models.h"

namespace hearth {
namespace {

using namespace make;

class HfModel : public ::testing::Test {
 protected:
  make::Safetensors packed(uint32_t layers = 2) {
    make::Safetensors s;
    for (uint32_t i = 0; i < layers; ++i) hf_packed_experts(hf_attention(s, i, "BF16"), i);
    return hf_ends(s, "BF16");
  }
  ModelFile open(const std::string& config, const make::Safetensors& s, const OpenOptions& options = {}) {
    folder.write("config.json", config);
    folder.write("model.safetensors", s.bytes());
    return open_model(folder.path(), options);
  }
  TempFolder folder;
};

float e2m1(unsigned nibble) {
  const float table[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  return nibble & 8 ? -table[nibble & 7] : table[nibble & 7];
}

TEST_F(HfModel, PackedGateAndUpAreTheEvenAndOddRows) {
  ModelFile m = open(hf_gpt_oss_config({2}), packed());
  const LayerWeights& layer = m.weights.layers[1];
  ASSERT_EQ(layer.gate.type, DType::mxfp4_planes);
  EXPECT_EQ(layer.gate.rows, 32u);
  EXPECT_EQ(layer.gate.cols, 64u);
  std::vector<float> row(64);
  for (uint32_t expert : {0u, 3u}) {
    for (uint32_t r : {0u, 1u, 31u}) {
      for (bool up : {false, true}) {
        decode_row(up ? layer.up : layer.gate, expert, r, row.data());
        uint64_t stored = expert * 64 + 2 * r + up;
        for (uint32_t c = 0; c < 64; ++c) {
          unsigned byte = (stored * 32 + c / 2) * 37 & 255;
          int scale = static_cast<int>(120 + (stored * 2 + c / 32) % 9) - 127;
          EXPECT_EQ(row[c], std::ldexp(e2m1(c % 2 ? byte >> 4 : byte & 15), scale))
              << expert << ' ' << r << ' ' << up << ' ' << c;
        }
      }
    }
  }
  EXPECT_EQ(layer.gate_bias[1], (2 - 63) / 64.0f);
  EXPECT_EQ(layer.up_bias[1], (3 - 63) / 64.0f);
  EXPECT_EQ(m.info.quantization, "BF16");
  uint64_t attention = (32 + 16 + 16) * 64 + 64 * 32, biases = 32 + 16 + 16 + 64 + 2, norms = 64 + 64,
           router = 4 * 64 + 4;
  uint64_t experts = 4 * (64 * 64 + 64 * 32) + 4 * (64 + 64);
  EXPECT_EQ(m.info.parameters, 2 * (attention + biases + norms + router + experts) + 2 * 8 * 64 + 64);
}

TEST_F(HfModel, UnpackedExpertsAreTransposed) {
  for (const char* type : {"BF16", "F32"}) {
    make::Safetensors s;
    hf_plain_experts(hf_attention(s, 0, type), 0, type);
    ModelFile m = open(hf_gpt_oss_config({1}), hf_ends(s, type));
    const LayerWeights& layer = m.weights.layers[0];
    std::vector<float> row(64);
    auto value = [](uint64_t i) { return static_cast<float>(static_cast<int>(i % 127) - 63) / 64.0f; };
    for (uint32_t e : {0u, 3u}) {
      for (uint32_t r : {0u, 5u, 31u}) {
        decode_row(layer.gate, e, r, row.data());
        for (uint32_t c = 0; c < 64; ++c) EXPECT_EQ(row[c], value((e * 64 + c) * 64 + 2 * r));
        decode_row(layer.up, e, r, row.data());
        for (uint32_t c = 0; c < 64; ++c) EXPECT_EQ(row[c], value((e * 64 + c) * 64 + 2 * r + 1));
      }
      decode_row(layer.down, e, 63, row.data());
      for (uint32_t c = 0; c < 32; ++c) EXPECT_EQ(row[c], value((e * 32 + c) * 64 + 63));
    }
  }
}

TEST_F(HfModel, ReadsTheSpec) {
  ModelFile m = open(hf_gpt_oss_config({2}, R"(,"layer_types":["full_attention","sliding_attention"])"), packed());
  EXPECT_EQ(m.info.architecture, "gpt-oss");
  EXPECT_EQ(m.spec.layers[0].attention.kind, AttentionKind::full);
  EXPECT_EQ(m.spec.layers[1].attention.kind, AttentionKind::window);
  EXPECT_EQ(m.spec.layers[1].attention.group, 1u);
  const RopeSpec& rope = m.spec.layers[0].attention.rope;
  EXPECT_EQ(rope.layout, RopeLayout::half_split);
  EXPECT_TRUE(rope.yarn);
  EXPECT_FALSE(rope.yarn_truncate);
  EXPECT_EQ(rope.theta, 150000.0);
  EXPECT_DOUBLE_EQ(m.spec.norm_eps, 1e-5);
  EXPECT_FALSE(m.spec.tied_embedding);
}

TEST_F(HfModel, NewerConfigsKeepTheRotationInRopeParameters) {
  std::string config =
      hf_gpt_oss_config({2}, R"(,"rope_parameters":{"rope_type":"yarn","rope_theta":99999.0,"factor":16.0,)"
                             R"("truncate":true,"original_max_position_embeddings":2048})");
  const RopeSpec rope = open(config, packed()).spec.layers[0].attention.rope;
  EXPECT_EQ(rope.theta, 99999.0);
  EXPECT_EQ(rope.yarn_factor, 16.0);
  EXPECT_EQ(rope.yarn_original_context, 2048u);
  EXPECT_TRUE(rope.yarn_truncate);
}

std::string llama_config(const std::string& more = "") {
  return R"({"architectures":["LlamaForCausalLM"],"hidden_size":32,"num_hidden_layers":1,"num_attention_heads":2,)"
         R"("intermediate_size":64,"vocab_size":8,"max_position_embeddings":8192,"tie_word_embeddings":true)" +
         more + "}";
}

make::Safetensors llama_tensors_hf() {
  make::Safetensors s;
  auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    s.tensor(name, "F32", shape, values(shape.size() == 1 ? shape[0] : shape[0] * shape[1], "F32"));
  };
  add("model.embed_tokens.weight", {8, 32});
  add("model.norm.weight", {32});
  const std::string b = "model.layers.0.";
  for (const char* n : {"q", "k", "v", "o"}) add(b + "self_attn." + n + "_proj.weight", {32, 32});
  add(b + "input_layernorm.weight", {32});
  add(b + "post_attention_layernorm.weight", {32});
  add(b + "mlp.gate_proj.weight", {64, 32});
  add(b + "mlp.up_proj.weight", {64, 32});
  add(b + "mlp.down_proj.weight", {32, 64});
  return s;
}

TEST_F(HfModel, LlamaIsHalfSplitAndTied) {
  ModelFile m = open(llama_config(), llama_tensors_hf());
  EXPECT_EQ(m.info.architecture, "llama");
  EXPECT_EQ(m.spec.layers[0].attention.rope.layout, RopeLayout::half_split);
  EXPECT_EQ(m.weights.output.data, m.weights.embedding.data);
  EXPECT_EQ(m.spec.head_dim, 16u);
}

TEST_F(HfModel, Llama3ScalingSlowsLongWavelengths) {
  // Frequencies of transformers' llama3 scaling for theta 500000, 16 dimensions, factor 8, 1, 4, 8192.
  const double expected[] = {1.0000e+00, 1.9392e-01, 3.7606e-02, 7.2927e-03,
                             5.2485e-04, 3.4281e-05, 6.6479e-06, 1.2892e-06};
  ModelFile m =
      open(llama_config(R"(,"rope_theta":500000.0,"rope_scaling":{"rope_type":"llama3","factor":8.0,)"
                        R"("low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192})"),
           llama_tensors_hf());
  RopeTable table = make_rope_table(m.spec.layers[0].attention.rope);
  ASSERT_EQ(table.inverse_frequency.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(table.inverse_frequency[i] / expected[i], 1.0, 1e-4) << i;
}

TEST_F(HfModel, NamesWrongKeys) {
  auto fails = [&](const std::string& config, const std::string& words, ErrorCode code = ErrorCode::bad_file) {
    EXPECT_ERROR(code, words, open(config, llama_tensors_hf()));
  };
  fails(llama_config(R"(,"num_hidden_layers":"one")"), "config.json: key num_hidden_layers must be a whole number");
  fails(llama_config(R"(,"num_hidden_layers":0)"), "key num_hidden_layers is 0");
  fails(llama_config(R"(,"num_hidden_layers":2147483648)"), "key num_hidden_layers is 2147483648");
  fails(llama_config(R"(,"num_attention_heads":-2)"), "key num_attention_heads is -2");
  fails(llama_config(R"(,"rope_scaling":7)"), "key rope_scaling must be an object");
  fails(llama_config(R"(,"rope_scaling":{"rope_type":"llama3","factor":"x"})"),
        "key rope_scaling.factor must be a number");
  fails(llama_config(R"(,"vocab_size":9)"), "model.embed_tokens.weight has the shape [8, 32], the model needs [9, 32]");
  fails("[1]", "config.json is no JSON object");
  fails("{", "config.json is not valid");
  fails(llama_config(R"(,"rope_scaling":{"rope_type":"dynamic","factor":2})"), "dynamic",
        ErrorCode::unsupported_architecture);
  fails(llama_config(R"(,"hidden_act":"gelu")"), "gelu", ErrorCode::unsupported_architecture);
  fails(llama_config(R"(,"model_type":"mamba")"), "architecture mamba", ErrorCode::unsupported_architecture);
  fails(llama_config(R"(,"quantization_config":{"quant_method":"gptq"})"), "gptq", ErrorCode::unsupported_type);
  fails(llama_config(R"(,"num_hidden_layers":2)"),
        "a tensor of block 1 is missing: model.layers.1.input_layernorm.weight", ErrorCode::incomplete_model);
}

class ShardedHf : public HfModel {
 protected:
  void write(const std::string& stem = "model") {
    make::Safetensors one, two;
    hf_packed_experts(hf_attention(one, 0, "BF16"), 0);
    hf_ends(hf_packed_experts(hf_attention(two, 1, "BF16"), 1), "BF16");
    folder.write("config.json", hf_gpt_oss_config({2}));
    folder.write(stem + "-00001-of-00002.safetensors", one.bytes());
    folder.write(stem + "-00002-of-00002.safetensors", two.bytes());
  }
  void write_index(const std::string& first, const std::string& second) {
    folder.write("model.safetensors.index.json",
                 R"({"metadata":{},"weight_map":{"a":")" + first + R"(","b":")" + second + "\"}}");
  }
};

TEST_F(ShardedHf, OpensWithAndWithoutIndexFromAnyFile) {
  write();
  std::string id = open_model(folder.path()).info.model_id;
  EXPECT_EQ(open_model(folder.path("model-00002-of-00002.safetensors")).info.model_id, id);
  write_index("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
  EXPECT_EQ(open_model(folder.path()).info.model_id, id);
  EXPECT_EQ(open_model(folder.path("model-00001-of-00002.safetensors")).info.model_id, id);
  EXPECT_EQ(open_model(folder.path("model.safetensors.index.json")).info.model_id, id);
  EXPECT_EQ(open_model(folder.path("config.json")).info.model_id, id);
}

TEST_F(ShardedHf, NamesMissingShards) {
  write();
  std::filesystem::remove(folder.path("model-00001-of-00002.safetensors"));
  EXPECT_ERROR(ErrorCode::incomplete_model, "1 of 2 weight files is missing: model-00001-of-00002.safetensors",
               open_model(folder.path()));
  write_index("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
  EXPECT_ERROR(ErrorCode::incomplete_model, "model-00001-of-00002.safetensors", open_model(folder.path()));
}

TEST_F(ShardedHf, IndexCannotReachOutsideTheFolder) {
  write();
  for (const char* name :
       {"../x.safetensors", "/etc/x.safetensors", "C:\\\\x.safetensors", "x.bin", "a/b.safetensors"}) {
    write_index("model-00001-of-00002.safetensors", name);
    EXPECT_ERROR(ErrorCode::bad_file, "weight_map names", open_model(folder.path()));
  }
}

TEST_F(ShardedHf, RefusesARepeatedTensor) {
  write();
  std::filesystem::copy_file(folder.path("model-00001-of-00002.safetensors"),
                             folder.path("model-00002-of-00002.safetensors"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_ERROR(ErrorCode::bad_file, "repeats the tensor", open_model(folder.path()));
}

TEST_F(HfModel, SaysThatConfigIsMissing) {
  folder.write("x.safetensors", make::safetensors(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd"));
  EXPECT_ERROR(ErrorCode::incomplete_model, "config.json is missing beside x.safetensors",
               open_model(folder.path("x.safetensors")));
}

TEST_F(HfModel, DamageIsToldBeforeAMissingConfig) {
  EXPECT_ERROR(ErrorCode::bad_file, "HTML page", open_model(folder.write("x.safetensors", "<!doctype html><p>no</p>")));
}

TEST_F(HfModel, ReadsTokenizerFilesAndForgivesDamagedOnes) {
  folder.write("tokenizer.json", "{}");
  folder.write(
      "tokenizer_config.json",
      R"({"add_bos_token":true,"chat_template":[{"name":"tool","template":"t"},{"name":"default","template":"d"}]})");
  folder.write("generation_config.json", R"({"eos_token_id":[5,6],"bos_token_id":1,"pad_token_id":3})");
  folder.write("README.md", "---\nlanguage: en\nlicense: apache-2.0\n---\n# x\n");
  ModelFile m = open(hf_gpt_oss_config({2}), packed());
  EXPECT_EQ(m.tokenizer.tokenizer_json, folder.path("tokenizer.json"));
  EXPECT_EQ(m.tokenizer.eos, 5);
  EXPECT_EQ(m.tokenizer.eos_ids, (std::vector<int32_t>{6, 2}));
  EXPECT_EQ(m.tokenizer.bos, 1);
  EXPECT_EQ(m.tokenizer.padding, 3);
  EXPECT_TRUE(m.tokenizer.add_bos);
  EXPECT_EQ(m.tokenizer.chat_template, "d");
  EXPECT_EQ(m.info.license, "apache-2.0");
  EXPECT_TRUE(m.warnings.empty());
  folder.write("chat_template.jinja", "j");
  folder.write("generation_config.json", "{");
  m = open(hf_gpt_oss_config({2}), packed());
  EXPECT_EQ(m.tokenizer.chat_template, "j");
  EXPECT_EQ(m.tokenizer.eos, 2);
  EXPECT_EQ(m.warnings.size(), 1u);
}

TEST_F(HfModel, ConfigurationIsPartOfTheIdentity) {
  std::string a = open(hf_gpt_oss_config({2}), packed()).info.model_id;
  EXPECT_NE(open(hf_gpt_oss_config({2}, R"(,"rope_theta":150001)"), packed()).info.model_id, a);
  EXPECT_EQ(open(hf_gpt_oss_config({2}), packed()).info.model_id, a);
}

TEST_F(HfModel, MisalignedWeightsAreCopied) {
  std::string shifted = packed().bytes();  // one more blank in the header moves every tensor by a byte
  uint64_t length;
  std::memcpy(&length, shifted.data(), 8);
  shifted = raw<uint64_t>(length + 1) + shifted.substr(8, length) + " " + shifted.substr(8 + length);
  folder.write("config.json", hf_gpt_oss_config({2}));
  folder.write("model.safetensors", shifted);
  ModelFile m = open_model(folder.path());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(m.weights.embedding.data) % 2, 0u);
  std::vector<float> row(64);
  decode_row(m.weights.embedding, 0, 1, row.data());
  EXPECT_EQ(row[0], (64 - 63) / 64.0f);
}

}  // namespace
}  // namespace hearth
