// Implements the checking of arguments.
#include "addon/from_js.h"

#include <cmath>
#include <utility>

namespace hearth::addon {
namespace {

constexpr double safe_integer = 9007199254740991.0;

[[noreturn]] void refuse(Napi::Env env, const std::string& what, const std::string& must) {
  throw Napi::TypeError::New(env, what + " must be " + must);
}

double number(Napi::Value value, const std::string& what) {
  if (!value.IsNumber()) refuse(value.Env(), what, "a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) refuse(value.Env(), what, "a finite number");
  return number;
}

double integer_in(Napi::Value value, const std::string& what, double least, double most) {
  const double n = number(value, what);
  if (n != std::floor(n) || n < least || n > most) {
    refuse(value.Env(), what, "an integer from " + std::to_string(int64_t(least)) + " to " + std::to_string(int64_t(most)));
  }
  return n;
}

}  // namespace

Fields::Fields(Napi::Value value, std::string what) : what_(std::move(what)) {
  if (!value.IsObject()) refuse(value.Env(), what_, "an object");
  object_ = value.As<Napi::Object>();
}

bool Fields::has(const char* key) const {
  const Napi::Value value = object_.Get(key);
  return !value.IsUndefined() && !value.IsNull();
}

double Fields::integer(const char* key, double least, double most) const {
  return integer_in(object_.Get(key), path(key), least, most);
}

void Fields::read(const char* key, bool& out) const {
  if (!has(key)) return;
  if (!get(key).IsBoolean()) refuse(object_.Env(), path(key), "a boolean");
  out = get(key).As<Napi::Boolean>().Value();
}

void Fields::read(const char* key, float& out) const {
  if (has(key)) out = static_cast<float>(number(get(key), path(key)));
}

void Fields::read(const char* key, double& out) const {
  if (has(key)) out = number(get(key), path(key));
}

void Fields::read(const char* key, int32_t& out) const {
  if (has(key)) out = static_cast<int32_t>(integer(key, INT32_MIN, INT32_MAX));
}

void Fields::read(const char* key, uint32_t& out) const {
  if (has(key)) out = static_cast<uint32_t>(integer(key, 0, UINT32_MAX));
}

void Fields::read(const char* key, uint64_t& out) const {
  if (!has(key)) return;
  const Napi::Value value = get(key);
  if (!value.IsBigInt()) {
    out = static_cast<uint64_t>(integer(key, 0, safe_integer));
    return;
  }
  bool lossless = false;
  out = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) refuse(object_.Env(), path(key), "a BigInt of at most 64 bits, not negative");
}

void Fields::read(const char* key, std::optional<uint32_t>& out) const {
  if (has(key)) out = static_cast<uint32_t>(integer(key, 0, UINT32_MAX));
}

void Fields::read(const char* key, std::string& out) const {
  if (!has(key)) return;
  if (!get(key).IsString()) refuse(object_.Env(), path(key), "a string");
  out = get(key).As<Napi::String>().Utf8Value();
}

void Fields::read(const char* key, std::vector<TokenId>& out) const {
  if (has(key)) out = tokens_from(get(key), path(key));
}

void Fields::read_words(const char* key, std::vector<uint32_t>& out) const {
  if (!has(key)) return;
  const Napi::Value value = get(key);
  const bool words = value.IsTypedArray() && (value.As<Napi::TypedArray>().TypedArrayType() == napi_uint32_array ||
                                              value.As<Napi::TypedArray>().TypedArrayType() == napi_int32_array);
  if (!words) refuse(object_.Env(), path(key), "a Uint32Array or an Int32Array");
  const auto array = value.As<Napi::TypedArrayOf<uint32_t>>();
  out.assign(array.Data(), array.Data() + array.ElementLength());
}

std::string string_argument(const Napi::CallbackInfo& info, size_t index, const char* what) {
  if (!info[index].IsString()) refuse(info.Env(), what, "a string");
  return info[index].As<Napi::String>().Utf8Value();
}

uint64_t id_argument(const Napi::CallbackInfo& info, size_t index, const char* what) {
  return static_cast<uint64_t>(integer_in(info[index], what, 0, safe_integer));
}

Napi::Function function_argument(const Napi::CallbackInfo& info, size_t index, const char* what) {
  if (!info[index].IsFunction()) refuse(info.Env(), what, "a function");
  return info[index].As<Napi::Function>();
}

std::vector<TokenId> tokens_from(Napi::Value value, const std::string& what) {
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_int32_array) {
    const auto array = value.As<Napi::Int32Array>();
    return {array.Data(), array.Data() + array.ElementLength()};
  }
  if (!value.IsArray()) refuse(value.Env(), what, "an array of integers or an Int32Array");
  const auto array = value.As<Napi::Array>();
  std::vector<TokenId> tokens;
  const uint32_t length = array.Length();
  for (uint32_t i = 0; i < length; ++i) {
    Napi::HandleScope scope(value.Env());
    const Napi::Value each = array.Get(i);
    tokens.push_back(static_cast<TokenId>(integer_in(each, what + "[" + std::to_string(i) + "]", INT32_MIN, INT32_MAX)));
  }
  return tokens;
}

