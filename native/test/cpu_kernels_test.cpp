// Every kernel set that this processor runs, in exact and in fast precision, against oracles in double.
#include <gtest/gtest.h>

#include "backend/cpu/cpu_features.h"
#include "backend/cpu/kernels.h"
#include "test/op_cases.h"
#include "test/watched.h"

namespace hearth::testing {
namespace {

OpCases cases_for(const std::string& isa, Precision precision, uint32_t threads = 2) {
  OpCases c;
  c.make = [=] { return make_cpu_backend({precision, threads, isa}); };
  c.int8 = precision == Precision::fast;
  return c;
}

struct Param {
  std::string isa;
  Precision precision;
  friend void PrintTo(const Param& p, std::ostream* out) { *out << p.isa; }
};

std::vector<Param> params() {
  std::vector<Param> list;
  for (const std::string& isa : cpu::usable_isas()) {
    for (Precision p : {Precision::exact, Precision::fast}) list.push_back({isa, p});
  }
  return list;
}

class CpuKernels : public ::testing::TestWithParam<Param> {
 protected:
  const OpCases cases = cases_for(GetParam().isa, GetParam().precision);
};

TEST_P(CpuKernels, NameTellsWhatRuns) { EXPECT_EQ(cases.make()->name(), "cpu/" + GetParam().isa); }
TEST_P(CpuKernels, NormMatchesTheFormula) { cases.norm(); }
TEST_P(CpuKernels, EmbeddingOfEveryTypeLandsInTheRightRow) {
  for (DType t : all_types) cases.embed_and_select(t);
}
TEST_P(CpuKernels, MatmulOfEveryTypeAtOddShapes) {
  for (DType t : all_types) {
    for (uint32_t n : {1u, 3u, 16u, 33u}) {
      for (uint32_t rows : {1u, 2u, 3u, 7u, 33u}) {
        cases.linear(t, n, 256, rows);
        if (info(t).block == 32) cases.linear(t, n, 32, rows), cases.linear(t, n, 96, rows);
        if (info(t).block == 1) cases.linear(t, n, 31, rows), cases.linear(t, n, 1, rows);
      }
    }
  }
}
TEST_P(CpuKernels, MatmulOfEveryTypeAtTheModelsWidth) {
  for (DType t : all_types) {
    const uint32_t cols = info(t).block == 256 ? 2816 : 2880;
    cases.linear(t, 50, cols, 1);
    cases.linear(t, 50, cols, 13);
  }
}
TEST_P(CpuKernels, LongPromptsFillManyTiles) {
  cases.linear(DType::mxfp4, 17, 64, 800);
  cases.linear(DType::q4_k, 17, 256, 130);
}
/// Widths of register tiles, of panels and of the stretches of columns that are unpacked at a time, each with its borders:
/// an error in one of them must not hide behind the others. And a row's bytes are those of the row alone.
TEST_P(CpuKernels, EveryNumberOfRowsGivesTheBytesOfOneRow) {
  for (DType t : all_types) {
    const bool super = info(t).block == 256;
    const bool less = watched && GetParam().isa == "scalar";  // it has one path for every number of rows
    for (const auto& [n, cols] : {std::pair{less ? 18u : 50u, super ? 2816u : 2880u}, {48u, super ? 512u : 544u}, {less ? 32u : 96u, super ? 2304u : 2080u}}) {
      Random random(n + cols);
      auto w = make_matrix(random, t, n, cols);
      constexpr uint32_t most = 41;
      const Floats x = random_floats(random, size_t(most) * cols);
      Rig rig(cases.make());
      const Buffer in = rig.input("x", x, cols, most), sum = rig.input("sum", Floats(size_t(most) * n), n, most);
      rig.ops.push_back(LinearResidual{in, rig.backend->add_weight(w->view), {}, sum});
      Floats want;
      for (uint32_t r = 0; r < most; ++r) {
        rig.rows(1, r);
        rig.run();
        const Floats one = rig.read(sum, 1, n);
        want.insert(want.end(), one.begin(), one.end());
      }
      const std::string what = type_name(t) + " " + std::to_string(n) + "x" + std::to_string(cols);
      const std::vector<double> oracle = product(*w, 0, nullptr, x.data(), most);
      cases.expect(want, oracle, is_block_type(t), what, cases.int8 ? product_power(*w, 0, x.data(), most) : 0.0);
      for (uint32_t rows : {2u, 4u, 5u, 6u, 7u, 11u, 12u, 13u, 16u, 17u, 18u, 19u, 23u, 24u, 25u, 31u, 41u}) {
        rig.rows(rows);
        rig.run();
        const Floats got = rig.read(sum, rows, n);
        EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << what << ", rows " << rows;
      }
    }
  }
}
TEST_P(CpuKernels, EveryActivationIsItsFormula) {
  for (Activation a : {Activation::silu, Activation::gelu_tanh, Activation::swiglu_oai}) {
    cases.gate_up(DType::f32, a, 33, 96, 2);
    cases.gate_up(DType::q8_0, a, 33, 96, 5);
  }
}
TEST_P(CpuKernels, SwigluClampsWhereTheModelDoes) { cases.swiglu_corners(); }
TEST_P(CpuKernels, RouterTiesGoToTheLowestIndex) { cases.router_ties(); }
TEST_P(CpuKernels, ASumIsNormedBeforeItIsAdded) {
  cases.linear_normed(DType::f32, 33, 64, 3);
  cases.linear_normed(DType::q8_0, 64, 96, 13);
}
TEST_P(CpuKernels, RouterWeightsMayBePartsOfASoftmaxOverAll) { cases.router_softmax_over_all(); }
TEST_P(CpuKernels, RouterBiasTakesPartInTheRanking) { cases.router_bias(); }
TEST_P(CpuKernels, ExpertsWithNoneOneAndManyTokens) {
  for (DType t : {DType::mxfp4, DType::mxfp4_planes, DType::q8_0, DType::f32}) {
    cases.experts(t, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1});
    cases.experts(t, 4, 1, 64, 96, {2});
    std::vector<int32_t> crowd;  // one expert far beyond a tile, one with a single token, one with none
    for (int r = 0; r < 40; ++r) crowd.push_back(4), crowd.push_back(r == 11 ? 1 : r % 2 ? 2 : 3);
    cases.experts(t, 5, 2, 96, 32, crowd);
    cases.experts(t, 5, 2, 544, 96, crowd);  // panels of two strips, several stretches of columns
    cases.experts(t, 5, 2, 544, 96, crowd, {1, 2});
    cases.experts(t, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1}, {3});
    cases.experts(t, 4, 2, 64, 96, {2, 0, 0, 2}, {1, 3});  // nobody's
  }
  cases.experts(DType::q4_k, 3, 2, 256, 256, {0, 2, 2, 1});
}
/// A NaN in the input must come out as an error, not as token 0 for ever.
TEST_P(CpuKernels, NaNReachesTheLogitsAsAnError) {
  for (DType t : {DType::f32, DType::mxfp4, DType::q4_k}) {
    for (float poison : {NAN, INFINITY}) {
      Random random(1);
      auto w = make_matrix(random, t, 20, 256);
      Floats x = random_floats(random, 256);
      x[70] = poison;
      Rig rig(cases.make());
      const Buffer in = rig.input("x", x, 256, 1), out = rig.backend->add_buffer("logits", 20, 1);
      rig.ops.push_back(Logits{in, rig.backend->add_weight(w->view), out});
      rig.rows(1);
      try {
        rig.run();
        ADD_FAILURE() << type_name(t) << ": no error";
      } catch (const Error& e) {
        EXPECT_EQ(e.code, ErrorCode::numeric_error);
      }
    }
  }
}

