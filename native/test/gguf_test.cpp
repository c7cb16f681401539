// Damaged and hostile GGUF containers: each is refused with words that name the fault, before anything is allocated.
#include <gtest/gtest.h>

#include <limits>

#include "model/gguf.h"
#include "test/make/expect_error.h"
#include "test/make/models.h"

namespace hearth {
namespace {

using namespace make;
using Big = std::numeric_limits<uint64_t>;

hearth::Gguf parse(const std::string& bytes) { return parse_gguf(std::as_bytes(std::span(bytes)), "x.gguf"); }

make::Gguf with_embedding() {
  make::Gguf g = llama_keys();
  return f32_tensor(g, "token_embd.weight", {8, 32});
}

make::Gguf described(std::vector<uint64_t> shape, uint32_t type = T_F32, uint64_t offset = 0) {
  return llama_keys().info("token_embd.weight", std::move(shape), type, offset).data(std::string(1024, '\0'));
}

std::string header(uint64_t tensors, uint64_t values, uint32_t version = 3) {
  return "GGUF" + raw(version) + raw(tensors) + raw(values);
}

TEST(Gguf, ReadsKeysAndTensorsOfBothVersions) {
  for (uint32_t version : {2u, 3u}) {
    std::string bytes = with_embedding().bytes(version);
    hearth::Gguf g = parse(bytes);
    EXPECT_EQ(g.version, version);
    ASSERT_EQ(g.tensors.size(), 1u);
    EXPECT_EQ(g.tensors[0].shape, (std::vector<uint64_t>{8, 32}));
    EXPECT_EQ(g.tensors[0].bytes, 1024u);
    EXPECT_EQ(g.tensors[0].offset, g.data_begin);
    EXPECT_EQ(g.data_begin % 32, 0u);
    ASSERT_NE(g.find("tokenizer.ggml.tokens"), nullptr);
    EXPECT_EQ(g.find("tokenizer.ggml.tokens")->count, 8u);
  }
}

TEST(Gguf, TellsWantedAndPresentBytesOfATruncatedTensor) {
  std::string bytes = with_embedding().bytes();
  bytes.pop_back();
  try {
    parse(bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.needed, 1024u);
    EXPECT_EQ(error.available, 1023u);
    EXPECT_NE(std::string(error.what()).find("token_embd.weight needs 1024 bytes, 1023 are there"), std::string::npos);
  }
}

TEST(Gguf, RefusesEveryTruncation) {
  std::string bytes = with_embedding().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse(bytes.substr(0, size)), Error) << size;
  }
}

TEST(Gguf, RefusesAFileOfFourBytes) { EXPECT_ERROR(ErrorCode::bad_file, "too short for a GGUF header", parse("GGUF")); }

TEST(Gguf, RefusesCountsBeyondTheFileBeforeAllocating) {
  std::string some(16, '\0');
  EXPECT_ERROR(ErrorCode::bad_file, "9223372036854775808 tensors", parse(header(uint64_t(1) << 63, 0) + some));
  EXPECT_ERROR(ErrorCode::bad_file, "9223372036854775808 metadata keys", parse(header(1, uint64_t(1) << 63) + some));
  std::string array = text("k") + raw<uint32_t>(ARR) + raw<uint32_t>(U64) + raw<uint64_t>(uint64_t(1) << 61) + some;
  EXPECT_ERROR(ErrorCode::bad_file, "key k claims 2305843009213693952 items", parse(header(0, 1) + array));
  std::string texts = text("k") + raw<uint32_t>(ARR) + raw<uint32_t>(STR) + raw<uint64_t>(Big::max()) + some;
  EXPECT_ERROR(ErrorCode::bad_file, "claims 18446744073709551615 items", parse(header(0, 1) + texts));
  std::string longest = raw<uint64_t>(Big::max()) + "k" + some;
  EXPECT_ERROR(ErrorCode::bad_file, "needs 18446744073709551615 bytes", parse(header(0, 1) + longest));
}

