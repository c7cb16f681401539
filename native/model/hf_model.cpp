// Hugging Face folders; see hf_model.h. Not written yet: every path is refused.
#include "model/hf_model.h"

#include "model/words.h"

namespace hearth {

ModelFile open_hf_folder(const std::string& path, const OpenOptions&) {
  fail(ErrorCode::unsupported_architecture, file_name(path), ": safetensors cannot be read yet");
}

ModelFile open_hf_file(const std::string& path, const OpenOptions& options) { return open_hf_folder(path, options); }

}  // namespace hearth
