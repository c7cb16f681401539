// Parser of the GGUF container; see gguf.h. Source: the public GGUF specification.
#include "model/gguf.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "model/byte_cursor.h"
#include "model/ggml_types.h"
#include "model/words.h"

namespace hearth {

namespace {

// Far above any real file; they bound the memory that a hostile header can claim.
constexpr uint64_t most_values = 65536;
constexpr uint64_t most_tensors = 262144;
constexpr uint64_t most_key_bytes = 65535;
constexpr uint64_t most_name_bytes = 1024;
constexpr uint64_t most_header_bytes = uint64_t(1) << 30;
constexpr uint64_t most_alignment = uint64_t(1) << 20;
constexpr uint32_t most_dimensions = 4;
constexpr uint64_t least_value_bytes = 8 + 4 + 1;
constexpr uint64_t least_tensor_bytes = 8 + 4 + 8 + 4 + 8;

constexpr std::array<std::string_view, 13> type_names = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                         "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<uint32_t, 13> type_sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

GgufType read_type(ByteCursor& in, const std::string& file, std::string_view key) {
  uint32_t id = in.number<uint32_t>();
  if (id >= type_names.size()) {
    fail(ErrorCode::bad_file, file, " is damaged: key ", shown(key), " has the unknown value type ", id);
  }
  return static_cast<GgufType>(id);
}

void read_array(ByteCursor& in, const std::string& file, std::string_view key, std::span<const std::byte> all,
                GgufValue& value) {
  value.item = read_type(in, file, key);
  value.count = in.number<uint64_t>();
  if (value.item == GgufType::array) fail(ErrorCode::bad_file, file, ": key ", shown(key), " is an array of arrays");
  bool text = value.item == GgufType::string;
  uint64_t least = text ? 8 : type_sizes[static_cast<size_t>(value.item)];
  if (value.count > in.left() / least) {
    fail(ErrorCode::bad_file, file, " is damaged: key ", shown(key), " claims ", value.count, " items, ", in.left(),
         " bytes are left");
  }
  uint64_t begin = in.position();
  if (text) {
    for (uint64_t i = 0; i < value.count; ++i) in.string(std::numeric_limits<uint64_t>::max());
  } else {
    in.take(value.count * least);
  }
  value.raw = all.subspan(begin, in.position() - begin);
}

GgufValue read_value(ByteCursor& in, const std::string& file, std::string_view key, std::span<const std::byte> all) {
  GgufValue value;
  value.type = read_type(in, file, key);
  if (value.type == GgufType::array) {
    read_array(in, file, key, all, value);
  } else if (value.type == GgufType::string) {
    std::string_view text = in.string(std::numeric_limits<uint64_t>::max());
    value.raw = {reinterpret_cast<const std::byte*>(text.data()), text.size()};
  } else {
    value.raw = in.take(type_sizes[static_cast<size_t>(value.type)]);
  }
  return value;
}

void read_values(ByteCursor& in, const std::string& file, uint64_t count, std::span<const std::byte> all, Gguf& out) {
  for (uint64_t i = 0; i < count; ++i) {
    in.about("a metadata key");
    std::string key(in.string(most_key_bytes));
    in.about("a metadata value");
    if (out.values.contains(key)) fail(ErrorCode::bad_file, file, " has the key ", shown(key), " twice");
    GgufValue value = read_value(in, file, key, all);
    out.values.emplace(std::move(key), value);
  }
}

void read_alignment(const std::string& file, Gguf& out) {
  const GgufValue* value = out.find("general.alignment");
  if (!value) return;
  uint32_t alignment = 0;
  if (value->type == GgufType::u32) std::memcpy(&alignment, value->raw.data(), 4);
  if (alignment < 8 || alignment > most_alignment || !std::has_single_bit(alignment)) {
    fail(ErrorCode::bad_file, file, ": general.alignment must be a power of two from 8 to ", most_alignment,
         ", stored as u32");
  }
  out.alignment = alignment;
}

/// Bytes of the tensor, all products checked. Throws when a size is impossible.
uint64_t tensor_bytes(const std::string& file, const GgufTensor& tensor) {
  const GgmlType* type = find_ggml_type(tensor.type);
  if (!type) {
    fail(ErrorCode::unsupported_type, file, ": tensor ", shown(tensor.name), " has the type ", tensor.type,
         ", which this version does not know");
  }
  uint64_t row = tensor.shape.back();
  if (row % type->block != 0) {
    fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " has rows of ", row,
         " values, which is no multiple of ", type->block, " as its type ", type->name, " needs");
  }
  uint64_t bytes = row / type->block;
  auto times = [&](uint64_t factor) {
    if (bytes > std::numeric_limits<int64_t>::max() / factor) {
      fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " of shape ", shape_words(tensor.shape),
           " is larger than any file can be");
    }
    bytes *= factor;
  };
  times(type->bytes);
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) times(tensor.shape[i]);
  return bytes;
}

