// Implements the conversion of results and events.
#include "addon/to_js.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

namespace hearth::addon {
namespace {

/// Builds an object field by field.
class Object {
 public:
  explicit Object(Napi::Env env) : env_(env), object_(Napi::Object::New(env)) {}
  Object& set(const char* key, const std::string& value) { return put(key, Napi::String::New(env_, value)); }
  Object& set(const char* key, const char* value) { return put(key, Napi::String::New(env_, value)); }
  Object& set(const char* key, bool value) { return put(key, Napi::Boolean::New(env_, value)); }
  Object& set(const char* key, double value) { return put(key, Napi::Number::New(env_, value)); }
  Object& set(const char* key, float value) { return set(key, double(value)); }
  Object& set(const char* key, uint32_t value) { return set(key, double(value)); }
  Object& set(const char* key, int32_t value) { return set(key, double(value)); }
  Object& set(const char* key, uint64_t value) { return set(key, double(value)); }
  Object& put(const char* key, Napi::Value value) {
    object_.Set(key, value);
    return *this;
  }
  Napi::Object done() const { return object_; }

 private:
  Napi::Env env_;
  Napi::Object object_;
};

template <typename Items, typename Convert>
Napi::Array list(Napi::Env env, const Items& items, Convert convert) {
  Napi::Array array = Napi::Array::New(env, items.size());
  uint32_t index = 0;
  for (const auto& each : items) {
    Napi::HandleScope scope(env);  // vocabularies have hundreds of thousands of entries
    array.Set(index++, convert(each));
  }
  return array;
}

Napi::Array strings(Napi::Env env, const std::vector<std::string>& items) {
  return list(env, items, [&](const std::string& each) { return Napi::String::New(env, each); });
}

/// Vocabularies have hundreds of thousands of entries: two arrays instead of a string each.
Napi::Value texts(Napi::Env env, const std::vector<std::string>& items) {
  size_t size = 0;
  for (const std::string& each : items) size += each.size();
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, size);
  Napi::Uint32Array ends = Napi::Uint32Array::New(env, items.size());
  size_t end = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    std::copy(items[i].begin(), items[i].end(), bytes.Data() + end);
    ends[i] = static_cast<uint32_t>(end += items[i].size());
  }
  return Object(env).put("bytes", bytes).put("ends", ends).done();
}

template <typename Typed, typename Item>
Typed typed_copy(Napi::Env env, const std::vector<Item>& items) {
  Typed array = Typed::New(env, items.size());
  if (!items.empty()) std::memcpy(array.Data(), items.data(), items.size() * sizeof(Item));
  return array;
}

Napi::Value tokenizer(Napi::Env env, const TokenizerData& t) {
  Object o(env);
  o.set("model", t.model).set("pre", t.pre);
  o.put("tokens", texts(env, t.tokens)).put("merges", texts(env, t.merges));
  o.put("scores", typed_copy<Napi::Float32Array>(env, t.scores)).put("types", typed_copy<Napi::Int32Array>(env, t.types));
  o.set("bos", t.bos).set("eos", t.eos).set("unknown", t.unknown).set("padding", t.padding);
  o.put("eosIds", list(env, t.eos_ids, [&](int32_t id) { return Napi::Number::New(env, id); }));
  o.set("addBos", t.add_bos).set("addEos", t.add_eos).set("addSpacePrefix", t.add_space_prefix);
  o.set("chatTemplate", t.chat_template).set("tokenizerJson", t.tokenizer_json);
  return o.done();
}

Napi::Value tensor(Napi::Env env, const TensorInfo& t) {
  Object o(env);
  o.set("name", t.name).set("type", t.type).set("bytes", t.bytes);
  o.put("shape", list(env, t.shape, [&](uint64_t n) { return Napi::Number::New(env, double(n)); }));
  return o.done();
}