TEST(Gguf, RefusesSizesThatWrap) {
  EXPECT_ERROR(ErrorCode::bad_file, "token_embd.weight",
               parse(described({uint64_t(1) << 32, uint64_t(1) << 32}).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "larger than any file", parse(described({2, 2, 2, uint64_t(1) << 61}).bytes()));
}

TEST(Gguf, RefusesDataOutsideTheFile) {
  EXPECT_ERROR(ErrorCode::bad_file, "token_embd.weight needs 1024 bytes, 0 are there",
               parse(described({8, 32}, T_F32, uint64_t(1) << 40).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "token_embd.weight", parse(described({8, 32}, T_F32, Big::max() - 31).bytes()));
}

TEST(Gguf, RefusesDuplicates) {
  make::Gguf g = with_embedding();
  f32_tensor(g, "token_embd.weight", {8, 32});
  EXPECT_ERROR(ErrorCode::bad_file, "two tensors named token_embd.weight", parse(g.bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "the key llama.block_count twice",
               parse(llama_keys().repeat("llama.block_count", U32, raw<uint32_t>(1)).bytes()));
}

TEST(Gguf, RefusesOverlappingTensors) {
  make::Gguf g = with_embedding();
  g.info("other.weight", {8, 32}, T_F32, 512).data(std::string(1024, '\0'));
  EXPECT_ERROR(ErrorCode::bad_file, "token_embd.weight and other.weight overlap", parse(g.bytes()));
}

TEST(Gguf, RefusesImpossibleDimensions) {
  EXPECT_ERROR(ErrorCode::bad_file, "a dimension of 0", parse(described({0, 32}).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "a dimension of -8", parse(described({uint64_t(-8), 32}).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "0 dimensions", parse(described({}).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "5 dimensions", parse(described({1, 1, 1, 1, 1}).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "no multiple of 32", parse(described({8, 33}, T_Q8_0).bytes()));
}

TEST(Gguf, NamesTheTensorOfAnUnknownType) {
  EXPECT_ERROR(ErrorCode::unsupported_type, "token_embd.weight has the type 99", parse(described({8, 32}, 99).bytes()));
}

TEST(Gguf, ChecksAlignment) {
  for (uint32_t wrong : {0u, 3u, 4u, 48u, 1u << 30}) {
    EXPECT_ERROR(ErrorCode::bad_file, "general.alignment",
                 parse(with_embedding().u32("general.alignment", wrong).bytes()));
  }
  EXPECT_ERROR(ErrorCode::bad_file, "general.alignment",
               parse(with_embedding().str("general.alignment", "32").bytes()));
  EXPECT_NO_THROW(parse(with_embedding().u32("general.alignment", 16).bytes()));
  EXPECT_ERROR(ErrorCode::bad_file, "begins at 8, which is no multiple", parse(described({8, 32}, T_F32, 8).bytes()));
}

TEST(Gguf, RefusesUnknownValueTypes) {
  EXPECT_ERROR(ErrorCode::bad_file, "unknown value type 13", parse(llama_keys().key("k", 13, "").bytes()));
  std::string nested = raw<uint32_t>(ARR) + raw<uint64_t>(0);
  EXPECT_ERROR(ErrorCode::bad_file, "array of arrays", parse(llama_keys().key("k", ARR, nested).bytes()));
}

TEST(Gguf, NamesOtherVersionsAndByteOrder) {
  EXPECT_ERROR(ErrorCode::bad_file, "big-endian", parse(header(0, 0, 0x03000000u)));
  EXPECT_ERROR(ErrorCode::bad_file, "version 1", parse(header(0, 0, 1)));
  EXPECT_ERROR(ErrorCode::bad_file, "version 4", parse(header(0, 0, 4)));
}

TEST(Gguf, SaysWhatWasSavedInsteadOfAModel) {
  EXPECT_ERROR(ErrorCode::bad_file, "HTML page", parse("<!DOCTYPE html><title>403</title>"));
  EXPECT_ERROR(ErrorCode::bad_file, "Git LFS pointer",
               parse("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"));
  EXPECT_ERROR(ErrorCode::bad_file, "empty", parse(""));
  EXPECT_ERROR(ErrorCode::bad_file, "not a GGUF file", parse(std::string(100, 'x')));
}

TEST(Gguf, ShowsHostileNamesWithoutTheirControlCharacters) {
  make::Gguf g = llama_keys();
  g.info("a\x1b[31m\xff" + std::string(500, 'b'), {0, 32}, T_F32, 0);
  try {
    parse(g.bytes());
    FAIL();
  } catch (const Error& error) {
    std::string words = error.what();
    EXPECT_EQ(words.find('\x1b'), std::string::npos);
    EXPECT_EQ(words.find('\xff'), std::string::npos);
    EXPECT_LT(words.size(), 300u);
  }
}

}  // namespace
}  // namespace hearth
