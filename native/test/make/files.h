// Makers of model files for tests: GGUF and safetensors containers written by hand, right or wrong, and a folder that
// vanishes with the test. They check nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace hearth::make {

class TempFolder {
 public:
  TempFolder() {
    std::random_device seed;
    path_ = std::filesystem::temp_directory_path() / ("hearth-test-" + std::to_string(seed()) + std::to_string(seed()));
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const { return (name.empty() ? path_ : path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

template <class T>
std::string raw(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

inline std::string text(const std::string& s) { return raw<uint64_t>(s.size()) + s; }

enum : uint32_t { U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 };
enum : uint32_t { T_F32 = 0, T_F16 = 1, T_Q8_0 = 8, T_BF16 = 30, T_MXFP4 = 39 };

/// A GGUF file, key by key and tensor by tensor. `shape` is slowest dimension first, as everywhere in Hearth.
class Gguf {
 public:
  Gguf& key(const std::string& name, uint32_t type, const std::string& value) {
    for (auto& [known, bytes] : keys_) {
      if (known == name) return bytes = raw(type) + value, *this;
    }
    keys_.emplace_back(name, raw(type) + value);
    return *this;
  }
  /// The same key once more, which no right file has.
  Gguf& repeat(const std::string& name, uint32_t type, const std::string& value) {
    keys_.emplace_back(name, raw(type) + value);
    return *this;
  }
  Gguf& u32(const std::string& name, uint32_t value) { return key(name, U32, raw(value)); }
  Gguf& f32(const std::string& name, float value) { return key(name, F32, raw(value)); }
  Gguf& str(const std::string& name, const std::string& value) { return key(name, STR, text(value)); }
  Gguf& flag(const std::string& name, bool value) { return key(name, BOOL, raw<uint8_t>(value)); }
  Gguf& strs(const std::string& name, const std::vector<std::string>& values) {
    std::string out = raw<uint32_t>(STR) + raw<uint64_t>(values.size());
    for (const std::string& value : values) out += text(value);
    return key(name, ARR, out);
  }
  template <class T>
  Gguf& array(const std::string& name, uint32_t type, const std::vector<T>& values) {
    std::string out = raw(type) + raw<uint64_t>(values.size());
    for (T value : values) out += raw(value);
    return key(name, ARR, out);
  }
  Gguf& without(const std::string& name) {
    std::erase_if(keys_, [&](auto& each) { return each.first == name; });
    return *this;
  }
  /// Appends data and describes it.
  Gguf& tensor(const std::string& name, std::vector<uint64_t> shape, uint32_t type, const std::string& bytes) {
    info(name, std::move(shape), type, data_.size());
    data_ += bytes;
    data_.resize((data_.size() + 31) / 32 * 32);
    return *this;
  }
  /// Describes a tensor at an offset without data.
  Gguf& info(const std::string& name, std::vector<uint64_t> shape, uint32_t type, uint64_t offset) {
    std::string out = text(name) + raw(uint32_t(shape.size()));
    for (auto at = shape.rbegin(); at != shape.rend(); ++at) out += raw(*at);
    infos_.push_back(out + raw(type) + raw(offset));
    return *this;
  }
  Gguf& data(const std::string& bytes) { return data_ += bytes, *this; }

  std::string bytes(uint32_t version = 3) const {
    std::string out = "GGUF" + raw(version) + raw<uint64_t>(infos_.size()) + raw<uint64_t>(keys_.size());
    for (auto& [name, value] : keys_) out += text(name) + value;
    for (auto& each : infos_) out += each;
    out.resize((out.size() + 31) / 32 * 32);
    return out + data_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> keys_;
  std::vector<std::string> infos_;
  std::string data_;
};

/// A safetensors file out of a header text. `length` overrides the stated header length.
inline std::string safetensors(const std::string& header, const std::string& data = "", int64_t length = -1) {
  return raw<uint64_t>(length < 0 ? header.size() : uint64_t(length)) + header + data;
}

/// A safetensors file, tensor by tensor.
class Safetensors {
 public:
  Safetensors& tensor(const std::string& name, const std::string& type, const std::vector<uint64_t>& shape,
                      const std::string& bytes) {
    std::string sizes;
    for (uint64_t size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    header_ += (header_.empty() ? "\"" : ",\"") + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + sizes +
               "],\"data_offsets\":[" + std::to_string(data_.size()) + "," +
               std::to_string(data_.size() + bytes.size()) + "]}";
    data_ += bytes;
    return *this;
  }
  std::string bytes() const { return safetensors("{" + header_ + "}", data_); }

 private:
  std::string header_, data_;
};

/// n values of a type, from a counter: small, distinct, exact in bfloat16 and half.
inline std::string values(uint64_t n, const std::string& type, float first = 0.0f) {
  std::string out;
  for (uint64_t i = 0; i < n; ++i) {
    float value = first + static_cast<float>(static_cast<int>(i % 127) - 63) / 64.0f;
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    out += type == "BF16" ? raw(uint16_t(bits >> 16)) : raw(value);
  }
  return out;
}

}  // namespace hearth::make
