// The identity of a model must not depend on how its bytes arrive.
#include <gtest/gtest.h>

#include "model/identity.h"
#include "model/sha256.h"

namespace hearth {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string hash(const std::string& text) {
  Sha256 h;
  h.update(bytes_of(text));
  return h.hex();
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += char(i * 31);
  for (size_t piece : {1u, 3u, 55u, 56u, 63u, 64u, 65u, 999u}) {
    Sha256 h;
    for (size_t at = 0; at < text.size(); at += piece)
      h.update(bytes_of(text).subspan(at, std::min(piece, text.size() - at)));
    EXPECT_EQ(h.hex(), hash(text)) << piece;
  }
}

std::string little_endian(uint64_t size) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += char(size >> (8 * i));
  return out;
}

TEST(Identity, IsSizeHeaderAndSixtyFourSamples) {
  constexpr uint64_t size = 5000000;
  std::string file(size, '\0');
  for (uint64_t i = 0; i < size; ++i) file[i] = char(i * 7 + (i >> 8));
  std::string expected = little_endian(size) + file.substr(0, 1000);
  for (uint64_t i = 0; i < 64; ++i) expected += file.substr(i * (size - 65536) / 63, 65536);
  EXPECT_EQ(model_identity({{bytes_of(file), 1000}}), hash(expected));
}

TEST(Identity, TakesASmallFileWhole) {
  std::string file(300000, 'x');
  EXPECT_EQ(model_identity({{bytes_of(file), 1000}}), hash(little_endian(300000) + file.substr(0, 1000) + file));
}

TEST(Identity, ChangesWithEveryPart) {
  std::string a(200000, 'a'), header = a, sample = a, longer = a + "a";
  header[5] = 'b';
  sample[199999] = 'b';
  auto id = [](const std::string& f) { return model_identity({{bytes_of(f), 100}}); };
  EXPECT_NE(id(a), id(header));
  EXPECT_NE(id(a), id(sample));
  EXPECT_NE(id(a), id(longer));
  EXPECT_NE(model_identity({{bytes_of(a), 0}, {bytes_of(sample), 0}}),
            model_identity({{bytes_of(sample), 0}, {bytes_of(a), 0}}));
}

TEST(Identity, ExistsForAnEmptyFile) { EXPECT_EQ(model_identity({{{}, 0}}), hash(std::string(8, '\0'))); }

}  // namespace
}  // namespace hearth
