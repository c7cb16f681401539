// The CPU's promise that a row's bytes depend on the row alone, KV that holds garbage, and steps that are given up.
// Caching, batching, preemption and resume rest on these.
#include <gtest/gtest.h>

#include <thread>

#include "backend/cpu/kernels.h"
#include "test/mini_model.h"
#include "test/watched.h"

namespace hearth::testing {
namespace {

struct Param {
  std::string isa;
  Precision precision;
  DType dense, moe;
  KvType kv = KvType::automatic;
  friend void PrintTo(const Param& p, std::ostream* out) { *out << p.isa; }
};

std::vector<Param> params() {
  std::vector<Param> list;
  for (const std::string& isa : cpu::usable_isas()) {
    list.push_back({isa, Precision::exact, DType::q8_0, DType::mxfp4});
    if (watched && isa == "scalar") continue;
    list.push_back({isa, Precision::fast, DType::q8_0, DType::mxfp4});
    list.push_back({isa, Precision::fast, DType::q4_1, DType::mxfp4_planes});
    list.push_back({isa, Precision::fast, DType::bf16, DType::q5_0, KvType::q8});
    if (isa == "scalar") continue;  // one path for every number of rows, and slow
    list.push_back({isa, Precision::fast, DType::q4_k, DType::q6_k});
    list.push_back({isa, Precision::fast, DType::q5_k, DType::q5_1});
    list.push_back({isa, Precision::fast, DType::q4_0, DType::iq4_nl});
    list.push_back({isa, Precision::exact, DType::f16, DType::q4_k});
  }
  return list;
}

MiniConfig config_of(const Param& p) {
  MiniConfig c;
  c.dense = p.dense, c.moe = p.moe;
  if (info(p.dense).block == 256 || info(p.moe).block == 256) c.hidden = c.inner = 256, c.head_dim = 64;
  return c;
}

class BatchInvariance : public ::testing::TestWithParam<Param> {
 protected:
  const MiniWeights weights{config_of(GetParam())};
  const uint32_t length = unless_watched(300u, 140u);
  const std::vector<int32_t> tokens = some_tokens(length, weights.config.vocabulary);
  MiniModel model(uint32_t threads) const { return {weights, make_cpu_backend({GetParam().precision, threads, GetParam().isa, GetParam().kv})}; }

  /// Same bytes, with the first difference named.
  static void expect_same(const Floats& a, const Floats& b, uint32_t cols, const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::memcmp(&a[i], &b[i], 4) != 0) {
        FAIL() << what << ": row " << i / cols << ", column " << i % cols << ": " << a[i] << " and " << b[i];
      }
    }
  }
};

TEST_P(BatchInvariance, ThreadsDoNotChangeBytes) {
  MiniModel one = model(1), two = model(2), five = model(5);
  const Floats want = one.prompt(tokens, length);
  expect_same(want, two.prompt(tokens, length), 50, "2 threads");
  expect_same(want, five.prompt(tokens, length), 50, "5 threads");
}

TEST_P(BatchInvariance, ChunksDoNotChangeBytes) {
  MiniModel m = model(2);
  const Floats want = m.prompt(tokens, length);
  for (uint32_t chunk : {1u, 2u, 5u, 7u, 13u, 64u, 128u}) {
    if (watched && (chunk == 2 || chunk == 5)) continue;
    expect_same(want, m.prompt(tokens, chunk), 50, "chunks of " + std::to_string(chunk));
  }
}

TEST_P(BatchInvariance, NeighboursDoNotChangeBytes) {
  MiniModel m = model(2);
  const std::vector<int32_t> other = some_tokens(length, weights.config.vocabulary, 99);
  const Floats want = m.prompt(tokens, length);
  for (uint32_t first = 0; first + 20 <= length; first += 20) {  // the other sequence runs at another pace beside it
    const uint32_t n = 1 + first / 20;
    ASSERT_TRUE(m.step({m.part(other, 0, n, 40), m.part(tokens, first, 20, 0)}));
    const Floats got = m.logits();
    expect_same({want.begin() + first * 50, want.begin() + (first + 20) * 50}, {got.begin() + n * 50, got.end()}, 50, "beside " + std::to_string(n) + " rows");
  }
}

TEST_P(BatchInvariance, WhereBlocksLieDoesNotChangeBytes) {
  MiniModel m = model(2);
  expect_same(m.prompt(tokens, length, 0), m.prompt(tokens, 50, 21), 50, "other blocks");
}

