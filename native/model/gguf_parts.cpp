// Split GGUF models; see gguf_parts.h. Source: the naming scheme and split.* keys of the GGUF specification.
#include "model/gguf_parts.h"

#include <cctype>
#include <cstdio>

#include "model/ggml_types.h"
#include "model/gguf_meta.h"
#include "model/words.h"

namespace hearth {

namespace {

constexpr uint64_t most_parts = 4096;

struct Split {
  uint64_t number = 0;  // from 1
  uint64_t count = 1;
  std::optional<uint64_t> tensors;  // of all parts
};

Split read_split(const GgufPart& part) {
  GgufMeta meta(part.gguf, part.file->name());
  Split out;
  out.count = meta.integer("split.count", 0, most_parts).value_or(1);
  if (out.count <= 1) return {1, 1, std::nullopt};
  out.number = meta.need_integer("split.no", 0, out.count - 1) + 1;
  out.tensors = meta.integer("split.tensors.count", 0, uint64_t(1) << 31);
  return out;
}

/// Opens part `number`; nullptr when there is no such file.
std::shared_ptr<const MappedFile> open_if_there(const std::string& path) {
  try {
    return MappedFile::open(path);
  } catch (const Error& error) {
    if (error.code == ErrorCode::file_not_found) return nullptr;
    throw;
  }
}

void check_part(const GgufPart& part, uint64_t number, uint64_t count) {
  Split split = read_split(part);
  if (split.count != count || split.number != number) {
    fail(ErrorCode::bad_file, part.file->name(), " says that it is part ", split.number, " of ", split.count,
         ", its name says part ", number, " of ", count);
  }
}

void refuse_missing(const GgufPart& chosen, const Split& split, const std::vector<std::string>& numbers,
                    const std::vector<std::string>& names) {
  if (numbers.empty()) return;
  bool one = numbers.size() == 1;
  fail(ErrorCode::incomplete_model, chosen.file->name(), " is part ", split.number, " of ", split.count,
       " of a split model; ", one ? "part " : "parts ", list_words(numbers), one ? " is missing (" : " are missing (",
       list_words(names, 4), ")");
}

}  // namespace

std::string gguf_part_path(const std::string& path, uint64_t number, uint64_t count) {
  // ...-00002-of-00003.gguf
  constexpr size_t tail = 20;
  if (path.size() < tail || number > 99999 || count > 99999) return "";
  char wanted[32], wanted_count[16];
  std::snprintf(wanted_count, sizeof wanted_count, "-of-%05u", static_cast<unsigned>(count));
  size_t at = path.size() - tail;
  if (path[at] != '-' || path.compare(at + 6, 9, wanted_count) != 0) return "";
  for (size_t i = at + 1; i < at + 6; ++i) {
    if (!std::isdigit(static_cast<unsigned char>(path[i]))) return "";
  }
  std::snprintf(wanted, sizeof wanted, "-%05u", static_cast<unsigned>(number));
  return path.substr(0, at) + wanted + path.substr(at + 6);
}

GgufPart parse_gguf_part(std::shared_ptr<const MappedFile> file) {
  GgufPart part;
  part.gguf = parse_gguf(file->bytes(), file->name());
  part.file = std::move(file);
  Split split = read_split(part);
  if (split.count > 1) {
    fail(ErrorCode::incomplete_model, part.file->name(), " is part ", split.number, " of ", split.count,
         " of a split model; the other parts are missing");
  }
  return part;
}

std::vector<GgufPart> open_gguf_parts(const std::string& path) {
  GgufPart chosen;
  chosen.file = MappedFile::open(path);
  chosen.gguf = parse_gguf(chosen.file->bytes(), chosen.file->name());
  Split split = read_split(chosen);
  std::vector<GgufPart> parts;
  if (split.count == 1) {
    parts.push_back(std::move(chosen));
    return parts;
  }
  if (gguf_part_path(path, split.number, split.count) != path) {
    fail(ErrorCode::incomplete_model, chosen.file->name(), " is part ", split.number, " of ", split.count,
         " of a split model, but its name does not say so, so the other parts cannot be found");
  }
  std::vector<std::string> numbers, names;
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (uint64_t n = 1; n <= split.count; ++n) {
    std::string at = gguf_part_path(path, n, split.count);
    files.push_back(n == split.number ? chosen.file : open_if_there(at));
    if (files.back()) continue;
    numbers.push_back(std::to_string(n));
    names.push_back(file_name(at));
  }
  refuse_missing(chosen, split, numbers, names);
  uint64_t tensors = 0;
  for (uint64_t n = 1; n <= split.count; ++n) {
    GgufPart part{files[n - 1], {}};
    part.gguf = n == split.number ? std::move(chosen.gguf) : parse_gguf(part.file->bytes(), part.file->name());
    check_part(part, n, split.count);
    tensors += part.gguf.tensors.size();
    parts.push_back(std::move(part));
  }
  if (split.tensors && *split.tensors != tensors) {
    fail(ErrorCode::incomplete_model, chosen.file->name(), ": the ", split.count, " parts hold ", tensors,
         " tensors, split.tensors.count says ", *split.tensors);
  }
  return parts;
}

TensorTable gguf_tensors(const std::vector<GgufPart>& parts) {
  TensorTable table;
  for (const GgufPart& part : parts) {
    uint32_t index = static_cast<uint32_t>(table.files.size());
    table.files.push_back(part.file);
    for (const GgufTensor& tensor : part.gguf.tensors) {
      const GgmlType* type = find_ggml_type(tensor.type);  // known, or the parser had refused it
      Tensor entry{std::string(type->name),
                   type->dtype,
                   tensor.shape,
                   part.file->bytes().data() + tensor.offset,
                   tensor.bytes,
                   index};
      if (!table.tensors.emplace(tensor.name, std::move(entry)).second) {
        fail(ErrorCode::bad_file, part.file->name(), " repeats the tensor ", shown(tensor.name), " of another part");
      }
    }
  }
  return table;
}

}  // namespace hearth