Napi::Value graphics(Napi::Env env, const Graphics& g) {
  Object o(env);
  o.set("type", g.type).set("uuid", g.uuid).set("pci", g.pci).set("driver", g.driver);
  o.set("api", std::to_string(g.api_major) + "." + std::to_string(g.api_minor));
  o.set("unified", g.unified).set("budgetKnown", g.budget_known);
  o.put("heaps", list(env, g.heaps, [&](const DeviceHeap& h) {
    return Object(env).set("bytes", h.bytes).set("budget", h.budget).set("used", h.used).set("local", h.local).done();
  }));
  o.put("off", list(env, g.off, [&](const DeviceOff& off) {
    return Object(env).set("feature", off.feature).set("reason", off.reason).done();
  }));
  return o.done();
}

Napi::Value logprob(Napi::Env env, const TokenLogprob& t) {
  return Object(env).set("token", t.token).set("logprob", t.logprob).done();
}

Napi::Array logprobs(Napi::Env env, const std::vector<TokenLogprob>& items) {
  return list(env, items, [&](const TokenLogprob& each) { return logprob(env, each); });
}

const char* name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::repetition: return "repetition";
    case FinishReason::cancelled: return "cancelled";
    default: return "error";
  }
}

const char* name_of(CacheMiss miss) { return cache_miss_names[static_cast<size_t>(miss)]; }

/// Milliseconds since the event's step ended: clocks of two worlds need not agree, their differences do.
double ago_ms(const Event& e) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - e.at).count();
}

void add_prefill(Napi::Env env, Object& o, const Event& e) {
  o.set("kind", "prefill").set("index", e.index).set("total", e.total).set("cached", e.cached).set("agoMs", ago_ms(e));
  o.set("cacheMiss", name_of(e.cache_miss));
  if (e.prompt_logprobs.empty()) return;
  o.put("promptLogprobs", logprobs(env, e.prompt_logprobs));
  o.put("promptTop", list(env, e.prompt_top, [&](const auto& top) { return logprobs(env, top); }));
}

void add_token(Napi::Env env, Object& o, const Event& e) {
  o.set("kind", "token").set("index", e.index).set("token", e.token).set("forced", e.forced);
  o.set("agoMs", ago_ms(e));
  if (!e.logprob) return;
  o.set("logprob", *e.logprob);
  o.put("top", logprobs(env, e.top));
}

void add_finished(Napi::Env env, Object& o, const Event& e) {
  o.set("kind", "finished").set("total", e.total).set("cached", e.cached).set("reason", name_of(e.reason));
  o.set("cacheMiss", name_of(e.cache_miss));
  if (!e.error) return;
  Object error(env);
  error.set("code", std::string(to_string(*e.error))).set("message", e.message);
  if (!e.device.empty()) error.set("device", e.device);
  o.put("error", error.done());
}

}  // namespace

Napi::Value to_js(Napi::Env env, const ModelInfo& m) {
  Object o(env);
  o.set("path", m.path).set("modelId", m.model_id).set("architecture", m.architecture);
  o.set("name", m.name).set("license", m.license).set("parameters", m.parameters).set("fileBytes", m.file_bytes);
  o.set("quantization", m.quantization).set("layers", m.layers).set("hidden", m.hidden);
  o.set("vocabulary", m.vocabulary).set("context", m.context).set("experts", m.experts).set("expertsUsed", m.experts_used);
  return o.done();
}

Napi::Value to_js(Napi::Env env, const Inspection& inspection) {
  Object o(env);
  o.put("model", to_js(env, inspection.model)).put("tokenizer", tokenizer(env, inspection.tokenizer));
  o.put("tensors", list(env, inspection.tensors, [&](const TensorInfo& each) { return tensor(env, each); }));
  o.set("kvBytesPerToken", inspection.kv_bytes_per_token).put("warnings", strings(env, inspection.warnings));
  return o.done();
}

