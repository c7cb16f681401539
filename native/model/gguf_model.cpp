// From GGUF parts to a ModelFile; see gguf_model.h.
#include "model/gguf_model.h"

#include "model/families.h"
#include "model/gguf_tokenizer.h"
#include "model/identity.h"
#include "model/model_info.h"
#include "model/words.h"

namespace hearth {

namespace {

struct Known {
  const char* architecture;
  void (*read)(const GgufMeta&, Binder&, const OpenOptions&, ModelFile&);
};

constexpr Known known[] = {
    {"gpt-oss", read_gguf_gpt_oss}, {"gptoss", read_gguf_gpt_oss},   {"llama", read_gguf_decoder},
    {"mistral3", read_gguf_decoder}, {"qwen2", read_gguf_decoder},   {"qwen3", read_gguf_decoder},
    {"qwen3moe", read_gguf_decoder}, {"gemma3", read_gguf_decoder},  {"phi3", read_gguf_decoder},
    {"smollm3", read_gguf_decoder},
};

const Known& find_reader(const std::string& architecture, const std::string& file) {
  std::vector<std::string> names;
  for (const Known& each : known) {
    if (architecture == each.architecture) return each;
    if (each.architecture != std::string("gptoss")) names.push_back(each.architecture);
  }
  std::string missing = missing_for(architecture);
  fail(ErrorCode::unsupported_architecture, file, " is of the architecture ", shown(architecture),
       missing.empty() ? ", which Hearth does not know" : ", which needs " + missing + "; Hearth has none",
       "; it knows ", list_words(names, names.size()));
}

}  // namespace

ModelFile open_gguf_model(const std::string& path, const OpenOptions& options) {
  return read_gguf_model(open_gguf_parts(path), options);
}

ModelFile read_gguf_model(std::vector<GgufPart> parts, const OpenOptions& options) {
  const std::string file = parts.front().file->name();
  GgufMeta meta(parts.front().gguf, file);
  std::string architecture = meta.need_text("general.architecture");
  const Known& reader = find_reader(architecture, file);
  ModelFile out;
  TensorTable table = gguf_tensors(parts);
  Binder binder(table, file, options.weights);
  reader.read(meta, binder, options, out);
  if (options.tokenizer) out.tokenizer = read_gguf_tokenizer(meta, out.warnings);
  std::vector<IdentifiedFile> identified;
  for (const GgufPart& part : parts) identified.push_back({part.file->bytes(), part.gguf.data_begin});
  finish_model(table, binder, parts.front().file->path(), identified, out);
  return out;
}

}  // namespace hearth