namespace {

constexpr uint32_t most_ranks = 8, most_threads = 1024, most_served = 4096;

uint32_t threads_from(const Fields& fields) {
  uint32_t threads = 0;
  fields.read("threads", threads);
  if (threads > most_threads) refuse(fields.env(), fields.path("threads"), "at most 1024");
  return threads;
}

RankOptions rank_from(Napi::Value value, const std::string& what) {
  const Fields fields(value, what);
  RankOptions rank;
  fields.read("device", rank.device);
  rank.threads = threads_from(fields);
  fields.read("share", rank.share);
  fields.read("layers", rank.layers);
  return rank;
}

std::vector<uint32_t> numbers_from(Napi::Value value, const std::string& what) {
  std::vector<uint32_t> numbers;
  for (TokenId each : tokens_from(value, what)) {
    if (each < 0) refuse(value.Env(), what, "numbers, none negative");
    numbers.push_back(static_cast<uint32_t>(each));
  }
  return numbers;
}

ServedExperts served_from(Napi::Value value, const std::string& what) {
  const Fields fields(value, what);
  ServedExperts served;
  if (!fields.has("layer")) refuse(value.Env(), fields.path("layer"), "an integer");
  fields.read("layer", served.layer);
  if (fields.has("experts")) served.experts = numbers_from(fields.get("experts"), fields.path("experts"));
  return served;
}

void read_served(Napi::Value value, const std::string& what, std::vector<ServedExperts>& out) {
  if (!value.IsArray() || value.As<Napi::Array>().Length() > most_served) refuse(value.Env(), what, "an array of layers");
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(served_from(array.Get(i), what + "[" + std::to_string(i) + "]"));
}

void read_mesh(Napi::Value value, EngineOptions& options) {
  const Fields fields(value, "options.mesh");
  std::string split = "layers";
  fields.read("split", split);
  if (split != "layers" && split != "tensor" && split != "handover") refuse(value.Env(), fields.path("split"), "'layers', 'tensor' or 'handover'");
  options.split = split == "tensor" ? RankSplit::tensor : split == "handover" ? RankSplit::handover : RankSplit::layers;
  if (fields.has("served")) read_served(fields.get("served"), fields.path("served"), options.served);
  const Napi::Value ranks = fields.get("ranks");
  const uint32_t count = ranks.IsArray() ? ranks.As<Napi::Array>().Length() : 0;
  if (count == 0 || count > most_ranks) refuse(value.Env(), fields.path("ranks"), "an array of 1 to 8 ranks");
  for (uint32_t i = 0; i < count; ++i) {
    options.ranks.push_back(rank_from(ranks.As<Napi::Array>().Get(i), fields.path("ranks") + "[" + std::to_string(i) + "]"));
  }
}

}  // namespace