Napi::Value to_js(Napi::Env env, const MemoryPlan& plan) {
  Object o(env);
  o.put("model", to_js(env, plan.model));
  o.put("tensors", list(env, plan.tensors, [&](const TensorInfo& each) { return tensor(env, each); }));
  o.set("weightBytes", plan.weight_bytes).set("scratchBytes", plan.scratch_bytes);
  o.set("deviceScratchBytes", plan.device_scratch_bytes);
  o.put("scratchOfParts", Object(env).set("row", plan.row_scratch_bytes).set("share", plan.share_scratch_bytes).done());
  o.set("mostShares", plan.most_shares);
  o.put("layerGroups", list(env, plan.layer_groups, [&](uint32_t n) { return Napi::Number::New(env, n); }));
  o.set("blockTokens", plan.block_tokens).set("prefillRows", plan.prefill_rows);
  o.put("windows", list(env, plan.windows, [&](uint32_t n) { return Napi::Number::New(env, n); }));
  o.put("blockBytes", Object(env).set("f16", plan.block_bytes_f16).set("q8", plan.block_bytes_q8).done());
  return o.done();
}

Napi::Value to_js(Napi::Env env, const Devices& devices) {
  const auto device = [&](const Device& d) {
    Object o(env);
    o.set("id", d.id).set("name", d.name).set("kind", d.kind).set("memoryTotal", d.memory_total);
    o.set("memoryFree", d.memory_free).set("cores", d.cores).put("features", strings(env, d.features));
    if (d.graphics) o.put("graphics", graphics(env, *d.graphics));
    return o.done();
  };
  return Object(env).put("devices", list(env, devices.devices, device)).put("notes", strings(env, devices.notes)).done();
}

Napi::Value to_js(Napi::Env env, const EngineStats& s) {
  Object o(env);
  o.set("weightBytes", s.weight_bytes).set("kvBytesUsed", s.kv_bytes_used).set("kvBytesTotal", s.kv_bytes_total);
  o.set("deviceBytes", s.device_bytes);
  o.set("spilledBytes", s.spilled_bytes);
  o.set("scratchBytes", s.scratch_bytes).set("blocksUsed", s.blocks_used).set("blocksFree", s.blocks_free);
  o.set("running", s.running).set("waiting", s.waiting).set("promptTokens", s.prompt_tokens);
  o.set("outputTokens", s.output_tokens).set("requests", s.requests).set("preemptions", s.preemptions);
  o.set("drafted", s.drafted).set("accepted", s.accepted);
  o.set("prefillTps", s.prefill_tps).set("decodeTps", s.decode_tps);
  o.set("blocksFetched", s.blocks_fetched).set("blocksStored", s.blocks_stored);
  o.set("hostCacheBytes", s.host_cache_bytes).set("diskCacheBytes", s.disk_cache_bytes);
  o.set("blocksCached", s.blocks_cached).set("cachedTokens", s.cached_tokens);
  Object misses(env);
  for (size_t i = 0; i < s.cache_misses.size(); ++i) misses.set(cache_miss_names[i], s.cache_misses[i]);
  o.put("cacheMisses", misses.done());
  return o.done();
}

Napi::Value to_js(Napi::Env env, const ExpertUses& u) {
  const auto counts = [&](const std::vector<uint64_t>& all) {
    Napi::Float64Array out = Napi::Float64Array::New(env, all.size());
    std::ranges::transform(all, out.Data(), [](uint64_t each) { return double(each); });
    return out;
  };
  Object o(env);
  o.set("layers", u.layers).set("experts", u.experts).put("uses", counts(u.uses)).put("rows", counts(u.rows));
  return o.done();
}

Napi::Value to_js(Napi::Env env, const Event& e) {
  Object o(env);
  o.set("id", e.id);
  switch (e.kind) {
    case Event::Kind::prefill: add_prefill(env, o, e); break;
    case Event::Kind::token: add_token(env, o, e); break;
    case Event::Kind::paused: o.set("kind", "paused").set("index", e.index); break;
    case Event::Kind::finished: add_finished(env, o, e); break;
  }
  return o.done();
}

Napi::Value to_js(Napi::Env env, const std::vector<Event>& events) {
  return list(env, events, [&](const Event& each) { return to_js(env, each); });
}

Napi::Value to_js(Napi::Env env, const std::vector<std::string>& sentences) { return strings(env, sentences); }

Napi::Value to_js(Napi::Env env, const std::vector<float>& values) {
  return typed_copy<Napi::Float32Array>(env, values);
}

}  // namespace hearth::addon