GgufTensor read_tensor(ByteCursor& in, const std::string& file) {
  GgufTensor tensor;
  tensor.name = in.string(most_name_bytes);
  uint32_t dimensions = in.number<uint32_t>();
  if (dimensions < 1 || dimensions > most_dimensions) {
    fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " has ", dimensions, " dimensions, 1 to ",
         most_dimensions, " are possible");
  }
  tensor.shape.resize(dimensions);
  for (uint32_t i = 0; i < dimensions; ++i) {
    int64_t size = in.number<int64_t>();
    if (size < 1) {
      fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " has a dimension of ", size,
           "; dimensions must be positive");
    }
    tensor.shape[dimensions - 1 - i] = static_cast<uint64_t>(size);
  }
  tensor.type = in.number<uint32_t>();
  tensor.offset = in.number<uint64_t>();
  tensor.bytes = tensor_bytes(file, tensor);
  return tensor;
}

void read_tensors(ByteCursor& in, const std::string& file, uint64_t count, Gguf& out) {
  std::set<std::string, std::less<>> names;
  in.about("a tensor description");
  for (uint64_t i = 0; i < count; ++i) {
    GgufTensor tensor = read_tensor(in, file);
    if (!names.insert(tensor.name).second)
      fail(ErrorCode::bad_file, file, " has two tensors named ", shown(tensor.name));
    out.tensors.push_back(std::move(tensor));
  }
}

/// Makes offsets absolute and checks that every tensor lies in the file, aligned.
void place_tensors(const std::string& file, uint64_t file_bytes, Gguf& out) {
  uint64_t there = file_bytes > out.data_begin ? file_bytes - out.data_begin : 0;
  for (GgufTensor& tensor : out.tensors) {
    if (tensor.offset % out.alignment != 0) {
      fail(ErrorCode::bad_file, file, ": tensor ", shown(tensor.name), " begins at ", tensor.offset,
           ", which is no multiple of the file's alignment ", out.alignment);
    }
    uint64_t present = tensor.offset < there ? there - tensor.offset : 0;
    if (tensor.bytes > present) {
      throw Error(ErrorCode::bad_file,
                  say(file, " is incomplete: tensor ", shown(tensor.name), " needs ", tensor.bytes, " bytes, ", present,
                      " are there; download the file again"),
                  tensor.bytes, present);
    }
    tensor.offset += out.data_begin;
  }
}

void refuse_overlaps(const std::string& file, const Gguf& gguf) {
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& tensor : gguf.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->bytes > order[i]->offset) {
      fail(ErrorCode::bad_file, file, ": tensors ", shown(order[i - 1]->name), " and ", shown(order[i]->name),
           " overlap");
    }
  }
}

uint32_t read_version(ByteCursor& in, std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) {
    std::string what = bytes.empty() ? "empty" : impostor_words(bytes);
    if (what.empty()) fail(ErrorCode::bad_file, file, " is not a GGUF file");
    fail(ErrorCode::bad_file, file, " is not a GGUF file but ", what);
  }
  if (bytes.size() < 24) {
    throw Error(ErrorCode::bad_file,
                say(file, " is too short for a GGUF header: ", bytes.size(),
                    " bytes, at least 24 are needed; download it again"),
                24, bytes.size());
  }
  in.take(4);
  uint32_t version = in.number<uint32_t>();
  if (version == 2 || version == 3) return version;
  if (version == 1)
    fail(ErrorCode::bad_file, file, " is of GGUF version 1, which is too old; versions 2 and 3 can be read");
  if ((version & 0xFFFFu) == 0 && version != 0) {
    fail(ErrorCode::bad_file, file, " is a big-endian GGUF file; only little-endian files can be read");
  }
  fail(ErrorCode::bad_file, file, " is of GGUF version ", version, "; versions 2 and 3 can be read");
}

void refuse_count(const std::string& file, const char* what, uint64_t count, uint64_t least, uint64_t most,
                  uint64_t left) {
  if (count > left / least) {
    throw Error(ErrorCode::bad_file,
                say(file, " is damaged: its header claims ", count, " ", what, ", more than the ", left,
                    " bytes after it can hold"),
                count, left);
  }
  if (count > most) fail(ErrorCode::bad_file, file, " claims ", count, " ", what, "; at most ", most, " can be read");
}

}  // namespace

std::string_view to_string(GgufType type) { return type_names[static_cast<size_t>(type)]; }

Gguf parse_gguf(std::span<const std::byte> bytes, const std::string& name) {
  std::span<const std::byte> head = bytes.subspan(0, std::min<uint64_t>(bytes.size(), most_header_bytes));
  ByteCursor in(head, name, "the header");
  Gguf out;
  out.version = read_version(in, head, name);
  uint64_t tensors = in.number<uint64_t>();
  uint64_t values = in.number<uint64_t>();
  refuse_count(name, "metadata keys", values, least_value_bytes, most_values, in.left());
  refuse_count(name, "tensors", tensors, least_tensor_bytes, most_tensors, in.left());
  read_values(in, name, values, head, out);
  read_alignment(name, out);
  read_tensors(in, name, tensors, out);
  out.data_begin = (in.position() + out.alignment - 1) / out.alignment * out.alignment;
  place_tensors(name, bytes.size(), out);
  refuse_overlaps(name, out);
  return out;
}

}  // namespace hearth
