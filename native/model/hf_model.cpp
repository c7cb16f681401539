// From a Hugging Face folder to a ModelFile; see hf_model.h.
#include "model/hf_model.h"

#include "model/families.h"
#include "model/hf_tokenizer.h"
#include "model/identity.h"
#include "model/model_info.h"
#include "model/paths.h"
#include "model/words.h"

namespace hearth {

namespace {

struct Known {
  std::string_view type, class_name;
  void (*read)(const HfConfig&, Binder&, const OpenOptions&, ModelFile&);
};

constexpr Known known[] = {
    {"gpt_oss", "GptOssForCausalLM", read_hf_gpt_oss},
    {"llama", "LlamaForCausalLM", read_hf_decoder},
    {"mistral", "MistralForCausalLM", read_hf_decoder},
    {"mistral3", "Mistral3ForConditionalGeneration", read_hf_decoder},
    {"qwen2", "Qwen2ForCausalLM", read_hf_decoder},
    {"qwen3", "Qwen3ForCausalLM", read_hf_decoder},
    {"qwen3_moe", "Qwen3MoeForCausalLM", read_hf_decoder},
    {"gemma3", "Gemma3ForConditionalGeneration", read_hf_decoder},
    {"gemma3_text", "Gemma3ForCausalLM", read_hf_decoder},
    {"phi3", "Phi3ForCausalLM", read_hf_decoder},
    {"smollm3", "SmolLM3ForCausalLM", read_hf_decoder},
};

const Known& find_reader(const HfConfig& config, const std::string& folder) {
  std::string family = config.text("model_type").value_or("");
  auto classes = config.texts("architectures");
  if (family.empty() && classes && !classes->empty()) family = classes->front();
  std::vector<std::string> names;
  for (const Known& each : known) {
    if (family == each.type || family == each.class_name) return each;
    names.emplace_back(each.type);
  }
  std::string missing = missing_for(family);
  fail(ErrorCode::unsupported_architecture, folder, " is of the architecture ", family.empty() ? "?" : shown(family),
       missing.empty() ? ", which Hearth does not know" : ", which needs " + missing + "; Hearth has none",
       "; it knows ", list_words(names, names.size()));
}

TensorTable hf_tensors(const HfFolder& folder) {
  TensorTable table;
  for (const HfShard& shard : folder.shards) {
    uint32_t index = static_cast<uint32_t>(table.files.size());
    table.files.push_back(shard.file);
    for (const SafetensorsTensor& tensor : shard.safetensors.tensors) {
      if (tensor.bytes == 0) continue;  // nothing that a model could need
      Tensor entry{tensor.type,  tensor.dtype, tensor.shape, shard.file->bytes().data() + tensor.offset,
                   tensor.bytes, index};
      if (!table.tensors.emplace(tensor.name, std::move(entry)).second) {
        fail(ErrorCode::bad_file, shard.file->name(), " repeats the tensor ", shown(tensor.name), " of another file");
      }
    }
  }
  return table;
}

}  // namespace

ModelFile open_hf_folder(const std::string& path, const OpenOptions& options) {
  return read_hf_model(read_hf_folder(path), options);
}

ModelFile open_hf_file(const std::string& path, const OpenOptions& options) {
  std::filesystem::path where = path_of(path);
  std::string folder = where.has_parent_path() ? utf8_of(where.parent_path()) : ".", name = file_name(path);
  if (name == "config.json" || name == "model.safetensors.index.json") return open_hf_folder(folder, options);
  if (path.ends_with(".safetensors")) return read_hf_model(read_hf_folder(folder, utf8_of(where.filename())), options);
  auto file = MappedFile::open(path);
  std::string what = file->bytes().empty() ? "empty" : impostor_words(file->bytes());
  fail(ErrorCode::bad_file, name, what.empty() ? " is neither a GGUF nor a safetensors model" : " is no model but ",
       what);
}

ModelFile read_hf_model(const HfFolder& folder, const OpenOptions& options) {
  if (!folder.config) fail(ErrorCode::incomplete_model, folder.name, ": config.json is missing");
  JsonValue json = parse_json(*folder.config, "config.json");
  HfConfig config(json, "config.json");
  const Known& reader = find_reader(config, folder.name);
  ModelFile out;
  out.spec.name = folder.name;
  out.spec.license = folder.license;
  TensorTable table = hf_tensors(folder);
  Binder binder(table, folder.name, options.weights);
  reader.read(config, binder, options, out);
  if (options.tokenizer) out.tokenizer = read_hf_tokenizer(folder, config, out.warnings);
  // config.json is part of the identity, whole: the same weights under another configuration are another model.
  std::vector<IdentifiedFile> identified = {{std::as_bytes(std::span(*folder.config)), folder.config->size()}};
  for (const HfShard& shard : folder.shards) identified.push_back({shard.file->bytes(), shard.safetensors.data_begin});
  finish_model(table, binder, folder.path, identified, out);
  return out;
}

}  // namespace hearth
