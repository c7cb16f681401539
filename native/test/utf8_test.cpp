// Failures prevented: a token's bytes replaced by U+FFFD on their way to JavaScript because they passed for text.
#include "addon/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::addon {
namespace {

TEST(Utf8, TakesEveryScalarValueInItsShortestForm) {
  for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 61) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string s;
    if (c < 0x80) s = {char(c)};
    else if (c < 0x800) s = {char(0xC0 | c >> 6), char(0x80 | (c & 63))};
    else if (c < 0x10000) s = {char(0xE0 | c >> 12), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
    else s = {char(0xF0 | c >> 18), char(0x80 | (c >> 12 & 63)), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
    ASSERT_TRUE(is_utf8("a" + s + "b")) << std::hex << c;
    ASSERT_EQ(is_utf8(s.substr(0, s.size() - 1)), s.size() == 1) << std::hex << c;
  }
}

TEST(Utf8, RefusesWhatIsNot) {
  for (const char* s : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                        "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xE4\xBD", "\xE4" "a"}) {
    EXPECT_FALSE(is_utf8(s));
  }
  EXPECT_TRUE(is_utf8(""));
}

}  // namespace
}  // namespace hearth::addon
