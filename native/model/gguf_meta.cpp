// Typed access to GGUF keys; see gguf_meta.h.
#include "model/gguf_meta.h"

#include <cmath>
#include <cstring>

#include "model/byte_cursor.h"
#include "model/words.h"

namespace hearth {

namespace {

/// An integer of any width and sign. `negative` tells that `magnitude` is below zero.
struct AnyInteger {
  uint64_t magnitude = 0;
  bool negative = false;
};

template <class T>
T load(std::span<const std::byte> raw, uint64_t index = 0) {
  T value;
  std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
AnyInteger widen(T value) {
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) return {uint64_t(0) - static_cast<uint64_t>(static_cast<int64_t>(value)), true};
  }
  return {static_cast<uint64_t>(value), false};
}

std::optional<AnyInteger> integer_at(GgufType type, std::span<const std::byte> raw, uint64_t index = 0) {
  switch (type) {
    case GgufType::u8: return widen(load<uint8_t>(raw, index));
    case GgufType::i8: return widen(load<int8_t>(raw, index));
    case GgufType::u16: return widen(load<uint16_t>(raw, index));
    case GgufType::i16: return widen(load<int16_t>(raw, index));
    case GgufType::u32: return widen(load<uint32_t>(raw, index));
    case GgufType::i32: return widen(load<int32_t>(raw, index));
    case GgufType::u64: return widen(load<uint64_t>(raw, index));
    case GgufType::i64: return widen(load<int64_t>(raw, index));
    default: return std::nullopt;
  }
}

std::string value_words(const GgufValue& value) {
  if (value.type == GgufType::array) return say("an array of ", to_string(value.item));
  return say("of type ", to_string(value.type));
}

}  // namespace

void GgufMeta::wrong_type(std::string_view key, const GgufValue& value, const char* wanted) const {
  fail(ErrorCode::bad_file, file_, ": key ", shown(key), " is ", value_words(value), ", it must be ", wanted);
}

void GgufMeta::missing(std::string_view key) const {
  fail(ErrorCode::bad_file, file_, ": key ", shown(key), " is missing");
}

std::optional<uint64_t> GgufMeta::integer(std::string_view key, uint64_t least, uint64_t most) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  std::optional<AnyInteger> number = integer_at(value->type, value->raw);
  if (!number) wrong_type(key, *value, "a whole number");
  if (number->negative || number->magnitude < least || number->magnitude > most) {
    fail(ErrorCode::bad_file, file_, ": key ", shown(key), " is ", number->negative ? "-" : "", number->magnitude,
         ", it must be from ", least, " to ", most);
  }
  return number->magnitude;
}

std::optional<int64_t> GgufMeta::signed_integer(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  std::optional<AnyInteger> number = integer_at(value->type, value->raw);
  if (!number) wrong_type(key, *value, "a whole number");
  if (number->magnitude > uint64_t(INT64_MAX)) fail(ErrorCode::bad_file, file_, ": key ", shown(key), " is too large");
  int64_t magnitude = static_cast<int64_t>(number->magnitude);
  return number->negative ? -magnitude : magnitude;
}

std::optional<double> GgufMeta::real(std::string_view key, double least, double most) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  double number = 0;
  if (value->type == GgufType::f32) {
    number = load<float>(value->raw);
  } else if (value->type == GgufType::f64) {
    number = load<double>(value->raw);
  } else if (auto whole = integer_at(value->type, value->raw)) {
    number = (whole->negative ? -1.0 : 1.0) * static_cast<double>(whole->magnitude);
  } else {
    wrong_type(key, *value, "a number");
  }
  if (!(number >= least && number <= most)) {
    fail(ErrorCode::bad_file, file_, ": key ", shown(key), " is ", number, ", it must be from ", least, " to ", most);
  }
  return number;
}

std::optional<bool> GgufMeta::boolean(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::boolean) wrong_type(key, *value, "true or false");
  return load<uint8_t>(value->raw) != 0;
}

std::optional<std::string> GgufMeta::text(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::string) wrong_type(key, *value, "text");
  return std::string(reinterpret_cast<const char*>(value->raw.data()), value->raw.size());
}

std::optional<std::vector<std::string>> GgufMeta::texts(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::array || value->item != GgufType::string) wrong_type(key, *value, "an array of texts");
  // Read again with checks: the parser saw these lengths, but the file may have been written to since.
  ByteCursor in(value->raw, file_, "an array of texts");
  std::vector<std::string> out;
  for (uint64_t i = 0; i < value->count; ++i) out.emplace_back(in.string(value->raw.size()));
  return out;
}

std::optional<std::vector<int64_t>> GgufMeta::integers(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::array) wrong_type(key, *value, "an array of whole numbers");
  std::vector<int64_t> out;
  for (uint64_t i = 0; i < value->count; ++i) {
    std::optional<AnyInteger> number =
        value->item == GgufType::boolean ? widen(load<uint8_t>(value->raw, i)) : integer_at(value->item, value->raw, i);
    if (!number) wrong_type(key, *value, "an array of whole numbers");
    if (number->magnitude > uint64_t(INT64_MAX))
      fail(ErrorCode::bad_file, file_, ": key ", shown(key), " has a huge item");
    int64_t magnitude = static_cast<int64_t>(number->magnitude);
    out.push_back(number->negative ? -magnitude : magnitude);
  }
  return out;
}

std::optional<std::vector<float>> GgufMeta::reals(std::string_view key) const {
  const GgufValue* value = gguf_.find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::array || value->item != GgufType::f32)
    wrong_type(key, *value, "an array of f32 numbers");
  std::vector<float> out(value->raw.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), value->raw.data(), out.size() * sizeof(float));
  return out;
}

uint64_t GgufMeta::need_integer(std::string_view key, uint64_t least, uint64_t most) const {
  if (auto value = integer(key, least, most)) return *value;
  missing(key);
}

double GgufMeta::need_real(std::string_view key, double least, double most) const {
  if (auto value = real(key, least, most)) return *value;
  missing(key);
}

std::string GgufMeta::need_text(std::string_view key) const {
  if (auto value = text(key)) return *value;
  missing(key);
}

}  // namespace hearth
