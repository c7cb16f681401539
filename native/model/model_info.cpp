// ModelInfo and ownership; see model_info.h.
#include "model/model_info.h"

#include "model/words.h"

namespace hearth {

void finish_model(const TensorTable& table, Binder& binder, const std::string& path,
                  const std::vector<IdentifiedFile>& files, ModelFile& out) {
  const ModelSpec& spec = out.spec;
  ModelInfo& info = out.info;
  info.path = path;
  info.architecture = spec.architecture;
  info.name = spec.name;
  info.license = spec.license;
  info.parameters = count_parameters(table);
  info.quantization = main_type(table);
  info.layers = static_cast<uint32_t>(spec.layers.size());
  info.hidden = spec.hidden;
  info.vocabulary = spec.vocabulary;
  info.context = spec.context;
  info.experts = spec.layers.empty() ? 0 : spec.layers.front().mlp.experts;
  info.experts_used = spec.layers.empty() ? 0 : spec.layers.front().mlp.experts_used;
  for (const auto& file : table.files) info.file_bytes += file->bytes().size();
  info.model_id = model_identity(files);
  out.tensors = list_tensors(table);
  std::vector<std::string> unused = binder.unused();
  if (!unused.empty()) {
    out.warnings.push_back(
        say(unused.size(), unused.size() == 1 ? " tensor is" : " tensors are", " not used: ", list_words(unused, 4)));
  }
  out.files = table.files;
  out.owner = binder.take_owner();
  // A file that shrank while it was read has shown us zeros: say so now rather than compute with them.
  for (const auto& file : table.files) file->check_whole();
}

}  // namespace hearth