/// int8 alone moved the distribution of a 135M model by a KL of 5e-3: narrow matrices and logits get a second plane.
TEST_P(CpuKernels, NarrowMatricesAndLogitsAreFinerThanInt8) {
  for (uint32_t cols : {576u, 2880u}) {
    for (uint32_t rows : {1u, 30u}) {
      Random random(cols);
      auto w = make_matrix(random, DType::q8_0, 40, cols);
      const Floats x = random_floats(random, size_t(rows) * cols);
      Rig rig(cases.make());
      const Buffer in = rig.input("x", x, cols, rows), out = rig.backend->add_buffer("logits", 40, rows), sum = rig.input("sum", Floats(size_t(rows) * 40), 40, rows);
      const WeightRef ref = rig.backend->add_weight(w->view);
      rig.ops.push_back(LinearResidual{in, ref, {}, sum});
      rig.ops.push_back(Logits{in, ref, out});
      rig.rows(rows);
      rig.run();
      const std::vector<double> want = product(*w, 0, nullptr, x.data(), rows);
      EXPECT_LE(nmse(rig.read(out, rows, 40), want), 1e-8) << cols << " " << rows;
      EXPECT_LE(nmse(rig.read(sum, rows, 40), want), cols <= 2048 ? 1e-8 : 5e-4) << cols << " " << rows;
    }
  }
}