/// The window's border at 127/128 and prompts around block and split borders: every row equals its run alone at the end.
TEST_P(BatchInvariance, LongContextsAndBorders) {
  MiniConfig c = config_of(GetParam());
  c.window = 128;
  const MiniWeights w(c);
  const uint32_t all = unless_watched(620u, 530u);
  const std::vector<int32_t> many = some_tokens(all, c.vocabulary, 3);
  MiniModel m(w, make_cpu_backend({GetParam().precision, 4, GetParam().isa, GetParam().kv}), 128);
  const Floats want = m.prompt(many, all);
  for (uint32_t n : {126u, 127u, 128u, 129u, 131u, 511u, 512u, 513u}) {
    ASSERT_TRUE(m.step({m.part(many, n - 1, 1, 0)}));
    expect_same({want.begin() + (n - 1) * 50, want.begin() + n * 50}, m.logits(), 50, "row " + std::to_string(n - 1) + " alone");
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchInvariance, ::testing::ValuesIn(params()), [](const auto& p) {
  const std::string kv = p.param.kv == KvType::q8 ? "q8kv_" : "";
  return p.param.isa + (p.param.precision == Precision::exact ? "_exact_" : "_fast_") + kv + type_name(p.param.dense) + "_" + type_name(p.param.moe);
});

// --- the same model on every backend ------------------------------------------------------------------------------

std::vector<std::pair<std::string, std::unique_ptr<Backend>>> all_backends() {
  std::vector<std::pair<std::string, std::unique_ptr<Backend>>> list;
  list.emplace_back("reference", make_reference_backend());
  for (const std::string& isa : cpu::usable_isas()) {
    list.emplace_back(isa + " exact", make_cpu_backend({Precision::exact, 2, isa}));
    list.emplace_back(isa + " fast", make_cpu_backend({Precision::fast, 2, isa}));
    list.emplace_back(isa + " fast q8", make_cpu_backend({Precision::fast, 2, isa, KvType::q8}));
  }
  return list;
}

TEST(Step, EveryBackendAgreesWithTheReference) {
  for (DType dense : {DType::bf16, DType::q8_0, DType::q5_1}) {
    MiniConfig c;
    c.dense = dense, c.layers = 4;
    const MiniWeights weights(c);
    const std::vector<int32_t> tokens = some_tokens(70, c.vocabulary);
    ForcedRoutes forced;  // rounding must not flip a router's choice here
    for (uint32_t i = 0; i < c.layers * 70; ++i) forced.experts.push_back(i % 6), forced.experts.push_back((i + 1 + i / 6 % 5) % 6);
    MiniModel reference(weights, make_reference_backend());
    reference.forced = forced;
    const Floats want = reference.prompt(tokens, 70);
    for (auto& [name, backend] : all_backends()) {
      const bool fast = backend->precision() == Precision::fast;
      MiniModel m(weights, std::move(backend));
      m.forced = forced;
      const Floats got = m.prompt(tokens, 70);
      if (fast) EXPECT_LE(nmse(got, {want.begin(), want.end()}), 5e-3) << name << ", " << type_name(dense);
      else EXPECT_LE(worst(got, want), 1e-4) << name << ", " << type_name(dense);
    }
  }
}

/// Blocks that an earlier sequence filled with NaN are handed to another: nothing behind its length may be read, not even
/// to be masked (0 * NaN is NaN), and blocks that the window left behind are gone.
TEST(Step, GarbageInUsedBlocksIsNeverRead) {
  MiniConfig c;
  c.poisoned_token = 13;
  const MiniWeights weights(c);
  const uint32_t length = unless_watched(120u, 60u);
  std::vector<int32_t> clean = some_tokens(length, 13), poison(length + 40, 13);
  for (auto& [name, backend] : all_backends()) {
    MiniModel m(weights, std::move(backend));
    const Floats want = m.prompt(clean, length);
    EXPECT_THROW(m.prompt(poison, length + 40), Error) << name;  // and NaN is told
    for (uint32_t chunk : {length, 1u, 7u}) {
      const Floats got = m.prompt(clean, chunk);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * 4), 0) << name << ", chunk " << chunk;
    }
    if (name == "reference") continue;
    MiniModel fresh(weights, make_cpu_backend({Precision::exact, 1, "scalar"}), 1);
    fresh.backend->resize_kv(0);
    fresh.backend->resize_kv(64);
    EXPECT_EQ(fresh.prompt(clean, length).size(), want.size());
  }
}

