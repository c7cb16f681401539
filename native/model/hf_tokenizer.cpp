// Special ids and chat template of a Hugging Face folder; see hf_tokenizer.h.
#include "model/hf_tokenizer.h"

#include <algorithm>

#include "model/json.h"
#include "model/words.h"

namespace hearth {

namespace {

constexpr uint64_t most_id = (uint64_t(1) << 31) - 1;

/// Parses a text beside the weights; a damaged one becomes a warning and a null value.
JsonValue parse_beside(const std::optional<std::string>& text, const char* name, std::vector<std::string>& warnings) {
  if (!text) return {};
  try {
    JsonValue value = parse_json(*text, name);
    if (value.members()) return value;
    warnings.push_back(say(name, " is no JSON object; ignored"));
  } catch (const Error& error) {
    warnings.push_back(say(error.what(), "; ignored"));
  }
  return {};
}

void add_ids(const HfConfig& config, TokenizerData& out) {
  for (uint64_t id : config.integer_list("eos_token_id", most_id)) {
    int32_t value = static_cast<int32_t>(id);
    if (out.eos < 0) {
      out.eos = value;
    } else if (value != out.eos && std::find(out.eos_ids.begin(), out.eos_ids.end(), value) == out.eos_ids.end()) {
      out.eos_ids.push_back(value);
    }
  }
  auto one = [&](const char* key, int32_t& id) {
    std::vector<uint64_t> ids = config.integer_list(key, most_id);
    if (id < 0 && !ids.empty()) id = static_cast<int32_t>(ids.front());
  };
  one("bos_token_id", out.bos);
  one("pad_token_id", out.padding);
}

/// A text, or a list of named templates of which "default" counts.
std::string template_of(const JsonValue& tokenizer_config) {
  const JsonValue* found = tokenizer_config.find("chat_template");
  if (!found) return "";
  if (found->text()) return *found->text();
  if (!found->items()) return "";
  for (const JsonValue& item : *found->items()) {
    const JsonValue* name = item.find("name");
    const JsonValue* text = item.find("template");
    if (name && name->text() && *name->text() == "default" && text && text->text()) return *text->text();
  }
  return "";
}

bool flag(const JsonValue& json, const char* key) {
  const JsonValue* found = json.find(key);
  const bool* value = found ? std::get_if<bool>(&found->value) : nullptr;
  return value && *value;
}

}  // namespace

TokenizerData read_hf_tokenizer(const HfFolder& folder, const HfConfig& config, std::vector<std::string>& warnings) {
  TokenizerData out;
  out.tokenizer_json = folder.tokenizer_json;
  if (out.tokenizer_json.empty()) warnings.push_back("tokenizer.json is missing; the model cannot read text");
  JsonValue generation = parse_beside(folder.generation_config, "generation_config.json", warnings);
  JsonValue tokenizer = parse_beside(folder.tokenizer_config, "tokenizer_config.json", warnings);
  try {
    // What generation_config.json says goes first: it lists every end token, config.json often only one.
    if (generation.members()) add_ids(HfConfig(generation, "generation_config.json"), out);
  } catch (const Error& error) {
    warnings.push_back(say(error.what(), "; ignored"));
  }
  add_ids(config, out);
  out.add_bos = flag(tokenizer, "add_bos_token");
  out.add_eos = flag(tokenizer, "add_eos_token");
  out.chat_template = folder.chat_template ? *folder.chat_template : template_of(tokenizer);
  return out;
}

}  // namespace hearth
