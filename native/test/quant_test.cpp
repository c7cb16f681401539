// Weight decoders against vectors that were made independently of them (test/fixtures/quant/make_quant_vectors.py).
#include "backend/quant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "backend/half.h"

namespace hearth {
namespace {

std::vector<std::byte> file(const std::string& name) {
  std::ifstream in(std::string(HEARTH_FIXTURES) + "/quant/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::vector<char> raw((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::byte> bytes(raw.size());
  std::memcpy(bytes.data(), raw.data(), raw.size());
  return bytes;
}

std::vector<float> floats(const std::string& name) {
  const std::vector<std::byte> bytes = file(name);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}

void expect_equal(const std::vector<float>& got, const std::vector<float>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) EXPECT_TRUE(std::isnan(got[i])) << what << " " << i;
    else if (std::isinf(want[i]) || want[i] == 0) EXPECT_EQ(got[i], want[i]) << what << " " << i;
    // Decoders multiply in float32: two roundings, and cancellation where a minimum is subtracted.
    else EXPECT_NEAR(got[i], want[i], 3e-7 * std::fabs(want[i]) + 1e-6 * (what[0] == 'Q' ? 0.1 : 0.0)) << what << " " << i;
  }
}

TEST(Quant, EveryBlockTypeDecodesToItsVectors) {
  for (DType type : {DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k,
                     DType::iq4_nl, DType::mxfp4}) {
    const std::string name(info(type).name);
    const std::vector<std::byte> raw = file(name + ".bin");
    const std::vector<float> want = floats(name + ".f32");
    ASSERT_EQ(raw.size(), row_bytes(type, want.size())) << name;
    std::vector<float> got(want.size());
    decode_row(type, raw.data(), nullptr, static_cast<uint32_t>(want.size()), got.data());
    expect_equal(got, want, name);
  }
}

TEST(Quant, PlanesDecodeInTheirOwnOrder) {
  const std::vector<std::byte> raw = file("MXFP4_planes.bin");
  const std::vector<float> want = floats("MXFP4_planes.f32");
  std::vector<float> got(want.size());
  decode_row(DType::mxfp4_planes, raw.data(), raw.data() + want.size() / 2, static_cast<uint32_t>(want.size()), got.data());
  expect_equal(got, want, "MXFP4_planes");
}

/// The two layouts hold the same group when bytes are moved from the checkpoint's order to ggml's; mixing them
/// up gives fluent-looking nonsense.
TEST(Quant, RepackedPlanesEqualBlocks) {
  uint8_t plane[16], block[17];
  for (int i = 0; i < 16; ++i) plane[i] = static_cast<uint8_t>(i * 37 + 11);
  block[0] = 121;
  for (int j = 0; j < 8; ++j) {
    block[1 + 2 * j] = static_cast<uint8_t>((plane[j] & 15) | (plane[j + 8] << 4));
    block[2 + 2 * j] = static_cast<uint8_t>((plane[j] >> 4) | (plane[j + 8] & 0xf0));
  }
  float a[32], b[32];
  decode_row(DType::mxfp4_planes, reinterpret_cast<const std::byte*>(plane), reinterpret_cast<const std::byte*>(block), 32, a);
  decode_row(DType::mxfp4, reinterpret_cast<const std::byte*>(block), nullptr, 32, b);
  EXPECT_EQ(std::memcmp(a, b, sizeof a), 0);
}

TEST(Quant, AScaleOf255IsNotANumber) {
  uint8_t block[17] = {255, 0x22};
  float out[32];
  decode_row(DType::mxfp4, reinterpret_cast<const std::byte*>(block), nullptr, 32, out);
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST(Quant, ViewsAddressExpertsAndRowsByStride) {
  const float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Matrix odd{"odd", DType::f32, 2, 1, 2, reinterpret_cast<const std::byte*>(data + 1), 8, 16, nullptr, 0, 0};
  float out;
  decode_row(odd, 1, 1, &out);
  EXPECT_EQ(out, 7.0f);
}

TEST(Half, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float f = half_to_float(static_cast<uint16_t>(h));
    if (std::isnan(f)) EXPECT_TRUE((float_to_half(f) & 0x7c00) == 0x7c00 && (float_to_half(f) & 0x3ff)) << h;
    else EXPECT_EQ(float_to_half(f), h);
  }
}

TEST(Half, RoundingIsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);              // a tie goes to the even neighbour
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(float_to_half(1.0f + 0x1.004p-11f), 0x3c01);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
  EXPECT_EQ(float_to_half(-0x1.8p-24f), 0x8002);
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bf16(1.0f + 0x1.8p-8f), 0x3f81);
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(NAN))));
}

}  // namespace
}  // namespace hearth