TEST(Step, APoisonedTokenIsANumericError) {
  MiniConfig c;
  c.poisoned_token = 13;
  const MiniWeights weights(c);
  for (auto& [name, backend] : all_backends()) {
    MiniModel m(weights, std::move(backend));
    try {
      m.prompt({1, 2, 13}, 3);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code, ErrorCode::numeric_error) << name;
    }
  }
}

/// A sequence whose blocks were copied out, lost and copied into other blocks goes on with the same bytes.
TEST(Step, BlocksThatLeaveAndComeBackElsewhereChangeNothing) {
  MiniConfig c;
  const MiniWeights weights(c);
  const std::vector<int32_t> tokens = some_tokens(90, c.vocabulary);
  for (auto& [name, backend] : all_backends()) {
    MiniModel m(weights, std::move(backend));
    const Floats want = m.prompt(tokens, 90);
    const uint64_t bytes = m.backend->kv_block_bytes({c.block_size, c.kv_heads, c.head_dim, {1, 1}});
    ASSERT_TRUE(m.step({m.part(tokens, 0, 80, 0)}));
    std::vector<std::vector<std::byte>> kept(10, std::vector<std::byte>(bytes));
    for (uint32_t b = 0; b < 10; ++b) m.backend->read_kv_block(b, kept[b].data());
    m.backend->resize_kv(0);
    m.backend->resize_kv(64);
    for (uint32_t b = 0; b < 10; ++b) m.backend->write_kv_block(31 + b, kept[b].data());
    ASSERT_TRUE(m.step({m.part(tokens, 80, 10, 31)}));
    const Floats got = m.logits();
    EXPECT_EQ(std::memcmp(got.data(), want.data() + 80 * c.vocabulary, got.size() * 4), 0) << name;
    EXPECT_THROW(m.backend->read_kv_block(64, kept[0].data()), Error) << name;
    EXPECT_THROW(m.backend->write_kv_block(null_block, kept[0].data()), Error) << name;
  }
}

/// Given up before and amid: what earlier steps wrote stays, and running the step again gives the same bytes.
TEST(Step, GivingUpLeavesCommittedKvIntact) {
  MiniConfig c;
  const MiniWeights weights(c);
  const uint32_t half = unless_watched(200u, 70u);
  const std::vector<int32_t> tokens = some_tokens(2 * half, c.vocabulary);
  for (auto& [name, backend] : all_backends()) {
    MiniModel m(weights, std::move(backend));
    const Floats want = m.prompt(tokens, half);
    std::atomic<bool> stop{true};
    ASSERT_TRUE(m.step({m.part(tokens, 0, half, 0)}));
    EXPECT_FALSE(m.step({m.part(tokens, half, half, 0)}, &stop)) << name;
    int given_up = 0;
    for (int delay : {0, 50, 200, 500, 1000, 2000}) {  // microseconds: some fall amid the ops
      stop = false;
      std::thread killer([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
        stop = true;
      });
      given_up += !m.step({m.part(tokens, half, half, 0)}, &stop);
      killer.join();
    }
    ASSERT_TRUE(m.step({m.part(tokens, half, half, 0)}));
    const Floats got = m.logits();
    EXPECT_EQ(std::memcmp(got.data(), want.data() + half * 50, got.size() * 4), 0) << name << " (given up " << given_up << " of 6 times)";
  }
}

TEST(Step, WrongListsAreErrorsAndNotCrashes) {
  MiniConfig c;
  const MiniWeights weights(c);
  for (auto& [name, backend] : all_backends()) {
    MiniModel m(weights, std::move(backend), 8);
    const std::vector<int32_t> tokens = some_tokens(40, c.vocabulary);
    EXPECT_THROW(m.prompt({0, 50}, 2), Error) << name << ": a token outside the vocabulary";
    EXPECT_THROW(m.prompt({-1}, 1), Error) << name;
    MiniModel::Part p = m.part(tokens, 0, 40, 0);
    p.blocks[0][1] = null_block;
    EXPECT_THROW(m.step({p}), Error) << name << ": a null block within reach";
    p = m.part(tokens, 0, 40, 0);
    p.blocks[1][2] = 8;
    EXPECT_THROW(m.step({p}), Error) << name << ": a block beyond the pool";
    p = m.part(tokens, 0, 40, 0);
    p.blocks[1].pop_back();
    EXPECT_THROW(m.step({p}), Error) << name << ": a table that is too short";
    EXPECT_TRUE(m.step({m.part(tokens, 0, 40, 0)})) << name << ": and still alive";
  }
}

}  // namespace
}  // namespace hearth::testing
