// JSON out of strangers' files: whatever is not JSON is refused, nothing recurses or grows without bound.
#include <gtest/gtest.h>

#include "model/json.h"
#include "test/make/expect_error.h"

namespace hearth {
namespace {

JsonValue parse(const std::string& text) { return parse_json(text, "x.json"); }

TEST(Json, ReadsEveryKindOfValue) {
  JsonValue v = parse(R"( {"a":[1,-2.5e3,true,false,null,"x"],"b":{"c":9007199254740993}} )");
  const auto& a = *v.find("a")->items();
  EXPECT_EQ(std::get<int64_t>(a[0].value), 1);
  EXPECT_EQ(std::get<double>(a[1].value), -2500.0);
  EXPECT_TRUE(std::get<bool>(a[2].value));
  EXPECT_FALSE(std::get<bool>(a[3].value));
  EXPECT_TRUE(a[4].is_null());
  EXPECT_EQ(*a[5].text(), "x");
  EXPECT_EQ(std::get<int64_t>(v.find("b")->find("c")->value), 9007199254740993);
  EXPECT_EQ(v.find("z"), nullptr);
}

TEST(Json, DecodesEscapes) {
  EXPECT_EQ(*parse(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")").text(),
            "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",          " ",   "{",   "[1,]",     "{\"a\":1,}",  "{a:1}",       "[1 2]",
                           "{\"a\" 1}", "01",  "1.",  "-",        "+1",          ".5",          "1e",
                           "tru",       "nul", "\"a", "\"\\x\"",  "\"\\ud800\"", "\"\\udc00\"", "\"\\u12g4\"",
                           "\"\t\"",    "1 1", "NaN", "Infinity", "'a'",         "{\"a\":1}}",  "/**/1"}) {
    EXPECT_ERROR(ErrorCode::bad_file, "x.json", parse(text));
  }
  EXPECT_ERROR(ErrorCode::bad_file, "UTF-8", parse("\"\xff\""));
  EXPECT_ERROR(ErrorCode::bad_file, "UTF-8", parse("\"\xed\xa0\x80\""));
  EXPECT_ERROR(ErrorCode::bad_file, "behind the end", parse(std::string("1\0", 2)));
}

TEST(Json, BoundsDepthAndLengthOfNumbers) {
  std::string deep(60, '['), deeper(65, '[');
  EXPECT_NO_THROW(parse(deep + std::string(60, ']')));
  EXPECT_ERROR(ErrorCode::bad_file, "levels", parse(deeper + std::string(65, ']')));
  EXPECT_ERROR(ErrorCode::bad_file, "levels", parse(std::string(1000000, '[')));
  EXPECT_ERROR(ErrorCode::bad_file, "too long", parse(std::string(100, '1')));
}

TEST(Json, BoundsTheNumberOfValues) {
  std::string many = "[0";
  for (int i = 0; i < 2000001; ++i) many += ",0";
  EXPECT_ERROR(ErrorCode::bad_file, "two million", parse(many + "]"));
}

TEST(Json, CursorRefusesIntegersThatDoNotFit) {
  auto read = [](const char* text) { return JsonCursor(text, "x").unsigned_integer(); };
  EXPECT_EQ(read("18446744073709551615"), 18446744073709551615ull);
  for (const char* text : {"18446744073709551616", "-1", "1.0", "1e3", "\"1\"", ""}) {
    EXPECT_ERROR(ErrorCode::bad_file, "x", read(text));
  }
}

TEST(Json, CursorSkipsWhatNobodyAskedFor) {
  JsonCursor in(R"({"a":{"b":[1,{"c":"}"}],"d":null},"e":7})", "x");
  std::string key;
  in.enter_object();
  ASSERT_TRUE(in.next_member(key));
  in.skip();
  ASSERT_TRUE(in.next_member(key));
  EXPECT_EQ(key, "e");
  EXPECT_EQ(in.unsigned_integer(), 7u);
  EXPECT_FALSE(in.next_member(key));
  in.finish();
}

}  // namespace
}  // namespace hearth