/// Bytes of a block that the next test leaves as they are: scales, without which nothing could be compared.
bool is_factor(DType type, uint32_t byte) {
  switch (type) {
    case DType::mxfp4: return byte < 1;
    case DType::mxfp4_planes: return false;
    case DType::q6_k: return byte >= 208;  // the scales of its half blocks take part in the integer sums
    case DType::q4_k: case DType::q5_k: return byte < 16;
    case DType::q4_1: case DType::q5_1: return byte < 4;
    default: return byte < 2;
  }
}

Floats logits_of(std::unique_ptr<Backend> backend, const Matrix& w, const Floats& x, uint32_t rows) {
  Rig rig(std::move(backend));
  const Buffer in = rig.input("x", x, w.cols, rows), out = rig.backend->add_buffer("logits", w.rows, rows);
  rig.ops.push_back(Logits{in, rig.backend->add_weight(w), out});
  rig.rows(rows);
  rig.run();
  return rig.read(out, rows, w.rows);
}

/// Where products are added in 16 bits the largest codes and activations of one sign are the worst case.
TEST_P(CpuKernels, LargestCodesDoNotOverflow) {
  for (DType t : all_types) {
    if (!is_block_type(t)) continue;
    for (int fill : {0x00, 0x77, 0x7f, 0x80, 0xff}) {
      Random random(7);
      auto w = make_matrix(random, t, 21, 256);
      for (size_t i = 0; i < w->bytes.size(); ++i) {
        if (!is_factor(t, i % info(t).bytes)) w->bytes[i] = std::byte(fill);
      }
      for (uint32_t r = 0; r < 21; ++r) decode_row(w->view, 0, r, &w->values[size_t(r) * 256]);
      for (uint32_t rows : {1u, 2u, 9u}) {
        Floats x(size_t(rows) * 256);
        for (size_t i = 0; i < x.size(); ++i) x[i] = i / 256 % 3 == 0 ? 1.0f : i / 256 % 3 == 1 ? -1.0f : i / 16 % 2 ? 1.0f : -1.0f;
        const Floats got = logits_of(cases.make(), w->view, x, rows);
        EXPECT_LE(nmse(got, product(*w, 0, nullptr, x.data(), rows), product_power(*w, 0, x.data(), rows)), 1e-9)
            << type_name(t) << " of " << fill << ", rows " << rows;
      }
    }
  }
}

/// At numbers of rows on both sides of every place where the kernels change.
TEST_P(CpuKernels, ActivationsBeyondSixteenBitsDoNotOverflow) {
  for (DType t : all_types) {
    for (uint32_t rows : {1u, 3u, 12u, 13u, 63u, 64u, 65u, 130u}) {
      if (watched && GetParam().isa == "scalar" && rows > 13) continue;  // one path, and slow
      cases.beyond_half(t, rows);
    }
  }
}

