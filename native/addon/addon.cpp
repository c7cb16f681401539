// hearth.node: the functions of the module. The interface in TypeScript is electron/runtime/addon.ts.
// Binding only: arguments in, calls to include/hearth, results out.
#include <napi.h>

#include <atomic>
#include <memory>
#include <string>

#include "addon/engine_object.h"
#include "addon/errors.h"
#include "addon/from_js.h"
#include "addon/to_js.h"
#include "addon/work.h"
#include "bench/machine_limits.h"
#include "hearth/engine.h"
#include "hearth/probe.h"

namespace hearth::addon {
namespace {

/// Per environment (main thread, worker threads): the class behind load()'s result.
struct Environment {
  Napi::FunctionReference engine_constructor;
};

struct LoadStep {
  const char* phase;  // a literal
  double fraction;
};

/// A load on a worker thread, with progress on the way.
class LoadWork : public Napi::AsyncProgressQueueWorker<LoadStep> {
 public:
  LoadWork(Napi::Env env, EngineOptions options, Napi::Function on_progress)
      : AsyncProgressQueueWorker(env, "hearth load"), deferred_(Napi::Promise::Deferred::New(env)),
        options_(std::move(options)), cancel_(std::make_shared<std::atomic<bool>>(false)) {
    if (!on_progress.IsEmpty()) on_progress_ = Napi::Persistent(on_progress);
  }

  Napi::Promise promise() const { return deferred_.Promise(); }
  std::shared_ptr<std::atomic<bool>> cancel_flag() const { return cancel_; }

 private:
  void Execute(const ExecutionProgress& progress) override {
    try {
      held_ = hold(Engine::load(
          options_,
          [&](const char* phase, double fraction) {
            const LoadStep step{phase, fraction};
            progress.Send(&step, 1);
          },
          cancel_.get()));
    } catch (...) {
      failure_ = failure_of(std::current_exception());
    }
  }

  void OnProgress(const LoadStep* steps, size_t count) override {
    if (on_progress_.IsEmpty()) return;
    Napi::HandleScope scope(Env());
    for (size_t i = 0; i < count; ++i) {
      on_progress_.Call({Napi::String::New(Env(), steps[i].phase), Napi::Number::New(Env(), steps[i].fraction)});
    }
  }

  void OnOK() override {
    Napi::HandleScope scope(Env());
    if (failure_) return deferred_.Reject(addon::to_js(Env(), *failure_).Value());
    const auto& constructor = Env().GetInstanceData<Environment>()->engine_constructor;
    deferred_.Resolve(EngineObject::create(Env(), constructor, std::move(held_)));
  }

  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

  Napi::Promise::Deferred deferred_;
  EngineOptions options_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  Napi::FunctionReference on_progress_;
  HeldEngine held_;
  std::optional<Failure> failure_;
};

template <typename Result>
Napi::Promise promise_of(Napi::Env env, std::function<Result()> job) {
  return Work<Result>::start(env, std::move(job), [](Napi::Env env, Result& result) { return to_js(env, result); });
}

Napi::Value inspect_file(const Napi::CallbackInfo& info) {
  return promise_of<Inspection>(info.Env(), [path = string_argument(info, 0, "path")] { return inspect(path); });
}

Napi::Value identify_file(const Napi::CallbackInfo& info) {
  return promise_of<ModelInfo>(info.Env(), [path = string_argument(info, 0, "path")] { return identify(path); });
}

Napi::Value plan_memory_of(const Napi::CallbackInfo& info) {
  return promise_of<MemoryPlan>(info.Env(), [options = engine_options(info[0])] { return plan_memory(options); });
}

Napi::Value list_devices(const Napi::CallbackInfo& info) {
  std::string folder;
  if (!info[0].IsUndefined()) folder = string_argument(info, 0, "kernelCachePath");
  return promise_of<Devices>(info.Env(), [folder] { return devices(folder); });
}

Napi::Value build(const Napi::CallbackInfo& info) { return Napi::String::New(info.Env(), engine_build()); }

Napi::Value load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  EngineOptions options = engine_options(info[0]);
  Napi::Function on_progress;
  if (!info[1].IsUndefined() && !info[1].IsNull()) on_progress = function_argument(info, 1, "onProgress");
  auto* work = new LoadWork(env, std::move(options), on_progress);
  Napi::Object task = Napi::Object::New(env);
  task.Set("engine", work->promise());
  task.Set("cancel", Napi::Function::New(env, [flag = work->cancel_flag()](const Napi::CallbackInfo&) { *flag = true; }));
  work->Queue();
  return task;
}

Napi::Value limits_object(Napi::Env env, uint32_t threads, double bytes, double operations, const std::string& kernel) {
  Napi::Object o = Napi::Object::New(env);
  o.Set("threads", Napi::Number::New(env, threads));
  o.Set("readBytesPerSecond", Napi::Number::New(env, bytes));
  o.Set("int8OpsPerSecond", Napi::Number::New(env, operations));
  o.Set("int8Kernel", Napi::String::New(env, kernel));
  return o;
}

Napi::Value machine_limits(const Napi::CallbackInfo& info) {
  uint32_t threads = 0;
  double seconds = 1.0;
  std::string device = "cpu";
  if (!info[0].IsUndefined()) {
    const Fields fields(info[0], "options");
    fields.read("threads", threads);
    fields.read("seconds", seconds);
    fields.read("device", device);
    if (threads > 1024) throw Napi::TypeError::New(info.Env(), "options.threads must be at most 1024");
    if (!(seconds > 0.0 && seconds <= 60.0)) throw Napi::TypeError::New(info.Env(), "options.seconds must be above 0 and at most 60");
  }
  if (device != "cpu") {
    return Work<DeviceRates>::start(
        info.Env(), [device] { return device_rates(device); },
        [](Napi::Env env, DeviceRates& rates) { return limits_object(env, 0, rates.bytes_per_second, rates.operations_per_second, rates.units); });
  }
  return Work<MachineLimits>::start(
      info.Env(), [threads, seconds] { return measure_machine_limits(threads, seconds); },
      [](Napi::Env env, MachineLimits& limits) {
        return limits_object(env, limits.threads, limits.read_bytes_per_second, limits.int8_ops_per_second, limits.int8_kernel);
      });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* environment = new Environment;
  environment->engine_constructor = Napi::Persistent(EngineObject::define(env));
  env.SetInstanceData(environment);
  exports.Set("inspect", Napi::Function::New<inspect_file>(env, "inspect"));
  exports.Set("identify", Napi::Function::New<identify_file>(env, "identify"));
  exports.Set("planMemory", Napi::Function::New<plan_memory_of>(env, "planMemory"));
  exports.Set("devices", Napi::Function::New<list_devices>(env, "devices"));
  exports.Set("engineBuild", Napi::Function::New<build>(env, "engineBuild"));
  exports.Set("load", Napi::Function::New<load>(env, "load"));
  exports.Set("machineLimits", Napi::Function::New<machine_limits>(env, "machineLimits"));
  return exports;
}

}  // namespace
}  // namespace hearth::addon

static Napi::Object Init(Napi::Env env, Napi::Object exports) { return hearth::addon::init(env, exports); }
NODE_API_MODULE(hearth, Init)
