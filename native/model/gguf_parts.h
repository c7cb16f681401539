// The files of one GGUF model: a single file, or all parts of a split one, whichever part was named.
// It knows the split keys and the naming scheme, and nothing else of the model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/gguf.h"
#include "model/mapped_file.h"
#include "model/tensor_table.h"

namespace hearth {

struct GgufPart {
  std::shared_ptr<const MappedFile> file;
  Gguf gguf;
};

/// Opens the file and, when it says that it is a part, all others. In order of their numbers.
/// Throws Error{file_not_found | bad_file | incomplete_model | unsupported_type}.
std::vector<GgufPart> open_gguf_parts(const std::string& path);

/// One file that is a model by itself. Throws Error{incomplete_model} when it says that it is a part of several.
GgufPart parse_gguf_part(std::shared_ptr<const MappedFile> file);

/// All tensors of all parts. Throws Error{bad_file} when two parts have a tensor of one name.
TensorTable gguf_tensors(const std::vector<GgufPart>& parts);

/// Path of part `number` (from 1) when `path` follows NAME-00002-of-00003.gguf with that count, else "".
std::string gguf_part_path(const std::string& path, uint64_t number, uint64_t count);

}  // namespace hearth
