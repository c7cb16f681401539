// A promise for work on a worker thread: the job makes plain data there, the conversion makes JavaScript of it here.
#pragma once

#include <napi.h>

#include <functional>
#include <optional>
#include <utility>

#include "addon/errors.h"

namespace hearth::addon {

template <typename Result>
class Work : public Napi::AsyncWorker {
 public:
  using Job = std::function<Result()>;
  using Convert = std::function<Napi::Value(Napi::Env, Result&)>;

  static Napi::Promise start(Napi::Env env, Job job, Convert convert) {
    auto* work = new Work(env, std::move(job), std::move(convert));
    const Napi::Promise promise = work->deferred_.Promise();
    work->Queue();
    return promise;
  }

 private:
  Work(Napi::Env env, Job job, Convert convert)
      : AsyncWorker(env, "hearth"), deferred_(Napi::Promise::Deferred::New(env)), job_(std::move(job)),
        convert_(std::move(convert)) {}

  void Execute() override {
    try {
      result_ = job_();
    } catch (...) {
      failure_ = failure_of(std::current_exception());
    }
    job_ = nullptr;  // gives up what it held before the promise settles
  }

  void OnOK() override {
    Napi::HandleScope scope(Env());
    if (failure_) return deferred_.Reject(to_js(Env(), *failure_).Value());
    try {
      deferred_.Resolve(convert_(Env(), *result_));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    } catch (...) {
      deferred_.Reject(to_js(Env(), failure_of(std::current_exception())).Value());
    }
  }

  Napi::Promise::Deferred deferred_;
  Job job_;
  Convert convert_;
  std::optional<Result> result_;
  std::optional<Failure> failure_;
};

}  // namespace hearth::addon
