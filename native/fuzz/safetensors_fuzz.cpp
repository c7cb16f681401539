// Fuzzer of the Hugging Face reader. An input is a kind byte, then for kind 0 and 1 a safetensors file under a right
// config.json (gpt-oss, llama), for kind 2 an index, for others: u16 length, that many bytes of JSON used as every
// small text of the folder, and a safetensors file.
#include "fuzz/touch.h"
#include "model/hf_model.h"
#include "test/make/models.h"

using namespace hearth;

namespace {

// Small, so that most mutations hit something that is read.
const make::GptOssSize small{1, 32, 32, 2, 2, 2, 1};
const std::string llama_config =
    R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,)"
    R"("intermediate_size":16,"vocab_size":4,"max_position_embeddings":64,"tie_word_embeddings":true,)"
    R"("rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
    R"("original_max_position_embeddings":32}})";

std::string llama_file() {
  make::Safetensors s;
  auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    s.tensor(name, "F32", shape, make::values(shape.size() == 1 ? shape[0] : shape[0] * shape[1], "F32"));
  };
  add("model.embed_tokens.weight", {4, 8});
  add("model.norm.weight", {8});
  const std::string b = "model.layers.0.";
  add(b + "input_layernorm.weight", {8});
  add(b + "self_attn.q_proj.weight", {8, 8});
  add(b + "self_attn.k_proj.weight", {4, 8});
  add(b + "self_attn.v_proj.weight", {4, 8});
  add(b + "self_attn.o_proj.weight", {8, 8});
  add(b + "post_attention_layernorm.weight", {8});
  add(b + "mlp.gate_proj.weight", {16, 8});
  add(b + "mlp.up_proj.weight", {16, 8});
  add(b + "mlp.down_proj.weight", {8, 16});
  return s.bytes();
}

std::string gpt_oss_file(bool packed) {
  make::Safetensors s;
  make::hf_attention(s, 0, "BF16", small);
  packed ? make::hf_packed_experts(s, 0, small) : make::hf_plain_experts(s, 0, "BF16", small);
  return make::hf_ends(s, "BF16", small).bytes();
}

HfFolder folder_of(std::string config, std::string file) {
  HfFolder folder;
  folder.path = folder.name = "fuzz";
  folder.config = std::move(config);
  const auto* data = reinterpret_cast<const std::byte*>(file.data());
  std::vector<std::byte> bytes(data, data + file.size());
  HfShard shard;
  shard.file = MappedFile::from_memory("fuzz.safetensors", std::move(bytes));
  shard.safetensors = parse_safetensors(shard.file->bytes(), shard.file->name());
  folder.shards.push_back(std::move(shard));
  return folder;
}

void run(std::string input) {
  unsigned char kind = static_cast<unsigned char>(input.empty() ? 0 : input[0]);
  if (!input.empty()) input.erase(0, 1);
  if (kind == 2) {
    read_shard_index(input, "index");
    return;
  }
  HfFolder folder;
  if (kind < 2) {
    folder = folder_of(kind == 0 ? make::hf_gpt_oss_config(small) : llama_config, input);
  } else {
    if (input.size() < 2) return;
    size_t length = std::min<size_t>(static_cast<unsigned char>(input[0]) | static_cast<unsigned char>(input[1]) << 8,
                                     input.size() - 2);
    std::string text = input.substr(2, length);
    folder = folder_of(text, input.substr(2 + length));
    folder.generation_config = folder.tokenizer_config = text;
  }
  fuzz::touch(read_hf_model(folder, {}));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  auto with_config = [](const std::string& config, const std::string& file) {
    return std::string(1, '\3') + make::raw<uint16_t>(static_cast<uint16_t>(config.size())) + config + file;
  };
  fuzz::seed("gpt-oss", std::string(1, '\0') + gpt_oss_file(true));
  fuzz::seed("gpt-oss-plain", std::string(1, '\0') + gpt_oss_file(false));
  fuzz::seed("llama", "\1" + llama_file());
  fuzz::seed("index",
             "\2"
             R"({"metadata":{"total_size":1},"weight_map":{"a":"x.safetensors","b":"y.safetensors"}})");
  fuzz::seed("config-llama", with_config(llama_config, llama_file()));
  fuzz::seed("config-gpt-oss", with_config(make::hf_gpt_oss_config(small), gpt_oss_file(true)));
  fuzz::seed("small", "\1" + make::safetensors(R"({"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
                                               std::string(16, 'x')));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    run(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {}
  return 0;
}
