// One loaded engine as a JavaScript object. It owns the engine's lifetime and the way of its events to the handler.
#pragma once

#include <napi.h>

#include <future>
#include <memory>

#include "hearth/engine.h"

namespace hearth::addon {

/// An engine and the moment when the last user of it has let go.
struct HeldEngine {
  std::shared_ptr<Engine> engine;
  std::shared_future<void> gone;
};
HeldEngine hold(std::unique_ptr<Engine> engine);

class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object create(Napi::Env env, const Napi::FunctionReference& constructor, HeldEngine held);

  explicit EngineObject(const Napi::CallbackInfo& info);
  ~EngineObject() override;

 private:
  static void deliver(Napi::Env env, Napi::Function unused, EngineObject* self, void* data);
  using Waker = Napi::TypedThreadSafeFunction<EngineObject, void, deliver>;

  Napi::Value info(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value expert_uses(const Napi::CallbackInfo& info);
  void submit(const Napi::CallbackInfo& info);
  void guide(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  void set_kv_grant(const Napi::CallbackInfo& info);
  void set_event_handler(const Napi::CallbackInfo& info);
  Napi::Value logits(const Napi::CallbackInfo& info);
  Napi::Value all_logits(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  static void on_teardown(void* self);
  Engine& engine(Napi::Env env) const;
  void open_waker(Napi::Env env);
  void close_waker(Napi::Env env);
  void emit(Napi::Env env, const std::vector<Event>& events);
  void count_live(Napi::Env env, int64_t change);

  HeldEngine held_;
  Napi::FunctionReference handler_;
  Napi::ObjectReference closing_;  // holds the promise of close()
  Waker waker_;
  bool waker_open_ = false;
  int64_t live_ = 0;  // submitted and not yet finished: the event loop stays alive for them
};

}  // namespace hearth::addon
