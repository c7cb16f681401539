// Damaged and hostile safetensors containers: each is refused with words that name the fault.
#include <gtest/gtest.h>

#include "model/safetensors.h"
#include "test/make/expect_error.h"
#include "test/make/files.h"

namespace hearth {
namespace {

using make::raw;

hearth::Safetensors parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "x.safetensors");
}
std::string file(const std::string& header, size_t data) { return make::safetensors(header, std::string(data, '\0')); }

const std::string good = R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";

TEST(Safetensors, ReadsARightFile) {
  hearth::Safetensors s = parse(file(good + "   ", 16));
  ASSERT_EQ(s.tensors.size(), 1u);
  EXPECT_EQ(s.tensors[0].name, "w");
  EXPECT_EQ(s.tensors[0].dtype, DType::f32);
  EXPECT_EQ(s.tensors[0].shape, (std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(s.tensors[0].offset, s.data_begin);
  EXPECT_EQ(s.tensors[0].bytes, 16u);
}

TEST(Safetensors, RefusesEveryTruncation) {
  std::string bytes = file(good, 16);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(parse(bytes.substr(0, size)), Error) << size;
}

TEST(Safetensors, RefusesHeaderLengthsBeforeUsingThem) {
  std::string rest = good + std::string(16, '\0');
  EXPECT_ERROR(ErrorCode::bad_file, "9223372036854775808", parse(raw<uint64_t>(uint64_t(1) << 63) + rest));
  EXPECT_ERROR(ErrorCode::bad_file, "18446744073709551615", parse(raw<uint64_t>(~uint64_t(0)) + rest));
  EXPECT_ERROR(ErrorCode::bad_file, "100000001", parse(raw<uint64_t>(100000001) + rest));
  EXPECT_ERROR(ErrorCode::bad_file, "its header is 5000 bytes long", parse(raw<uint64_t>(5000) + rest));
  EXPECT_ERROR(ErrorCode::bad_file, "too short", parse(std::string("\x10\0\0", 3)));
}

TEST(Safetensors, NamesTheTensorThatIsCutOff) {
  std::string header =
      R"({"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("v":{"dtype":"F32","shape":[4],"data_offsets":[16,32]}})";
  EXPECT_ERROR(ErrorCode::bad_file, "tensor v needs 16 bytes, 4 are there", parse(file(header, 20)));
}

TEST(Safetensors, RefusesDuplicates) {
  std::string header =
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
  EXPECT_ERROR(ErrorCode::bad_file, "two tensors named w", parse(file(header, 8)));
  header = R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  EXPECT_ERROR(ErrorCode::bad_file, "key dtype twice in tensor w", parse(file(header, 4)));
}

TEST(Safetensors, SaysWhatAHeaderIsThatIsNone) {
  EXPECT_ERROR(ErrorCode::bad_file, "HTML page", parse(file("<!doctype html><title>403</title>", 0)));
  EXPECT_ERROR(ErrorCode::bad_file, "HTML page", parse("<!DOCTYPE html>\n<html>403</html>"));
  EXPECT_ERROR(ErrorCode::bad_file, "Git LFS pointer",
               parse("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"));
  EXPECT_ERROR(ErrorCode::bad_file, "no JSON object", parse(file("[1,2,3]", 0)));
  EXPECT_ERROR(ErrorCode::bad_file, "no JSON object", parse(file("", 0)));
  EXPECT_ERROR(ErrorCode::bad_file, "no UTF-8", parse(file("{\"\xff\xfe\":{}}", 0)));
  EXPECT_ERROR(ErrorCode::bad_file, "not valid", parse(file(R"({"w":1})", 0)));
  EXPECT_ERROR(ErrorCode::bad_file, "not valid", parse(file(R"({"w":{}} {})", 0)));
}

TEST(Safetensors, HoldsSizesAgainstOffsets) {
  auto one = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return file(R"({"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", 16);
  };
  EXPECT_NO_THROW(parse(one("BF16", "[8]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "needs 12 bytes, its data_offsets span 16", parse(one("F32", "[3]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "larger than any file", parse(one("F32", "[4294967296,4294967296]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "ends before it begins", parse(one("F32", "[4]", "[16,0]")));
  EXPECT_ERROR(ErrorCode::bad_file, "not valid", parse(one("F32", "[-4]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "not valid", parse(one("F32", "[4.0]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "too many numbers", parse(one("F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "too many numbers", parse(one("F32", "[4]", "[0,16,32]")));
  EXPECT_ERROR(ErrorCode::bad_file, "lacks", parse(one("F32", "[4]", "[0]")));
  EXPECT_ERROR(ErrorCode::unsupported_type, "tensor w has the type F33", parse(one("F33", "[4]", "[0,16]")));
  EXPECT_ERROR(ErrorCode::bad_file, "8 bytes after the last tensor", parse(one("F32", "[2]", "[0,8]")));
  EXPECT_ERROR(ErrorCode::bad_file, "8 bytes before tensor w", parse(one("F32", "[2]", "[8,16]")));
}

TEST(Safetensors, RefusesOverlaps) {
  std::string header =
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  EXPECT_ERROR(ErrorCode::bad_file, "tensors w and v overlap", parse(file(header, 12)));
}

}  // namespace
}  // namespace hearth
