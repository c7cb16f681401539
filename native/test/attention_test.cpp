// Attention of every kernel set and KV type. Failures prevented: wrong numbers at borders of blocks, windows and splits, sinks
// lost on one of the paths, bytes that depend on company, chunks or threads, garbage behind a sequence that is read.
#include <gtest/gtest.h>

#include "backend/cpu/kernels.h"
#include "test/op_cases.h"
#include "test/watched.h"

namespace hearth::testing {
namespace {

struct Param {
  std::string isa;
  KvType kv;
  Precision precision() const { return kv == KvType::f32 ? Precision::exact : Precision::fast; }
  std::unique_ptr<Backend> backend(uint32_t threads) const { return make_cpu_backend({precision(), threads, isa, kv}); }
  friend void PrintTo(const Param& p, std::ostream* out) { *out << p.isa; }
};

std::vector<Param> params() {
  std::vector<Param> list;
  for (const std::string& isa : cpu::usable_isas()) {
    for (KvType kv : {KvType::f32, KvType::f16, KvType::q8}) list.push_back({isa, kv});
  }
  return list;
}

/// One sequence through keys, values and attention of a full and a windowed layer; bytes of the results are compared.
class Rows {
 public:
  Rows(const Param& p, uint32_t threads, uint32_t length) : small_(p.isa == "scalar"), length_(length), rig_(p.backend(threads)) {
    Random random(5);
    const uint32_t heads = small_ ? 1 : 8, dim = small_ ? 8 : 64, hidden = 8;
    width_ = heads * dim;
    Backend& b = *rig_.backend;
    const Buffer x = rig_.input("x", random_floats(random, size_t(length) * hidden), hidden, length);
    const Buffer q = b.add_buffer("q", width_, length);
    b.set_kv_shape({16, 1, dim, {1, 1}});
    b.resize_kv(2 * blocks());
    RopeSpec spec;
    spec.dims = dim, spec.theta = 150000;
    const RopeRef rope = b.add_rope(make_rope_table(spec));
    for (uint32_t group = 0; group < 2; ++group) {
      auto weight = [&](uint32_t n) {
        rig_.owned.push_back(make_matrix(random, DType::f32, n, hidden));
        return b.add_weight(rig_.owned.back()->view);
      };
      out_[group] = b.add_buffer("out", width_, length);
      rig_.ops.push_back(QkvRopeStore{x, weight(width_), weight(dim), weight(dim), {}, {}, {}, rope, group, 0, heads, 1, dim, q});
      rig_.ops.push_back(Attention{q, b.add_vector(random_floats(random, heads)), group, 0, heads, 1, dim, group ? 128u : 0u, 0.02f, out_[group]});
    }
    rig_.in.groups = 2;
    rig_.in.table_begin = {0, blocks()};
    for (uint32_t i = 0; i < 2 * blocks(); ++i) rig_.in.blocks.push_back(2 * blocks() - 1 - i);
  }

  /// Both layers' results of rows [first, first + count), run in chunks.
  Floats run(uint32_t first, uint32_t count, uint32_t chunk) {
    Floats full, windowed;
    for (uint32_t at = first; at < first + count; at += chunk) {
      const uint32_t n = std::min(chunk, first + count - at);
      rig_.rows(n, at);
      rig_.run();
      for (auto [part, to] : {std::pair{out_[0], &full}, std::pair{out_[1], &windowed}}) {
        const Floats rows = rig_.read(part, n, width_);
        to->insert(to->end(), rows.begin(), rows.end());
      }
    }
    full.insert(full.end(), windowed.begin(), windowed.end());
    return full;
  }
  /// The part of run(0, length, ...) that run(first, count, ...) must repeat.
  Floats part(const Floats& all, uint32_t first, uint32_t count) const {
    Floats some;
    for (size_t layer : {size_t(0), all.size() / 2}) {
      some.insert(some.end(), all.begin() + layer + size_t(first) * width_, all.begin() + layer + size_t(first + count) * width_);
    }
    return some;
  }
  uint32_t blocks() const { return (length_ + 15) / 16; }
  Rig& rig() { return rig_; }

