// Parser of the safetensors container; see safetensors.h. Source: the public safetensors format description.
#include "model/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "model/json.h"
#include "model/words.h"

namespace hearth {

namespace {

constexpr uint64_t most_header_bytes = 100'000'000;  // as the reference reader
constexpr uint64_t most_tensors = 262144;
constexpr size_t most_dimensions = 8;

struct TypeEntry {
  std::string_view name;
  uint32_t bits;
  std::optional<DType> dtype;
};
constexpr TypeEntry type_table[] = {
    {"F32", 32, DType::f32},   {"F16", 16, DType::f16},      {"BF16", 16, DType::bf16},    {"F64", 64, std::nullopt},
    {"I8", 8, std::nullopt},   {"U8", 8, std::nullopt},      {"I16", 16, std::nullopt},    {"U16", 16, std::nullopt},
    {"I32", 32, std::nullopt}, {"U32", 32, std::nullopt},    {"I64", 64, std::nullopt},    {"U64", 64, std::nullopt},
    {"BOOL", 8, std::nullopt}, {"F8_E4M3", 8, std::nullopt}, {"F8_E5M2", 8, std::nullopt}, {"F8_E8M0", 8, std::nullopt},
    {"C64", 64, std::nullopt}, {"F4", 4, std::nullopt},      {"F6_E2M3", 6, std::nullopt}, {"F6_E3M2", 6, std::nullopt},
};

/// Bytes of header and its length field. The length is refused before it is used as a size.
uint64_t header_bytes(std::span<const std::byte> bytes, const std::string& name) {
  std::string what = bytes.empty() ? "empty" : impostor_words(bytes);
  if (!what.empty()) fail(ErrorCode::bad_file, name, " is not a safetensors file but ", what);
  if (bytes.size() < 8) {
    throw Error(ErrorCode::bad_file,
                say(name, " is too short for a safetensors header: ", bytes.size(), " bytes, at least 8 are needed"), 8,
                bytes.size());
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > most_header_bytes) {
    fail(ErrorCode::bad_file, name, " is no safetensors file or damaged: its header would be ", length,
         " bytes long, at most ", most_header_bytes, " are allowed");
  }
  if (length > bytes.size() - 8) {
    throw Error(ErrorCode::bad_file,
                say(name, " is incomplete: its header is ", length, " bytes long, ", bytes.size() - 8,
                    " bytes are there; download the file again"),
                length, bytes.size() - 8);
  }
  return 8 + length;
}

/// Says what a header is that is no JSON object.
std::string_view header_text(std::span<const std::byte> bytes, uint64_t end, const std::string& name) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, end - 8);
  if (!text.empty() && text[0] == '{' && valid_utf8(text)) return text;
  std::string what = impostor_words(bytes.subspan(8, end - 8));
  if (!what.empty()) fail(ErrorCode::bad_file, name, " is not a safetensors file but ", what);
  if (text.empty() || text[0] != '{')
    fail(ErrorCode::bad_file, name, " has no safetensors header: it is no JSON object");
  fail(ErrorCode::bad_file, name, " has no safetensors header: it is no UTF-8 text");
}

std::vector<uint64_t> read_numbers(JsonCursor& in, size_t most) {
  std::vector<uint64_t> out;
  in.enter_array();
  while (in.next_item()) {
    if (out.size() == most) in.wrong("too many numbers");
    out.push_back(in.unsigned_integer());
  }
  return out;
}

SafetensorsTensor read_tensor(JsonCursor& in, std::string name) {
  SafetensorsTensor tensor;
  tensor.name = std::move(name);
  std::vector<uint64_t> offsets;
  bool has_type = false, has_shape = false, has_offsets = false;
  in.enter_object();
  std::string key;
  auto once = [&](bool& seen) {
    if (seen) in.wrong(say("key ", shown(key), " twice in tensor ", shown(tensor.name)));
    seen = true;
  };
  while (in.next_member(key)) {
    if (key == "dtype") {
      once(has_type);
      tensor.type = in.string();
    } else if (key == "shape") {
      once(has_shape);
      tensor.shape = read_numbers(in, most_dimensions);
    } else if (key == "data_offsets") {
      once(has_offsets);
      offsets = read_numbers(in, 2);
    } else {
      in.skip();
    }
  }
  if (!has_type || !has_shape || offsets.size() != 2) {
    in.wrong(say("tensor ", shown(tensor.name), " lacks dtype, shape or its two data_offsets"));
  }
  if (offsets[1] < offsets[0]) in.wrong(say("tensor ", shown(tensor.name), " ends before it begins"));
  tensor.offset = offsets[0];
  tensor.bytes = offsets[1] - offsets[0];
  return tensor;
}

