// Failures prevented: a layer whose experts are in two places that computes something else than in one, because a slot was added twice or
// not at all, a rank chose for itself, or what lies in a slot that is elsewhere was read; routes and tables that do not fit each other;
// uses that are counted by both ranks; cached blocks of one division that are taken for another's.
#include <gtest/gtest.h>

#include <set>

#include "backend/resources.h"
#include "hearth/error.h"
#include "model/division.h"
#include "test/placed_testing.h"

namespace hearth {
namespace {

using namespace testing;

std::vector<Division> divisions() {
  const RankOptions cpu = rank_on("cpu");
  return {
      {"odd_and_even", {cpu}, RankSplit::layers, {{0, {{0, 2}}}, {1, {{1, 3}}}, {2, {{0, 2}}}}},
      {"one_there", {cpu}, RankSplit::layers, {{0, {{1}}}, {1, {{3}}}, {2, {{0}}}}},
      {"one_here", {rank_on("reference")}, RankSplit::layers, {{0, {{0, 1, 2}}}, {1, {{1, 2, 3}}}}},
      {"beside_whole_layers", {rank_on("cpu", 1, 2), rank_on("reference", 1, 1)}, RankSplit::layers, {{1}, {2, {{3, 2}}}}},
  };
}

class SplitExperts : public ::testing::TestWithParam<Division> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SplitExperts, ::testing::ValuesIn(divisions()), [](const auto& each) { return each.param.name; });

TEST_P(SplitExperts, AreTheModelThatOneRankIs) { expect_what_one_rank_is(GetParam()); }

TEST_P(SplitExperts, GiveTheSameBytesInAnyChunks) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    Placed whole(ragged().file, options_of(GetParam(), precision)), pieces(ragged().file, options_of(GetParam(), precision));
    const std::vector<int32_t> text(prompt.begin(), prompt.begin() + 30);
    EXPECT_EQ(whole.read(text, 30), pieces.read(text, 7));
  }
}

/// A long prompt goes through a row in pieces; the rank that serves works for two at once.
TEST(SplitExperts, ServeARowOfRanksInPieces) {
  const Division row{"", {rank_on("cpu", 1, 1), rank_on("cpu", 1, 2)}, RankSplit::layers, {{0, {{1, 2}}}, {1, {{0}}}, {2, {{3}}}}};
  const std::vector<int32_t> text = some_tokens(200, 100);
  Placed pieces(ragged().file, options_of(row, Precision::fast)), chunks(ragged().file, options_of(row, Precision::fast));
  pieces.skip(text);
  for (size_t first = 0; first < text.size(); first += 50) chunks.skip({text.begin() + std::ptrdiff_t(first), text.begin() + std::ptrdiff_t(first) + 50});
  EXPECT_EQ(pieces.read(answer, 1), chunks.read(answer, 1));
}

TEST_P(SplitExperts, AreCountedOnce) {
  Placed run(ragged().file, options_of(GetParam())), alone(ragged().file, options_of(alone_cpu));
  logits_of(run), logits_of(alone);
  EXPECT_EQ(run.uses().rows, (std::vector<uint64_t>(3, prompt.size() + answer.size())));
  EXPECT_EQ(run.uses().uses, alone.uses().uses);
}

/// Blocks that were kept on disk would be taken up again by a division that rounds differently.
TEST(PlacedLayout, TellsDivisionsApart) {
  std::vector<Division> all = divisions();
  const RankOptions cpu = rank_on("cpu"), twice = rank_on("cpu", 2);
  for (const std::vector<ServedExperts>& served : std::vector<std::vector<ServedExperts>>{{{0}}, {{1}}, {{0}, {1}}, {{0, {{1}}}}}) {
    all.push_back({"", {cpu}, RankSplit::layers, served});
  }
  for (const auto& ranks : {std::vector{twice, cpu}, std::vector{cpu, twice}}) {
    all.push_back({"", ranks, RankSplit::layers}), all.push_back({"", ranks, RankSplit::tensor});
  }
  for (const double more : {1.0, 1.2}) all.push_back({"", {rank_on("cpu", more), cpu}, RankSplit::tensor});  // the same heads, not the same columns
  std::set<std::string> layouts;
  for (const Division& each : all) layouts.insert(PlacedModel(options_of(each), ragged().file, block_size).layout());
  EXPECT_EQ(layouts.size(), all.size());
}

