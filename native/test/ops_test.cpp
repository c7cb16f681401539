// What ops say about themselves: names, accesses, and the trace that is made of them.
#include "backend/ops.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/trace/trace_backend.h"

namespace hearth {
namespace {

bool has(const Op& op, Access::Kind kind, uint32_t id, bool write) {
  for (const Access& a : accesses(op)) {
    if (a.kind == kind && a.id == id && a.write == write) return true;
  }
  return false;
}

TEST(Ops, InPlaceUpdatesAreAReadAndAWrite) {
  const Op op = LinearResidual{{1}, {}, {}, {2}};
  EXPECT_TRUE(has(op, Access::Kind::buffer, 1, false));
  EXPECT_TRUE(has(op, Access::Kind::buffer, 2, false));
  EXPECT_TRUE(has(op, Access::Kind::buffer, 2, true));
  EXPECT_FALSE(accesses(op).front().write) << "reads come first";
  const Op down = ExpertsDown{{1}, {3}, {}, {}, 4, {2}};
  EXPECT_TRUE(has(down, Access::Kind::buffer, 3, false));
  EXPECT_TRUE(has(down, Access::Kind::buffer, 2, false));
  EXPECT_TRUE(has(down, Access::Kind::buffer, 2, true));
}

TEST(Ops, KvIsTouchedByTheLayerThatNamesIt) {
  QkvRopeStore store{};
  store.group = 1, store.layer_in_group = 5, store.q = {4};
  EXPECT_TRUE(has(store, Access::Kind::kv, 1u << 16 | 5, true));
  Attention attention{};
  attention.group = 1, attention.layer_in_group = 5;
  EXPECT_TRUE(has(attention, Access::Kind::kv, 1u << 16 | 5, false));
}

TEST(Ops, EveryOpHasItsName) {
  EXPECT_EQ(name(Embed{}), "embed");
  EXPECT_EQ(name(QkvRopeStore{}), "qkv_rope_store");
  EXPECT_EQ(name(ExpertsGateUp{}), "experts_gate_up");
  EXPECT_EQ(name(TopLogits{}), "top_logits");
  EXPECT_EQ(name(Recv{}), "recv");
  EXPECT_EQ(name(PickRoutes{}), "pick_routes");
  EXPECT_EQ(name(RecvRoutes{}), "recv_routes");
}

struct TraceRig {
  std::unique_ptr<TraceBackend> t = make_trace_backend();
  const std::byte byte{};
  Buffer x = t->add_buffer("residual", 64, 8), n = t->add_buffer("normed", 64, 8), last = t->add_buffer("last", 64, 8);
  VectorRef norm = t->add_vector(Vector(64));
  WeightRef table = t->add_weight({"token_embd", DType::f16, 100, 64, 1, &byte, 128, 12800});
};

TEST(Trace, TextIsStableAndKnowsSelectedRows) {
  TraceRig r;
  r.t->submit({Embed{r.table, 1.0f, r.x}, Norm{r.x, r.norm, 1e-5f, r.n}, SelectRows{r.n, r.last}, LinearResidual{r.last, r.table, {}, r.last}}, {}, nullptr);
  EXPECT_EQ(r.t->text(),
            "embed token_embd[100,64]:F16 scale=1 -> residual[R,64]\n"
            "norm residual[R,64] w=[64] eps=1e-05 -> normed[R,64]\n"
            "select_rows normed[R,64] -> last[O,64]\n"
            "linear_residual last[O,64] token_embd[100,64]:F16 += last[O,64]\n");
  EXPECT_TRUE(r.t->hazards().empty());
}

TEST(Trace, ReadingBeforeWritingIsAHazard) {
  TraceRig r;
  r.t->submit({Norm{r.x, r.norm, 1e-5f, r.n}}, {}, nullptr);
  ASSERT_EQ(r.t->hazards().size(), 1u);
  EXPECT_EQ(r.t->hazards()[0], "norm reads residual before it is written");
  r.t->clear();
  Attention early{};
  early.q = r.x, early.out = r.n;
  r.t->submit({Embed{r.table, 1.0f, r.x}, early}, {}, nullptr);
  ASSERT_EQ(r.t->hazards().size(), 1u);
  EXPECT_NE(r.t->hazards()[0].find("the KV of group 0, layer 0"), std::string::npos);
}

TEST(Trace, GoldenFilesShowTheFirstDifference) {
  const std::string path = (std::filesystem::temp_directory_path() / "hearth_golden_test.txt").string();
  std::ofstream(path) << "a\nb\n";
  EXPECT_EQ(differs_from_golden("a\nb\n", path), "");
  EXPECT_NE(differs_from_golden("a\nc\n", path).find("line 2"), std::string::npos);
  EXPECT_NE(differs_from_golden("a\n", path).find("(end)"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_NE(differs_from_golden("a\n", path), "");
}

}  // namespace
}  // namespace hearth