/// dtype x shape must be the bytes between the offsets.
void check_size(const std::string& file, SafetensorsTensor& tensor) {
  auto entry =
      std::find_if(std::begin(type_table), std::end(type_table), [&](auto& t) { return t.name == tensor.type; });
  if (entry == std::end(type_table)) {
    fail(ErrorCode::unsupported_type, file, ": tensor ", shown(tensor.name), " has the type ", shown(tensor.type),
         ", which this version does not know");
  }
  tensor.dtype = entry->dtype;
  uint64_t bits = entry->bits;
  bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0u) != tensor.shape.end();
  for (uint64_t size : tensor.shape) {
    if (empty) break;
    if (bits > std::numeric_limits<uint64_t>::max() / size) {
      fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " of shape ", shape_words(tensor.shape),
           " is larger than any file can be");
    }
    bits *= size;
  }
  if (empty) bits = 0;
  if (bits % 8 != 0 || bits / 8 != tensor.bytes) {
    fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " of shape ", shape_words(tensor.shape),
         " and type ", tensor.type, " needs ", bits / 8, " bytes, its data_offsets span ", tensor.bytes);
  }
}

/// The tensors must cover the data without gaps or overlaps, as the format demands.
void check_layout(const std::string& file, uint64_t there, Safetensors& out) {
  std::stable_sort(out.tensors.begin(), out.tensors.end(),
                   [](auto& a, auto& b) { return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes; });
  uint64_t end = 0;
  const SafetensorsTensor* before = nullptr;
  for (const SafetensorsTensor& tensor : out.tensors) {
    if (tensor.offset < end) {
      fail(ErrorCode::bad_file, file, ": tensors ", shown(before->name), " and ", shown(tensor.name), " overlap");
    }
    if (tensor.offset > end) {
      fail(ErrorCode::bad_file, file, ": ", tensor.offset - end, " bytes before tensor ", shown(tensor.name),
           " belong to no tensor");
    }
    if (tensor.bytes > there - std::min(there, tensor.offset)) {
      uint64_t present = there - std::min(there, tensor.offset);
      throw Error(ErrorCode::bad_file,
                  say(file, " is incomplete: tensor ", shown(tensor.name), " needs ", tensor.bytes, " bytes, ", present,
                      " are there; download the file again"),
                  tensor.bytes, present);
    }
    end = tensor.offset + tensor.bytes;
    before = &tensor;
  }
  if (end != there)
    fail(ErrorCode::bad_file, file, " is damaged: ", there - end, " bytes after the last tensor belong to nothing");
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  Safetensors out;
  out.data_begin = header_bytes(bytes, name);
  JsonCursor in(header_text(bytes, out.data_begin, name), "The header of " + name);
  std::set<std::string, std::less<>> names;
  in.enter_object();
  std::string key;
  while (in.next_member(key)) {
    if (!names.insert(key).second) fail(ErrorCode::bad_file, name, " has two tensors named ", shown(key));
    if (key == "__metadata__") {
      in.skip();
      continue;
    }
    if (out.tensors.size() == most_tensors) in.wrong(say("more than ", most_tensors, " tensors"));
    out.tensors.push_back(read_tensor(in, key));
    check_size(name, out.tensors.back());
  }
  in.finish();
  check_layout(name, bytes.size() - out.data_begin, out);
  for (SafetensorsTensor& tensor : out.tensors) tensor.offset += out.data_begin;
  return out;
}

}  // namespace hearth