/// Register tiles take 1, 2, 3 ... tokens; a row must not notice in which it lies.
TEST_P(CpuKernels, ARowIsTheSameBytesInEveryTile) {
  for (DType t : all_types) {
    Random random(8);
    auto w = make_matrix(random, t, 21, 256);
    const Floats x = random_floats(random, 30 * 256), all = logits_of(cases.make(), w->view, x, 30);
    for (uint32_t rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u, 17u, 25u}) {
      const Floats some = logits_of(cases.make(), w->view, x, rows);
      EXPECT_EQ(std::memcmp(some.data(), all.data(), some.size() * sizeof(float)), 0) << type_name(t) << ", rows " << rows;
    }
  }
}

/// A view as the safetensors reader makes it: every second row of an interleaved matrix, at an odd address.
TEST_P(CpuKernels, StridedAndUnalignedViewsAreReadInPlace) {
  Random random(5);
  for (DType t : {DType::mxfp4_planes, DType::bf16, DType::f32, DType::q8_0}) {
    auto w = make_matrix(random, t, 40, 64);
    std::vector<std::byte> moved(w->bytes.size() + 1);
    std::memcpy(moved.data() + 1, w->bytes.data(), w->bytes.size());
    Matrix odd = w->view;
    odd.rows = 20;
    odd.data = moved.data() + 1 + w->view.row_stride, odd.row_stride *= 2;
    if (odd.scales) odd.scales += odd.scale_row_stride, odd.scale_row_stride *= 2;
    const Floats x = random_floats(random, 64);
    Rig rig(cases.make());
    const Buffer in = rig.input("x", x, 64, 1), out = rig.backend->add_buffer("logits", 20, 1);
    rig.ops.push_back(Logits{in, rig.backend->add_weight(odd), out});
    rig.rows(1);
    rig.run();
    const std::vector<double> all = product(*w, 0, nullptr, x.data(), 1);
    std::vector<double> want;
    for (int r = 0; r < 20; ++r) want.push_back(all[2 * r + 1]);
    cases.expect(rig.read(out, 1, 20), want, is_block_type(t), type_name(t));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CpuKernels, ::testing::ValuesIn(params()), [](const auto& p) {
  return p.param.isa + (p.param.precision == Precision::exact ? "_exact" : "_fast");
});

TEST(CpuKernelChoice, AnUnknownSetIsRefusedByName) {
  try {
    make_cpu_backend({Precision::fast, 1, "avx1024"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code, ErrorCode::invalid_request);
    EXPECT_NE(std::string(e.what()).find("avx1024"), std::string::npos);
  }
}

TEST(CpuKernelChoice, ThisMachinesSets) {
  std::string names;
  for (const std::string& n : cpu::usable_isas()) names += " " + n;
  std::printf("kernel sets tested here:%s; physical cores: %u\n", names.c_str(), cpu::physical_cores());
  EXPECT_GE(cpu::physical_cores(), 1u);
}

/// An e8m0 byte of 0, 1 or 255 has no ordinary exponent; the vector kernels must not treat it as one.
TEST(CpuKernels, RareScalesOfMxfp4) {
  for (const std::string& isa : cpu::usable_isas()) {
    Random random(2);
    auto w = make_matrix(random, DType::mxfp4, 16, 64);
    for (uint32_t r = 0; r < 16; ++r) w->bytes[r * 34] = std::byte(r % 2), w->bytes[r * 34 + 17] = std::byte(2);
    for (uint32_t r = 0; r < 16; ++r) decode_row(w->view, 0, r, &w->values[r * 64]);
    const Floats x = random_floats(random, 64, 1e30f);
    Rig rig(make_cpu_backend({Precision::fast, 1, isa}));
    const Buffer in = rig.input("x", x, 64, 1), out = rig.backend->add_buffer("logits", 16, 1);
    rig.ops.push_back(Logits{in, rig.backend->add_weight(w->view), out});
    rig.rows(1);
    rig.run();
    EXPECT_LE(nmse(rig.read(out, 1, 16), product(*w, 0, nullptr, x.data(), 1), product_power(*w, 0, x.data(), 1)), 5e-4) << isa;
  }
}

}  // namespace
}  // namespace hearth::testing