EngineOptions engine_options(Napi::Value value) {
  const Fields fields(value, "options");
  EngineOptions options;
  if (!fields.has("modelPath")) refuse(value.Env(), "options.modelPath", "a string");
  fields.read("modelPath", options.model_path);
  fields.read("device", options.device);
  std::string precision = "fast";
  fields.read("precision", precision);
  if (precision != "exact" && precision != "fast") refuse(value.Env(), "options.precision", "'exact' or 'fast'");
  options.precision = precision == "exact" ? Precision::exact : Precision::fast;
  std::string kv = "auto";
  fields.read("kvType", kv);
  if (kv != "auto" && kv != "f16" && kv != "q8") refuse(value.Env(), "options.kvType", "'auto', 'f16' or 'q8'");
  options.kv_type = kv == "f16" ? KvType::f16 : kv == "q8" ? KvType::q8 : KvType::automatic;
  options.threads = threads_from(fields);
  if (fields.has("mesh")) read_mesh(fields.get("mesh"), options);
  fields.read("context", options.context);
  fields.read("kvBytes", options.kv_bytes);
  fields.read("prefillChunk", options.prefill_chunk);
  fields.read("maxSequences", options.max_sequences);
  fields.read("maxWaiting", options.max_waiting);
  fields.read("streamGapMs", options.stream_gap_ms);
  fields.read("promptLookup", options.prompt_lookup);
  fields.read("yarnTruncate", options.yarn_truncate);
  fields.read("prefixCache", options.prefix_cache);
  fields.read("hostCacheBytes", options.host_cache_bytes);
  fields.read("diskCachePath", options.disk_cache_path);
  fields.read("diskCacheBytes", options.disk_cache_bytes);
  fields.read("kernelCachePath", options.kernel_cache_path);
  return options;
}

namespace {

std::vector<std::pair<TokenId, float>> bias_from(Napi::Value value, const std::string& what) {
  if (!value.IsArray()) refuse(value.Env(), what, "an array of [token, bias] pairs");
  std::vector<std::pair<TokenId, float>> bias;
  const auto array = value.As<Napi::Array>();
  const uint32_t length = array.Length();
  for (uint32_t i = 0; i < length; ++i) {
    const Napi::Value pair = array.Get(i);
    const std::string path = what + "[" + std::to_string(i) + "]";
    if (!pair.IsArray() || pair.As<Napi::Array>().Length() != 2) refuse(value.Env(), path, "a [token, bias] pair");
    const auto entry = pair.As<Napi::Array>();
    const auto token = static_cast<TokenId>(integer_in(entry.Get(uint32_t(0)), path + "[0]", INT32_MIN, INT32_MAX));
    bias.emplace_back(token, static_cast<float>(number(entry.Get(uint32_t(1)), path + "[1]")));
  }
  return bias;
}

Sampling sampling_from(Napi::Value value, const std::string& what) {
  const Fields fields(value, what);
  Sampling s;
  fields.read("temperature", s.temperature);
  fields.read("topK", s.top_k);
  fields.read("topP", s.top_p);
  fields.read("minP", s.min_p);
  fields.read("repetitionPenalty", s.repetition_penalty);
  fields.read("frequencyPenalty", s.frequency_penalty);
  fields.read("presencePenalty", s.presence_penalty);
  if (fields.has("logitBias")) s.logit_bias = bias_from(fields.get("logitBias"), fields.path("logitBias"));
  fields.read("seed", s.seed);
  fields.read("logprobs", s.logprobs);
  return s;
}

}  // namespace

Request request_from(Napi::Value value) {
  const Fields fields(value, "request");
  Request request;
  if (!fields.has("id")) refuse(value.Env(), "request.id", "an integer");
  if (fields.get("id").IsBigInt()) refuse(value.Env(), "request.id", "a safe integer");
  fields.read("id", request.id);
  fields.read("prompt", request.prompt);
  fields.read("resumeTokens", request.resume_tokens);
  if (fields.has("sampling")) request.sampling = sampling_from(fields.get("sampling"), "request.sampling");
  fields.read("maxTokens", request.max_tokens);
  fields.read("stopTokens", request.stop_tokens);
  fields.read("bannedTokens", request.banned_tokens);
  fields.read("pauseAt", request.pause_at);
  fields.read("promptLogprobs", request.prompt_logprobs);
  fields.read("priority", request.priority);
  fields.read("useCache", request.use_cache);
  fields.read("cacheScope", request.cache_scope);
  std::vector<TokenId> cuts;
  fields.read("cutPoints", cuts);
  for (TokenId cut : cuts) {
    if (cut < 0) refuse(value.Env(), fields.path("cutPoints"), "numbers of tokens, not negative");
    request.cut_points.push_back(static_cast<uint32_t>(cut));
  }
  return request;
}

Guide guide_from(Napi::Value value) {
  const Fields fields(value, "guide");
  Guide guide;
  if (!fields.has("index")) refuse(value.Env(), "guide.index", "an integer");
  fields.read("index", guide.index);
  fields.read("forced", guide.forced);
  fields.read_words("mask", guide.mask);
  fields.read("pauseAt", guide.pause_at);
  return guide;
}

}  // namespace hearth::addon