/// One step over the first rows of the prompt, on two backends of which the second serves.
Floats logits_on(std::unique_ptr<Backend> owner, std::unique_ptr<Backend> server, const std::vector<ServedExperts>& served, uint32_t rows) {
  const ModelFile& file = ragged().file;
  std::vector<ModelPart> parts = {whole_model(file.spec)};
  serve_experts(file.spec, served, parts);
  const KvShape kv = Transformer::kv_shape(file.spec, block_size);
  Backend &first = *owner, &second = *server;
  std::vector<MeshRank> ranks;
  ranks.push_back({std::move(owner), kv}), ranks.push_back({std::move(server), Transformer::kv_shape(cut_spec(file.spec, parts[1]), block_size)});
  const auto mesh = make_mesh(std::move(ranks));
  const TransformerLimits limits{64, 64, 128};
  const Transformer here(file.spec, file.weights, parts[0], first, limits), there(file.spec, file.weights, parts[1], second, limits);
  mesh->resize_kv(16);
  OpList list = {OnRank{0}};
  for (const auto& [rank, part] : {std::pair{0u, &here}, std::pair{1u, &there}}) {
    if (rank == 1) list.push_back(OnRank{1});
    const OpList ops = part->record(StepTail::logits);
    list.insert(list.end(), ops.begin(), ops.end());
  }
  std::vector<GroupReach> groups;
  for (const LayerGroup& group : file.spec.groups) groups.push_back({block_size, group.window});
  BlockPool pool(16, 16, [](uint32_t) { return true; });
  SequenceKv sequence(groups);
  EXPECT_TRUE(sequence.begin(pool, rows));
  const StepInputs inputs = make_step_inputs({{&prompt, &sequence, 0, rows, rows}}, static_cast<uint32_t>(groups.size()));
  EXPECT_TRUE(mesh->submit(list, inputs, nullptr)->wait());
  Floats logits(size_t(rows) * file.spec.vocabulary);
  mesh->read(mesh->join({{0, here.logits(), file.spec.vocabulary}}), 0, rows, logits.data());
  sequence.roll_back(pool);
  return logits;
}

/// Few rows and many take other kernels. A device keeps its experts or serves them, beside the processor and beside every other device.
TEST(SplitExperts, GraphicsDevicesKeepThemAndServeThem) {
  if (found_devices().devices.empty()) return skip_without_devices();
  const std::vector<ServedExperts> served = {{0, {{1, 3}}}, {1, {{2}}}, {2, {{0, 1, 2}}}};
  std::vector<std::string> devices = device_ids();
  devices.push_back("cpu");
  const auto open = [](const std::string& device) {
    if (device == "cpu") return make_cpu_backend({Precision::exact, 1});
    return vulkan_backend({device, false});
  };
  for (const std::string& owner : devices) {
    for (const std::string& server : devices) {
      if (owner == server) continue;
      for (const uint32_t rows : {3u, 20u}) {
        SCOPED_TRACE(owner + " + " + server + ", rows " + std::to_string(rows));
        const Floats got = logits_on(open(owner), open(server), served, rows);
        EXPECT_LE(worst_logit(got, {reference_logits().begin(), reference_logits().begin() + std::ptrdiff_t(got.size())}), logit_tolerance);
      }
    }
  }
}

/// What the ops of a layer in two places refuse, with routes over 4 experts of which weights of 2 are here.
class PickedRoutes : public ::testing::Test {
 protected:
  PickedRoutes() {
    Random random(1);
    const Buffer in = rig.input("x", Floats(32, 1.0f), 32, 1);
    x = in, routes = b.add_routes(2, 1), picked = b.add_routes(2, 1), out = b.add_buffer("out", 64, 1);
    for (const uint32_t experts : {4u, 2u}) rig.owned.push_back(make_matrix(random, DType::q8_0, experts == 4 ? 4 : 32, 32, experts == 4 ? 1 : 2));
    rig.ops.push_back(Router{in, b.add_weight(rig.owned[1]->view), {}, 4, 2, 0, routes});
    two = b.add_weight(rig.owned[2]->view);
    rig.rows(1);
  }
  /// Whether these routes go through, and an expert op over them.
  void run(const Floats& places, Buffer from) {
    rig.ops.push_back(PickRoutes{from, b.add_vector(places), picked});
    rig.ops.push_back(ExpertsGateUp{x, picked, two, two, {}, {}, 2, Activation::silu, 0, 0, out});
    rig.run();
  }

  Rig rig{make_reference_backend()};
  Backend& b = *rig.backend;
  Buffer x, routes, picked, out;
  WeightRef two;
};

TEST_F(PickedRoutes, AreThoseOfTheExpertsThatAreHere) { EXPECT_NO_THROW(run({-1, 1, 0, -1}, routes)); }
TEST_F(PickedRoutes, NeedAPlaceForEachExpert) { EXPECT_THROW(run({-1, 1, 0}, routes), Error); }
TEST_F(PickedRoutes, AreRefusedWhereAnExpertHasNoWeights) { EXPECT_THROW(run({-1, 1, 2, -1}, routes), Error); }
TEST_F(PickedRoutes, HaveWholeNumbersForPlaces) { EXPECT_THROW(run({-1, 0.5f, 1, -1}, routes), Error); }
TEST_F(PickedRoutes, AreNotMadeOfActivations) { EXPECT_THROW(run({-1, 1, 0, -1}, x), Error); }

TEST(SentRoutes, NameOnlyExpertsThatThereAre) {
  const std::vector<int32_t> chosen = {3, 0};
  EXPECT_NO_THROW(check_routes(chosen, 4));
  EXPECT_THROW(check_routes(chosen, 3), Error);
  EXPECT_THROW(check_routes(std::vector<int32_t>{-1}, 4), Error);
}

}  // namespace
}  // namespace hearth
