// Plain data of the engine as JavaScript objects, under the names of electron/runtime/addon.ts.
#pragma once

#include <napi.h>

#include <vector>

#include "hearth/engine.h"
#include "hearth/probe.h"

namespace hearth::addon {

Napi::Value to_js(Napi::Env env, const ModelInfo& info);
Napi::Value to_js(Napi::Env env, const Inspection& inspection);
Napi::Value to_js(Napi::Env env, const MemoryPlan& plan);
Napi::Value to_js(Napi::Env env, const Devices& devices);
Napi::Value to_js(Napi::Env env, const EngineStats& stats);
Napi::Value to_js(Napi::Env env, const ExpertUses& uses);
Napi::Value to_js(Napi::Env env, const Event& event);
Napi::Value to_js(Napi::Env env, const std::vector<Event>& events);
Napi::Value to_js(Napi::Env env, const std::vector<std::string>& sentences);
/// A copy: Electron forbids memory that the engine would own.
Napi::Value to_js(Napi::Env env, const std::vector<float>& values);

}  // namespace hearth::addon
