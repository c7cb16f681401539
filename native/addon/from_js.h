// Arguments from JavaScript, checked to the last field: a wrong type or range is a TypeError that names it.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "hearth/engine.h"

namespace hearth::addon {

/// The fields of an object argument. Absent and undefined fields keep their default.
class Fields {
 public:
  Fields(Napi::Value value, std::string what);

  void read(const char* key, bool& out) const;
  void read(const char* key, float& out) const;
  void read(const char* key, double& out) const;
  void read(const char* key, int32_t& out) const;
  void read(const char* key, uint32_t& out) const;
  void read(const char* key, uint64_t& out) const;  // a safe integer >= 0, or a BigInt of 64 bits
  void read(const char* key, std::optional<uint32_t>& out) const;
  void read(const char* key, std::string& out) const;
  void read(const char* key, std::vector<TokenId>& out) const;
  void read_words(const char* key, std::vector<uint32_t>& out) const;
  bool has(const char* key) const;
  Napi::Value get(const char* key) const { return object_.Get(key); }
  std::string path(const char* key) const { return what_ + "." + key; }
  Napi::Env env() const { return object_.Env(); }

 private:
  double integer(const char* key, double least, double most) const;

  Napi::Object object_;
  std::string what_;
};

std::string string_argument(const Napi::CallbackInfo& info, size_t index, const char* what);
uint64_t id_argument(const Napi::CallbackInfo& info, size_t index, const char* what);
Napi::Function function_argument(const Napi::CallbackInfo& info, size_t index, const char* what);
/// An array of integers, or an Int32Array.
std::vector<TokenId> tokens_from(Napi::Value value, const std::string& what);

EngineOptions engine_options(Napi::Value value);
Request request_from(Napi::Value value);
Guide guide_from(Napi::Value value);

}  // namespace hearth::addon
