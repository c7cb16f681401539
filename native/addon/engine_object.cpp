// Implements the engine object. Everything here runs on the JavaScript thread, except the waker's call.
#include "addon/engine_object.h"

#include <utility>

#include "addon/errors.h"
#include "addon/from_js.h"
#include "addon/to_js.h"
#include "addon/work.h"
#include "hearth/probe.h"

namespace hearth::addon {

HeldEngine hold(std::unique_ptr<Engine> engine) {
  auto gone = std::make_shared<std::promise<void>>();
  HeldEngine held;
  held.gone = gone->get_future().share();
  held.engine = std::shared_ptr<Engine>(engine.release(), [gone](Engine* last) {
    delete last;
    gone->set_value();
  });
  return held;
}

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "Engine",
                     {
                         InstanceMethod<&EngineObject::info>("info"),
                         InstanceMethod<&EngineObject::stats>("stats"),
                         InstanceMethod<&EngineObject::expert_uses>("expertUses"),
                         InstanceMethod<&EngineObject::submit>("submit"),
                         InstanceMethod<&EngineObject::guide>("guide"),
                         InstanceMethod<&EngineObject::cancel>("cancel"),
                         InstanceMethod<&EngineObject::set_kv_grant>("setKvGrant"),
                         InstanceMethod<&EngineObject::set_event_handler>("setEventHandler"),
                         InstanceMethod<&EngineObject::logits>("logits"),
                         InstanceMethod<&EngineObject::all_logits>("allLogits"),
                         InstanceMethod<&EngineObject::close>("close"),
                     });
}

Napi::Object EngineObject::create(Napi::Env env, const Napi::FunctionReference& constructor, HeldEngine held) {
  return constructor.New({Napi::External<HeldEngine>::New(env, &held)});
}

EngineObject::EngineObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  // Reached from JavaScript through `constructor` of an engine, there is nothing to hold.
  if (info.Length() != 1 || !info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "An engine is made by load()");
  held_ = std::move(*info[0].As<Napi::External<HeldEngine>>().Data());
}

EngineObject::~EngineObject() {
  if (held_.engine) held_.engine->stop();
}

Engine& EngineObject::engine(Napi::Env env) const {
  if (!held_.engine) throw addon::to_js(env, Failure{ErrorCode::invalid_request, "The engine is closed.", 0, 0});
  return *held_.engine;
}

Napi::Value EngineObject::info(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&]() -> Napi::Value {
    const Engine& e = engine(env);
    Napi::Object o = Napi::Object::New(env);
    o.Set("model", to_js(env, e.model()));
    o.Set("context", Napi::Number::New(env, e.context()));
    o.Set("kernels", Napi::String::New(env, e.kernels()));
    o.Set("notes", to_js(env, e.notes()));
    o.Set("build", Napi::String::New(env, engine_build()));
    return o;
  });
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return to_js(info.Env(), engine(info.Env()).stats()); });
}

Napi::Value EngineObject::expert_uses(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return to_js(info.Env(), engine(info.Env()).expert_uses()); });
}

void EngineObject::submit(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    Engine& e = engine(info.Env());
    e.submit(request_from(info[0]));
    count_live(info.Env(), +1);
  });
}

void EngineObject::guide(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { engine(info.Env()).guide(id_argument(info, 0, "id"), guide_from(info[1])); });
}

void EngineObject::cancel(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { engine(info.Env()).cancel(id_argument(info, 0, "id")); });
}

void EngineObject::set_kv_grant(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { engine(info.Env()).set_kv_grant(id_argument(info, 0, "bytes")); });
}

void EngineObject::set_event_handler(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  guarded(env, [&] {
    Engine& e = engine(env);
    if (info[0].IsNull() || info[0].IsUndefined()) {
      handler_.Reset();
      return;
    }
    handler_ = Napi::Persistent(function_argument(info, 0, "handler"));
    if (!waker_open_) open_waker(env);
    e.on_events([waker = waker_] { waker.NonBlockingCall(); });
  });
}

void EngineObject::open_waker(Napi::Env env) {
  Ref();  // the object lives until the last call of the waker has been made
  waker_ = Waker::New(env, "hearth events", 0, 1, this, [](Napi::Env, EngineObject* self, EngineObject*) { self->Unref(); }, this);
  waker_open_ = true;
  if (live_ == 0) waker_.Unref(env);
  // Added after the waker and so run before its own clean-up: the engine's thread is gone before the waker is.
  napi_add_env_cleanup_hook(env, &EngineObject::on_teardown, this);
}

void EngineObject::close_waker(Napi::Env env) {
  if (!waker_open_) return;
  waker_open_ = false;
  napi_remove_env_cleanup_hook(env, &EngineObject::on_teardown, this);
  waker_.Release();
}

void EngineObject::on_teardown(void* self) {
  if (const auto& engine = static_cast<EngineObject*>(self)->held_.engine) engine->stop();
}

void EngineObject::deliver(Napi::Env env, Napi::Function, EngineObject* self, void*) {
  // No environment: it is being torn down. No engine: close() delivers what is left.
  if (env == nullptr || !self->held_.engine) return;
  try {
    self->emit(env, self->held_.engine->drain());
  } catch (const Napi::Error& thrown) {
    napi_fatal_exception(env, thrown.Value());  // the handler's own exception: uncaught, as from any callback
  }
}

void EngineObject::emit(Napi::Env env, const std::vector<Event>& events) {
  if (events.empty()) return;
  int64_t finished = 0;
  for (const Event& each : events) finished += each.kind == Event::Kind::finished ? 1 : 0;
  count_live(env, -finished);
  if (!handler_.IsEmpty()) handler_.Call({to_js(env, events)});
}

void EngineObject::count_live(Napi::Env env, int64_t change) {
  const bool before = live_ > 0;
  live_ += change;
  if (!waker_open_ || before == (live_ > 0)) return;
  if (live_ > 0) waker_.Ref(env);
  else waker_.Unref(env);
}

Napi::Value EngineObject::logits(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    engine(info.Env());
    return Work<std::vector<float>>::start(
        info.Env(), [engine = held_.engine, tokens = tokens_from(info[0], "tokens")] { return engine->logits(tokens); },
        [](Napi::Env env, std::vector<float>& values) { return to_js(env, values); });
  });
}

Napi::Value EngineObject::all_logits(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    engine(info.Env());
    return Work<std::vector<float>>::start(
        info.Env(), [engine = held_.engine, tokens = tokens_from(info[0], "tokens")] { return engine->all_logits(tokens); },
        [](Napi::Env env, std::vector<float>& values) { return to_js(env, values); });
  });
}

Napi::Value EngineObject::close(const Napi::CallbackInfo& info) {
  if (!closing_.IsEmpty()) return closing_.Value().Get("promise");
  Ref();  // until the promise settles
  HeldEngine held = std::move(held_);
  held_ = {};
  const Napi::Promise promise = Work<std::vector<Event>>::start(
      info.Env(),
      [held = std::make_shared<HeldEngine>(std::move(held))] {
        held->engine->stop();
        std::vector<Event> last = held->engine->drain();
        held->engine.reset();
        held->gone.wait();  // a logits() under way has been told to stop; its worker lets go last
        return last;
      },
      [this](Napi::Env env, std::vector<Event>& last) -> Napi::Value {
        close_waker(env);
        Unref();
        emit(env, last);
        return env.Undefined();
      });
  Napi::Object holder = Napi::Object::New(info.Env());
  holder.Set("promise", promise);
  closing_ = Napi::Persistent(holder);
  return promise;
}

}  // namespace hearth::addon
