// From GGUF parts to a ModelFile; see gguf_model.h.
#include "model/gguf_model.h"

#include "model/families.h"
#include "model/gguf_tokenizer.h"
#include "model/identity.h"
#include "model/model_info.h"
#include "model/words.h"

namespace hearth {

namespace {

using Reader = void (*)(const GgufMeta&, Binder&, const OpenOptions&, ModelFile&);

Reader find_reader(const std::string& architecture) {
  if (architecture == "gpt-oss" || architecture == "gptoss") return read_gguf_gpt_oss;
  if (architecture == "llama") return read_gguf_llama;
  return nullptr;
}

}  // namespace

ModelFile open_gguf_model(const std::string& path, const OpenOptions& options) {
  return read_gguf_model(open_gguf_parts(path), options);
}

ModelFile read_gguf_model(std::vector<GgufPart> parts, const OpenOptions& options) {
  const std::string file = parts.front().file->name();
  GgufMeta meta(parts.front().gguf, file);
  std::string architecture = meta.need_text("general.architecture");
  Reader reader = find_reader(architecture);
  if (!reader) {
    fail(ErrorCode::unsupported_architecture, file, " is of the architecture ", shown(architecture),
         ", which Hearth does not know; it knows gpt-oss and llama");
  }
  ModelFile out;
  TensorTable table = gguf_tensors(parts);
  Binder binder(table, file, options.weights);
  reader(meta, binder, options, out);
  if (options.tokenizer) out.tokenizer = read_gguf_tokenizer(meta, out.warnings);
  std::vector<IdentifiedFile> identified;
  for (const GgufPart& part : parts) identified.push_back({part.file->bytes(), part.gguf.data_begin});
  finish_model(table, binder, parts.front().file->path(), identified, out);
  return out;
}

}  // namespace hearth