 private:
  bool small_;
  uint32_t length_, width_;
  Rig rig_;
  Buffer out_[2];
};

bool same(const Floats& a, const Floats& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0; }

class CpuAttention : public ::testing::TestWithParam<Param> {
 protected:
  OpCases cases(uint32_t threads = 2) const {
    OpCases c;
    c.make = [p = GetParam(), threads] { return p.backend(threads); };
    c.kv_type = GetParam().kv;
    return c;
  }
};

TEST_P(CpuAttention, IsRightInChunksAndWindows) {
  const OpCases c = cases();
  c.attention({.length = 40, .chunk = 40});
  c.attention({.length = 40, .chunk = 7});
  c.attention({.block_size = 4, .window = 8, .length = 40, .chunk = 7});
  c.attention({.block_size = 1, .length = 20, .chunk = 3});
  c.attention({.block_size = 32, .length = 70, .chunk = 70});
  c.attention({.block_size = 16, .window = 128, .length = 150, .chunk = 64});
  c.attention({.heads = 16, .kv_heads = 2, .head_dim = 64, .length = 70, .chunk = 70});
  c.attention({.heads = 9, .kv_heads = 3, .head_dim = 40, .length = 50, .chunk = 50});
  c.attention({.heads = 14, .kv_heads = 2, .head_dim = 128, .length = 40, .chunk = 40});
  c.attention({.heads = 3, .kv_heads = 1, .head_dim = 8, .length = 20, .chunk = 20, .sinks = false, .layout = RopeLayout::interleaved});
  c.attention({.heads = 2, .kv_heads = 1, .length = 1100, .chunk = 300});             // several splits
  c.attention({.heads = 2, .kv_heads = 1, .window = 600, .length = 1100, .chunk = 1100});  // a window across a split's border
}

TEST_P(CpuAttention, HeadsAreNormedBeforeTheyAreRotated) {
  cases().attention({.length = 20, .chunk = 7, .sinks = false, .norms = true});
  cases().attention({.head_dim = 256, .length = 40, .chunk = 40, .sinks = false, .norms = true});
  cases().attention({.length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .norms = true});
}

TEST_P(CpuAttention, TheRestOfAHeadIsNotRotated) {
  cases().attention({.length = 20, .chunk = 7, .rope_dims = 12});
  cases().attention({.head_dim = 128, .length = 20, .chunk = 20, .rope_dims = 96});
  cases().attention({.length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .rope_dims = 8});
}

TEST_P(CpuAttention, SplitsThatAreSharedOutGiveTheSame) {
  cases(4).attention({.heads = 2, .kv_heads = 1, .head_dim = 8, .length = 1300, .chunk = 17});
}

/// Sinks on every path: within one split, over a window's border, over several splits, and with the splits shared out.
TEST_P(CpuAttention, TheSinkTakesItsShare) {
  for (uint32_t threads : {1u, 4u}) {
    const OpCases c = cases(threads);
    c.sink_share(20, 0, 20);
    c.sink_share(140, 128, 140);
    c.sink_share(700, 0, 700);
    c.sink_share(700, 600, 700);
    // Splits are shared out where the last step's rows see 2048 positions together: one row alone, or sixteen.
    const auto [length, tail] = unless_watched(std::pair{2600u, 1u}, std::pair{1100u, 16u});
    c.sink_share(length, 0, tail);
    c.sink_share(length, length - 300, tail);
  }
}

/// Rows of a text that ends behind a split's border, far enough for the splits of a single row to be shared out.
constexpr uint32_t border = watched ? 2048 : 4096;

TEST_P(CpuAttention, ChunksDoNotChangeBytes) {
  const uint32_t length = border + 1;
  Rows rows(GetParam(), 2, length);
  const Floats want = rows.run(0, length, border / 2);
  for (uint32_t n : {126u, 127u, 128u, 129u, 130u, 131u, border - 1, border, border + 1}) {
    EXPECT_TRUE(same(rows.run(n - 1, 1, 1), rows.part(want, n - 1, 1))) << "row " << n - 1 << " alone";
  }
  EXPECT_TRUE(same(rows.run(0, 140, 1), rows.part(want, 0, 140)));
  EXPECT_TRUE(same(rows.run(border / 2 - 8, 20, 1), rows.part(want, border / 2 - 8, 20)));
  EXPECT_TRUE(same(rows.run(0, length, 128), want));
  EXPECT_TRUE(same(rows.run(0, 560, 7), rows.part(want, 0, 560)));
  EXPECT_TRUE(same(rows.run(length - 100, 100, 7), rows.part(want, length - 100, 100)));
}

TEST_P(CpuAttention, ThreadsDoNotChangeBytes) {
  const uint32_t length = border + 1;
  Rows one(GetParam(), 1, length), two(GetParam(), 2, length), five(GetParam(), 5, length);
  const Floats want = one.run(0, length, border / 2);
  EXPECT_TRUE(same(two.run(0, length, border / 2), want));
  EXPECT_TRUE(same(five.run(0, 1200, 600), one.part(want, 0, 1200)));
  for (uint32_t first : {border / 2 - 1, length - 6}) {
    EXPECT_TRUE(same(two.run(first, 6, 1), one.part(want, first, 6)));
    EXPECT_TRUE(same(two.run(first, 6, 6), one.part(want, first, 6)));
  }
}

/// Whatever lies behind a sequence's length, in its last block too, is not even read to be masked: 0 * NaN is NaN.
TEST_P(CpuAttention, NaNBehindTheLengthIsNeverRead) {
  const uint32_t length = 1100;
  Rows rows(GetParam(), 4, length);
  const Floats want = rows.run(0, length, 700);
  const uint32_t blocks = rows.blocks();
  std::vector<std::byte> poison(rows.rig().backend->kv_block_bytes({16, 1, uint32_t(GetParam().isa == "scalar" ? 8 : 64), {1, 1}}), std::byte{0xff});
  for (uint32_t b = 0; b < 2 * blocks; ++b) rows.rig().backend->write_kv_block(b, poison.data());
  for (uint32_t chunk : {333u, 19u}) EXPECT_TRUE(same(rows.run(0, length, chunk), want)) << "chunks of " << chunk;
}

/// A null block where a row is to be stored, or within reach, is a caller's bug and must not become a write elsewhere.
TEST_P(CpuAttention, ANullBlockIsRefusedBeforeAnythingIsWritten) {
  Rows rows(GetParam(), 2, 64);
  const Floats want = rows.run(0, 64, 64);
  std::vector<uint32_t>& table = rows.rig().in.blocks;
  for (uint32_t entry : {1u, 5u}) {  // of the full and of the windowed layer
    const uint32_t block = std::exchange(table[entry], null_block);
    EXPECT_THROW(rows.run(20, 1, 1), Error);
    table[entry] = block;
  }
  EXPECT_TRUE(same(rows.run(63, 1, 1), rows.part(want, 63, 1)));
}

INSTANTIATE_TEST_SUITE_P(All, CpuAttention, ::testing::ValuesIn(params()), [](const auto& p) {
  return p.param.isa + (p.param.kv == KvType::f32 ? "_f32" : p.param.kv == KvType::f16 ? "_f16" : "_q8");
});

/// Every KV head's planes are where kv_block_bytes says, and q8 is about half of f16.
TEST(KvTypes, BytesOfABlock) {
  const KvShape gpt_oss{16, 8, 64, {12, 12}};
  auto bytes = [&](KvType kv) { return make_cpu_backend({Precision::fast, 1, "", kv})->kv_block_bytes(gpt_oss); };
  EXPECT_EQ(bytes(KvType::f32), 2u * 12 * 8 * 16 * 64 * 4);
  EXPECT_EQ(bytes(KvType::f16), 2u * 12 * 8 * 16 * 64 * 2);
  EXPECT_EQ(bytes(KvType::q8), 2u * 12 * 8 * 16 * (64 + 2 * 4));
  EXPECT_EQ(make_reference_backend(KvType::q8)->kv_block_bytes(gpt_oss), bytes(KvType::q8));
}

}  // namespace
}  // namespace hearth::testing
