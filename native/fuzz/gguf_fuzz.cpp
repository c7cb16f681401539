// Fuzzer of the GGUF reader: one input is one file; container, family, tokenizer, identity and every view are
// exercised. With HEARTH_FUZZ_SEEDS set it first writes small right and nearly right files there.
#include "fuzz/touch.h"
#include "model/gguf_model.h"
#include "test/make/decoders.h"

using namespace hearth;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Small, so that most mutations hit something that is read.
  const make::LlamaSize small{8, 16, 2};
  const make::GptOssSize small_oss{1, 32, 32, 2, 2, 2, 1};
  make::Gguf llama = make::llama_keys(small), oss = make::gpt_oss_keys(small_oss),
             older = make::gpt_oss_keys({1}, "gptoss");
  std::string whole = make::llama_tensors(llama, small).bytes();
  fuzz::seed("llama", whole);
  fuzz::seed("llama-v2", llama.bytes(2));
  fuzz::seed("llama-keys", make::llama_keys().bytes());
  fuzz::seed("llama-cut", whole.substr(0, whole.size() / 2));
  fuzz::seed("gpt-oss", make::gpt_oss_tensors(oss, small_oss).bytes());
  fuzz::seed("gptoss-keys", older.bytes());
  const make::DecoderSize tiny{1, 8, 16, 2, 4, 2, 1};
  for (const char* name : {"gemma3", "phi3", "qwen3moe", "smollm3"}) {
    make::Gguf decoder = make::decoder_keys(name, tiny).u32(std::string(name) + ".attention.sliding_window", 16);
    if (name == std::string("phi3")) {
      decoder.u32("phi3.rope.scaling.original_context_length", 256);
      decoder.tensor("rope_factors_short.weight", {2}, make::T_F32, make::raw(1.0f) + make::raw(1.5f));
      decoder.tensor("rope_factors_long.weight", {2}, make::T_F32, make::raw(1.0f) + make::raw(1.5f));
    }
    fuzz::seed(name, make::decoder_tensors(decoder, name, tiny).bytes());
  }
  fuzz::seed("aligned", make::llama_keys().u32("general.alignment", 64).bytes());
  fuzz::seed("split", make::llama_keys().u32("split.count", 3).u32("split.no", 1).bytes());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    std::vector<GgufPart> parts;
    parts.push_back(parse_gguf_part(MappedFile::from_memory("fuzz.gguf", {bytes, bytes + size})));
    fuzz::touch(read_gguf_model(std::move(parts), {.yarn_truncate = size % 2 == 0}));
  } catch (const Error&) {}
  return 0;
}
