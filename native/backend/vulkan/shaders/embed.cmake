# Makes one C++ file of compiled kernels: cmake -DOUT=file -DSPIRV="a.spv;b.spv" -P embed.cmake
set(text "// Made from shaders/ by shaders/embed.cmake.\n#include \"backend/vulkan/embedded_shaders.h\"\n\n#include <iterator>\n\nnamespace hearth::vulkan {\nnamespace {\n\n")
set(table "constexpr EmbeddedShader shaders[] = {\n")
foreach(file ${SPIRV})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  # SPIR-V is written in the byte order of the machine that compiles, here little-endian.
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${hex}")
  string(APPEND text "constexpr uint32_t code_${name}[] = {${words}};\n")
  string(APPEND table "    {\"${name}\", code_${name}, std::size(code_${name})},\n")
endforeach()
string(APPEND text "\n${table}};\n\n}  // namespace\n\nconst EmbeddedShader* find_shader(std::string_view name) {\n  for (const EmbeddedShader& each : shaders) {\n    if (each.name == name) return &each;\n  }\n  return nullptr;\n}\n\n}  // namespace hearth::vulkan\n")
file(WRITE ${OUT} "${text}")
