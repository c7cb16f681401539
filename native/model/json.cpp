// The JSON reader; see json.h.
#include "model/json.h"

#include <sstream>

#include "model/words.h"

namespace hearth {

namespace {

constexpr size_t most_depth = 64;
constexpr size_t most_number = 64;
constexpr uint64_t most_values = 2'000'000;

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 63));
    out += static_cast<char>(0x80 | ((code >> 6) & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void JsonCursor::wrong(std::string_view problem) const {
  fail(ErrorCode::bad_file, what_, " is not valid: ", problem, " at byte ", at_);
}

void JsonCursor::white() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
    ++at_;
}

char JsonCursor::peek() {
  white();
  return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonCursor::expect(char c) {
  if (peek() != c) wrong(say("'", c, "' expected"));
  ++at_;
}

void JsonCursor::literal(std::string_view word) {
  white();
  if (text_.substr(at_, word.size()) != word) wrong(say(word, " expected"));
  at_ += word.size();
}

void JsonCursor::open(char bracket, bool object) {
  expect(bracket);
  if (levels_.size() >= most_depth) wrong("too many levels");
  levels_.push_back({object, true});
}

bool JsonCursor::more(char close) {
  Level& level = levels_.back();
  if (peek() == close) {
    ++at_;
    levels_.pop_back();
    return false;
  }
  if (!level.first) {
    expect(',');
    if (peek() == close) wrong("a value expected");
  }
  level.first = false;
  return true;
}

void JsonCursor::enter_object() { open('{', true); }
void JsonCursor::enter_array() { open('[', false); }

bool JsonCursor::next_member(std::string& key) {
  if (!more('}')) return false;
  key = string();
  expect(':');
  return true;
}

bool JsonCursor::next_item() { return more(']'); }

uint32_t JsonCursor::hex4() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    char c = at_ < text_.size() ? text_[at_] : '\0';
    uint32_t digit = is_digit(c)            ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 16;
    if (digit == 16) wrong("a hexadecimal digit expected");
    code = code * 16 + digit;
    ++at_;
  }
  return code;
}

void JsonCursor::escape(std::string& out) {
  char c = at_ < text_.size() ? text_[at_] : '\0';
  ++at_;
  switch (c) {
    case '"':
    case '\\':
    case '/': out += c; return;
    case 'b': out += '\b'; return;
    case 'f': out += '\f'; return;
    case 'n': out += '\n'; return;
    case 'r': out += '\r'; return;
    case 't': out += '\t'; return;
    case 'u': break;
    default: --at_; wrong("unknown escape");
  }
  uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00) {
    if (text_.substr(at_, 2) != "\\u") wrong("half of a surrogate pair");
    at_ += 2;
    uint32_t low = hex4();
    if (low < 0xDC00 || low > 0xDFFF) wrong("half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    wrong("half of a surrogate pair");
  }
  append_utf8(out, code);
}

std::string JsonCursor::string() {
  expect('"');
  std::string out;
  while (true) {
    size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    out.append(text_.substr(begin, at_ - begin));
    if (at_ >= text_.size()) wrong("a text without end");
    char c = text_[at_];
    if (c != '"' && c != '\\') wrong("a control character in a text");
    ++at_;
    if (c == '"') return out;
    escape(out);
  }
}

std::string_view JsonCursor::number() {
  white();
  size_t begin = at_;
  auto digits = [&] {
    if (at_ >= text_.size() || !is_digit(text_[at_])) wrong("a digit expected");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  auto at = [&](char c) { return at_ < text_.size() && text_[at_] == c; };
  if (at('-')) ++at_;
  if (at('0')) {
    ++at_;
  } else {
    digits();
  }
  if (at('.')) {
    ++at_;
    digits();
  }
  if (at('e') || at('E')) {
    ++at_;
    if (at('+') || at('-')) ++at_;
    digits();
  }
  if (at_ - begin > most_number) wrong("a number that is too long");
  return text_.substr(begin, at_ - begin);
}

uint64_t JsonCursor::unsigned_integer() {
  char c = peek();
  if (!is_digit(c)) wrong("a whole number from 0 on expected");
  uint64_t out = 0;
  for (char digit : number()) {
    if (!is_digit(digit)) wrong("a whole number expected");
    uint64_t value = static_cast<uint64_t>(digit - '0');
    if (out > (UINT64_MAX - value) / 10) wrong("a number that is too large");
    out = out * 10 + value;
  }
  return out;
}

bool JsonCursor::boolean() {
  if (peek() == 't') {
    literal("true");
    return true;
  }
  literal("false");
  return false;
}

void JsonCursor::null() { literal("null"); }

void JsonCursor::skip() {
  std::string key;
  switch (peek()) {
    case '{':
      enter_object();
      while (next_member(key)) skip();  // as deep as the level limit, no deeper
      return;
    case '[':
      enter_array();
      while (next_item()) skip();
      return;
    case '"': string(); return;
    case 't':
    case 'f': boolean(); return;
    case 'n': null(); return;
    default: number(); return;
  }
}

void JsonCursor::finish() {
  if (peek() != '\0' || at_ < text_.size()) wrong("something behind the end");
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const Members* all = members();
  if (!all) return nullptr;
  for (auto at = all->rbegin(); at != all->rend(); ++at) {
    if (at->key == key) return &at->value;
  }
  return nullptr;
}

namespace {

JsonValue number_value(std::string_view text) {
  bool whole = text.find_first_of(".eE") == std::string_view::npos;
  if (whole && text.size() <= 18) return {static_cast<int64_t>(std::stoll(std::string(text)))};
  // Not strtod: its decimal point depends on the locale.
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double value = 0;
  in >> value;  // out of range: infinity or 0, which no range check accepts
  return {value};
}

JsonValue read_tree(JsonCursor& in, uint64_t& left) {
  if (left-- == 0) in.wrong("more than two million values");
  switch (in.peek()) {
    case '{': {
      JsonValue::Members members;
      in.enter_object();
      std::string key;
      while (in.next_member(key)) {
        std::string mine = key;
        JsonValue value = read_tree(in, left);
        members.push_back({std::move(mine), std::move(value)});
      }
      return {std::move(members)};
    }
    case '[': {
      JsonValue::Items items;
      in.enter_array();
      while (in.next_item()) items.push_back(read_tree(in, left));
      return {std::move(items)};
    }
    case '"': return {in.string()};
    case 't':
    case 'f': return {in.boolean()};
    case 'n': in.null(); return {};
    default: return number_value(in.number());
  }
}

}  // namespace

JsonValue parse_json(std::string_view text, const std::string& what) {
  if (!valid_utf8(text)) fail(ErrorCode::bad_file, what, " is not valid: it is no UTF-8 text");
  JsonCursor in(text, what);
  uint64_t left = most_values;
  JsonValue out = read_tree(in, left);
  in.finish();
  return out;
}

}  // namespace hearth
