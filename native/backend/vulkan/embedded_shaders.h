// The compiled kernels within the library. The table itself is made when the library is built (shaders/embed.cmake).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::vulkan {

struct EmbeddedShader {
  std::string_view name;  // file without its ending, and the weight type where it has one: "gemv_q8_0"
  const uint32_t* code;
  size_t words;
};

/// nullptr: there is none of that name.
const EmbeddedShader* find_shader(std::string_view name);
/// A number of all of them: it changes with any.
uint64_t shaders_hash();

}  // namespace hearth::vulkan
