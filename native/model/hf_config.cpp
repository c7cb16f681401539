// Typed access to config.json; see hf_config.h.
#include "model/hf_config.h"

#include "model/words.h"

namespace hearth {

HfConfig::HfConfig(const JsonValue& json, std::string file, std::string prefix)
    : json_(&json), file_(std::move(file)), prefix_(std::move(prefix)) {
  if (!json.members()) fail(ErrorCode::bad_file, file_, " is no JSON object");
}

const JsonValue* HfConfig::find(std::string_view key) const {
  const JsonValue* value = json_->find(key);
  return value && !value->is_null() ? value : nullptr;
}

bool HfConfig::has(std::string_view key) const { return find(key) != nullptr; }

bool HfConfig::is_null(std::string_view key) const {
  const JsonValue* value = json_->find(key);
  return value && value->is_null();
}

void HfConfig::wrong_type(std::string_view key, const char* wanted) const {
  fail(ErrorCode::bad_file, file_, ": key ", shown(path(key)), " must be ", wanted);
}

std::optional<HfConfig> HfConfig::child(std::string_view key) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  if (!value->members()) wrong_type(key, "an object");
  return HfConfig(*value, file_, path(key) + ".");
}

std::optional<uint64_t> HfConfig::integer(std::string_view key, uint64_t least, uint64_t most) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  const int64_t* number = std::get_if<int64_t>(&value->value);
  if (!number) wrong_type(key, "a whole number");
  if (*number < 0 || static_cast<uint64_t>(*number) < least || static_cast<uint64_t>(*number) > most) {
    fail(ErrorCode::bad_file, file_, ": key ", shown(path(key)), " is ", *number, ", it must be from ", least, " to ",
         most);
  }
  return static_cast<uint64_t>(*number);
}

double HfConfig::number(std::string_view key, const JsonValue& value, double least, double most) const {
  double number = 0;
  if (auto whole = std::get_if<int64_t>(&value.value)) {
    number = static_cast<double>(*whole);
  } else if (auto fraction = std::get_if<double>(&value.value)) {
    number = *fraction;
  } else {
    wrong_type(key, "a number");
  }
  if (!(number >= least && number <= most)) {
    fail(ErrorCode::bad_file, file_, ": key ", shown(path(key)), " is ", number, ", it must be from ", least, " to ",
         most);
  }
  return number;
}

std::optional<double> HfConfig::real(std::string_view key, double least, double most) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  return number(key, *value, least, most);
}

std::optional<std::vector<double>> HfConfig::reals(std::string_view key, double least, double most) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  if (!value->items()) wrong_type(key, "an array of numbers");
  std::vector<double> out;
  for (const JsonValue& item : *value->items()) out.push_back(number(key, item, least, most));
  return out;
}

std::optional<bool> HfConfig::boolean(std::string_view key) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  const bool* flag = std::get_if<bool>(&value->value);
  if (!flag) wrong_type(key, "true or false");
  return *flag;
}

std::optional<std::string> HfConfig::text(std::string_view key) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  if (!value->text()) wrong_type(key, "text");
  return *value->text();
}

std::optional<std::vector<std::string>> HfConfig::texts(std::string_view key) const {
  const JsonValue* value = find(key);
  if (!value) return std::nullopt;
  if (!value->items()) wrong_type(key, "an array of texts");
  std::vector<std::string> out;
  for (const JsonValue& item : *value->items()) {
    if (!item.text()) wrong_type(key, "an array of texts");
    out.push_back(*item.text());
  }
  return out;
}

std::vector<uint64_t> HfConfig::integer_list(std::string_view key, uint64_t most) const {
  const JsonValue* value = find(key);
  std::vector<uint64_t> out;
  if (!value) return out;
  auto add = [&](const JsonValue& item) {
    const int64_t* number = std::get_if<int64_t>(&item.value);
    if (!number || *number < 0 || static_cast<uint64_t>(*number) > most)
      wrong_type(key, "a token id or an array of them");
    out.push_back(static_cast<uint64_t>(*number));
  };
  if (!value->items()) {
    add(*value);
    return out;
  }
  for (const JsonValue& item : *value->items()) add(item);
  return out;
}

uint64_t HfConfig::need_integer(std::string_view key, uint64_t least, uint64_t most) const {
  if (auto value = integer(key, least, most)) return *value;
  fail(ErrorCode::bad_file, file_, ": key ", shown(path(key)), " is missing");
}

}  // namespace hearth
