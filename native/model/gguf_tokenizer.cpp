// tokenizer.* keys of GGUF; see gguf_tokenizer.h. Key names: gguf-py's constants.
#include "model/gguf_tokenizer.h"

#include <algorithm>

#include "model/words.h"

namespace hearth {

namespace {

/// A token id, or -1 when absent. Ids outside the vocabulary are dropped with a warning: real files have them.
int32_t read_id(const GgufMeta& meta, const std::string& key, size_t tokens, std::vector<std::string>& warnings) {
  // Some writers store "none" as -1, so the key is read as any integer.
  auto id = meta.signed_integer(key);
  if (!id || *id == -1 || *id == 0xFFFFFFFFll) return -1;
  if (*id < 0 || static_cast<uint64_t>(*id) >= tokens) {
    warnings.push_back(say(key, " is ", *id, ", the vocabulary has ", tokens, " tokens; ignored"));
    return -1;
  }
  return static_cast<int32_t>(*id);
}

void add_end_ids(const GgufMeta& meta, TokenizerData& out, std::vector<std::string>& warnings) {
  auto add = [&](int64_t id) {
    bool known = id == out.eos || std::find(out.eos_ids.begin(), out.eos_ids.end(), id) != out.eos_ids.end();
    if (id >= 0 && static_cast<uint64_t>(id) < out.tokens.size() && !known)
      out.eos_ids.push_back(static_cast<int32_t>(id));
  };
  if (auto ids = meta.integers("tokenizer.ggml.eos_token_ids")) {
    for (int64_t id : *ids) add(id);
  }
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    add(read_id(meta, key, out.tokens.size(), warnings));
  }
}

void check_length(const GgufMeta& meta, const char* key, size_t length, size_t tokens) {
  if (length != 0 && length != tokens) {
    fail(ErrorCode::bad_file, meta.file(), ": key ", key, " has ", length, " items, tokenizer.ggml.tokens has ",
         tokens);
  }
}

}  // namespace

TokenizerData read_gguf_tokenizer(const GgufMeta& meta, std::vector<std::string>& warnings) {
  TokenizerData out;
  out.model = meta.text("tokenizer.ggml.model").value_or("");
  out.pre = meta.text("tokenizer.ggml.pre").value_or("");
  out.tokens = meta.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string>{});
  out.merges = meta.texts("tokenizer.ggml.merges").value_or(std::vector<std::string>{});
  out.scores = meta.reals("tokenizer.ggml.scores").value_or(std::vector<float>{});
  for (int64_t type : meta.integers("tokenizer.ggml.token_type").value_or(std::vector<int64_t>{})) {
    out.types.push_back(type >= 0 && type <= 6 ? static_cast<int32_t>(type) : 1);
  }
  check_length(meta, "tokenizer.ggml.scores", out.scores.size(), out.tokens.size());
  check_length(meta, "tokenizer.ggml.token_type", out.types.size(), out.tokens.size());
  if (out.tokens.empty()) warnings.push_back("The file has no tokenizer");
  out.bos = read_id(meta, "tokenizer.ggml.bos_token_id", out.tokens.size(), warnings);
  out.eos = read_id(meta, "tokenizer.ggml.eos_token_id", out.tokens.size(), warnings);
  out.unknown = read_id(meta, "tokenizer.ggml.unknown_token_id", out.tokens.size(), warnings);
  out.padding = read_id(meta, "tokenizer.ggml.padding_token_id", out.tokens.size(), warnings);
  add_end_ids(meta, out, warnings);
  bool sentence_piece = out.model == "llama";
  out.add_bos = meta.boolean("tokenizer.ggml.add_bos_token").value_or(sentence_piece);
  out.add_eos = meta.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  out.add_space_prefix = meta.boolean("tokenizer.ggml.add_space_prefix").value_or(sentence_piece);
  out.chat_template = meta.text("tokenizer.chat_template").value_or("");
  return out;
}

}  // namespace hearth
