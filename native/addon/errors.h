// Failures on their way to JavaScript: typed errors become Error objects with `code`, `needed`, `available` and `device`.
#pragma once

#include <napi.h>

#include <exception>
#include <optional>
#include <string>

#include "hearth/device_error.h"

namespace hearth::addon {

/// A failure as plain data, so that it can cross from a worker thread.
struct Failure {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  uint64_t needed = 0, available = 0;
  std::string device = {};  // the one that failed
};

inline Failure failure_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return {error.code, error.what(), error.needed, error.available, failed_device(error)};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::out_of_ram, "There is not enough memory.", 0, 0};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, error.what(), 0, 0};
  } catch (...) {
    return {ErrorCode::internal, "An unknown failure.", 0, 0};
  }
}

inline Napi::Error to_js(Napi::Env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.message);
  error.Set("code", Napi::String::New(env, std::string(to_string(failure.code))));
  if (failure.needed > 0 || failure.available > 0) {
    error.Set("needed", Napi::Number::New(env, double(failure.needed)));
    error.Set("available", Napi::Number::New(env, double(failure.available)));
  }
  if (!failure.device.empty()) error.Set("device", Napi::String::New(env, failure.device));
  return error;
}

/// Runs `body`; what it throws reaches JavaScript typed. JavaScript's own exceptions pass through.
template <typename Body>
auto guarded(Napi::Env env, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js(env, failure_of(std::current_exception()));
  }
}

}  // namespace hearth::addon
