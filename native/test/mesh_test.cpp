// Failures prevented: several ranks that compute another model than one, in prefill, in decoding, or from blocks that were read back; ranks
// that wait for each other for ever when one fails or the step is given up; a failure that hides behind what followed from it.
#include "mesh/mesh.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <optional>
#include <thread>

#include "backend/kv_form.h"
#include "backend/top_logits.h"
#include "hearth/error.h"
#include "mesh/meeting.h"
#include "mesh/phases.h"
#include "mesh/pieces.h"
#include "test/placed_testing.h"
#include "test/watched.h"

namespace hearth {
namespace {

using namespace testing;

/// The same, but that the embedding of token 100, which no other test has, is no number.
const RandomModel& poisoned() {
  static const RandomModel model = [] {
    RandomModel made;
    auto* embedding = reinterpret_cast<float*>(const_cast<std::byte*>(made.file.weights.embedding.data));
    std::fill_n(embedding + 100 * 64, 64, NAN);
    return made;
  }();
  return model;
}

class MeshDivision : public ::testing::TestWithParam<Division> {};

std::vector<Division> divisions() {
  const RankOptions cpu = rank_on("cpu"), reference = rank_on("reference");
  return {
      {"tensor2", {cpu, cpu}},
      {"tensor4", {cpu, cpu, cpu, cpu}},
      {"tensor_uneven", {rank_on("cpu", 3), rank_on("cpu", 1)}},
      {"tensor_unlike", {cpu, reference}},
      {"row", {rank_on("cpu", 1, 1), rank_on("cpu", 1, 2)}, RankSplit::layers},
      {"row_by_share", {cpu, cpu, reference}, RankSplit::layers},
      {"experts", {cpu}, RankSplit::layers, {{0}, {2}}},
      {"some_experts", {cpu}, RankSplit::layers, {{0, {{1, 3}}}, {2, {{0}}}}},
      {"handover", {cpu, cpu}, RankSplit::handover},
      {"handover_unlike", {reference, cpu}, RankSplit::handover},
      {"row_and_experts", {rank_on("cpu", 1, 2), rank_on("reference", 1, 1)}, RankSplit::layers, {{1}, {2}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Ranks, MeshDivision, ::testing::ValuesIn(divisions()), [](const auto& each) { return each.param.name; });

TEST_P(MeshDivision, IsTheModelThatOneRankIs) { expect_what_one_rank_is(GetParam()); }

void expect_best(Placed& run) {
  const auto [list, logits] = run.best({prompt.begin(), prompt.begin() + 20});
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logits[size_t(a)] > logits[size_t(b)]; });
  order.resize(std::min<size_t>(order.size(), most_top));
  EXPECT_TRUE(list.whole);
  EXPECT_EQ(list.vocabulary, logits.size());
  EXPECT_EQ(list.tokens, order);
}

TEST_P(MeshDivision, TheBestLogitsOfAllRanksAreTheBestOfTheVocabulary) {
  Placed run(ragged().file, options_of(GetParam()));
  expect_best(run);
}

TEST_P(MeshDivision, GoesOnFromKeysAloneAndFromBlocksThatWereReadBack) {
  Placed run(ragged().file, options_of(GetParam()));
  run.skip({prompt.begin(), prompt.begin() + 40});
  run.skip({prompt.begin() + 40, prompt.end()});
  run.through_plain_memory();
  const Floats got = run.read(answer, 1);
  const Floats want(reference_logits().end() - std::ptrdiff_t(got.size()), reference_logits().end());
  EXPECT_LE(worst_logit(got, want), logit_tolerance);
}

/// Rows do not depend on their company here either: the same bytes in any chunks (backend/design.md, invariant 4).
TEST_P(MeshDivision, GivesTheSameBytesInAnyChunks) {
  const bool slow = std::ranges::any_of(GetParam().ranks, [](const RankOptions& rank) { return rank.device == "reference"; });
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    if (slow && precision == Precision::exact) continue;
    Placed whole(ragged().file, options_of(GetParam(), precision)), pieces(ragged().file, options_of(GetParam(), precision));
    const Floats a = whole.read(prompt, 64), b = pieces.read(prompt, 7);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
  }
}

TEST_P(MeshDivision, AGivenUpStepCostsNothingButItsWork) {
  Placed run(ragged().file, options_of(GetParam()));
  run.skip({prompt.begin(), prompt.begin() + 40});
  uint32_t given_up = 0;
  for (int i = 0; i < unless_watched(12, 4); ++i) {
    std::atomic<bool> abandon{false};
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
      abandon = true;
    });
    given_up += !run.attempt({prompt.begin() + 40, prompt.end()}, &abandon);
    later.join();
  }
  EXPECT_GT(given_up, 0u);
  run.skip({prompt.begin() + 40, prompt.end()});
  const Floats got = run.read(answer, 1);
  const Floats want(reference_logits().end() - std::ptrdiff_t(got.size()), reference_logits().end());
  EXPECT_LE(worst_logit(got, want), logit_tolerance);
}

/// Of a token without an embedding the logits are refused by a rank, and the next step is as ever.
TEST_P(MeshDivision, TheFirstErrorIsTheOneThrownAndTheNextStepRuns) {
  Placed run(poisoned().file, options_of(GetParam()));
  for (int i = 0; i < 3; ++i) {
    try {
      run.attempt({1, 2, 100}, nullptr);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::numeric_error) << error.what();
    }
  }
  EXPECT_LE(worst_logit(logits_of(run), reference_logits()), logit_tolerance);
}

/// Who computes a row follows from its place in the text: the same bytes whatever is read or written beside it.
TEST(Mesh, WhatIsWrittenDoesNotDependOnTheStepsItIsComputedIn) {
  std::vector<int32_t> text = prompt;
  text.insert(text.end(), answer.begin(), answer.end());
  for (const std::vector<RankOptions>& ranks : {std::vector{rank_on("cpu"), rank_on("reference")}, std::vector{rank_on("reference"), rank_on("cpu")}}) {
    const Division division{"handover", ranks, RankSplit::handover};
    Placed by_one(ragged().file, options_of(division, Precision::fast)), at_once(ragged().file, options_of(division, Precision::fast));
    by_one.prompt_ends(70), at_once.prompt_ends(70);
    Floats want = by_one.read({text.begin(), text.begin() + 70}, 40);
    const Floats more = by_one.read({text.begin() + 70, text.end()}, 1);
    want.insert(want.end(), more.begin(), more.end());
    EXPECT_EQ(at_once.read(text, 64), want) << "the second chunk has rows of both";
    EngineOptions alone = options_of({"", {ranks[1]}, RankSplit::layers}, Precision::fast);
    alone.kv_type = KvType::f32;
    Placed only(ragged().file, alone);
    only.skip({text.begin(), text.begin() + 70});
    EXPECT_NE(only.read({text.begin() + 70, text.end()}, 1), more) << "the prompt's keys are those of the other rank";
  }
}

/// Rows of each phase, as text: token, and behind a slash those with outputs.
TEST(Mesh, RowsGoWhereTheirPlaceInTheTextSays) {
  StepInputs step;
  step.sequences = 2, step.groups = 1, step.prompt_ends = {10, 100};
  step.blocks = {5, 6, 7, 8}, step.table_begin = {0, 2};
  for (uint32_t p : {9u, 10u, 11u}) step.tokens.push_back(int32_t(p)), step.positions.push_back(p), step.sequence.push_back(0);
  for (uint32_t p : {14u, 15u, 16u}) step.tokens.push_back(int32_t(p)), step.positions.push_back(p), step.sequence.push_back(1);
  step.output_rows = {1, 2, 5};
  const Phases phases = in_phases(step);
  EXPECT_EQ(phases.reading.tokens, (std::vector<int32_t>{9, 14, 15, 16}));
  EXPECT_EQ(phases.writing.tokens, (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(phases.reading.output_rows, (std::vector<uint32_t>{3}));
  EXPECT_EQ(phases.writing.output_rows, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(phases.in_turn) << "the first sequence writes behind what it reads";
  ASSERT_EQ(phases.outputs.size(), 3u);
  EXPECT_TRUE(phases.outputs[1].writes && phases.outputs[1].index == 1 && !phases.outputs[2].writes && phases.outputs[2].index == 0);
  EXPECT_EQ(blocks_written(phases.reading, 16), (std::vector<uint32_t>{5, 7, 8}));
  step.prompt_ends = {9, 100};
  EXPECT_FALSE(in_phases(step).in_turn) << "one reads while the other writes";
  step.prompt_ends.clear();
  EXPECT_TRUE(in_phases(step).writing.tokens.empty());
}

/// Two texts in one step: one is read while the other is written.
TEST(Mesh, APromptIsReadBesideAStream) {
  const Division division{"handover", {rank_on("cpu"), rank_on("reference")}, RankSplit::handover};
  const auto logits = [&](bool together) {
    Placed stream(ragged().file, options_of(division));
    stream.prompt_ends(40);
    stream.skip({prompt.begin(), prompt.begin() + 40});
    return together ? stream.beside({prompt.begin() + 40, prompt.begin() + 41}, {answer.begin(), answer.end()})
                    : stream.read({prompt.begin() + 40, prompt.begin() + 41}, 1);
  };
  const Floats alone = logits(false), beside = logits(true);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), beside.begin()));
  Placed other(ragged().file, options_of(division));
  const Floats read = other.read({answer.begin(), answer.end()}, 8);
  EXPECT_TRUE(std::equal(read.end() - std::ptrdiff_t(alone.size()), read.end(), beside.end() - std::ptrdiff_t(alone.size())));
}

TEST(Mesh, BlocksInAnotherOrderHoldTheSameValues) {
  for (const KvType type : {KvType::f32, KvType::f16, KvType::q8}) {
    for (const KvShape& shape : {KvShape{16, 2, 64, {2, 1}}, KvShape{16, 1, 80, {1}}, KvShape{16, 3, 18, {2}}}) {
      std::vector<std::byte> rows(kv_block_bytes(shape, type, KvForm::rows));
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = std::byte(i * 7 + i / 251);
      for (const KvForm form : {KvForm::keys_across, KvForm::words}) {
        std::vector<std::byte> other(kv_block_bytes(shape, type, form)), again(rows.size());
        reorder_kv_block(shape, type, KvForm::rows, rows.data(), form, other.data());
        reorder_kv_block(shape, type, form, other.data(), KvForm::rows, again.data());
        EXPECT_EQ(again, rows);
        // Words of 32 bits without scales are in order already where a position fills them.
        if (form == KvForm::keys_across || type == KvType::q8) EXPECT_NE(other, rows);
      }
    }
  }
}

/// int8 activations round once per rank; that is all they may differ by (ENGINE reference 1.7: distributions, not single logits).
TEST(Mesh, FastRanksDivergeLittleFromOne) {
  RandomModel dense_like({3, 64, 8, 4, 16, 2880, 4, 4});  // all experts are chosen: no choice that could fall the other way
  Placed one(dense_like.file, options_of(alone_reference)), two(dense_like.file, options_of(divisions()[0], Precision::fast));
  const Floats want = one.read(prompt, 40), got = two.read(prompt, 40);
  double error = 0, power = 0;
  for (size_t i = 0; i < want.size(); ++i) error += std::pow(got[i] - want[i], 2), power += std::pow(want[i], 2);
  EXPECT_LE(error / power, 5e-3);
  EXPECT_GT(error, 0);
}

/// Each graphics device with itself, with the processor, and with every other one.
std::vector<Division> graphics_divisions() {
  std::vector<Division> out;
  const std::vector<std::string> ids = testing::device_ids();
  for (size_t i = 0; i < ids.size(); ++i) {
    for (const size_t ranks : {2, 4}) out.push_back({"ranks on one device", std::vector<RankOptions>(ranks, rank_on(ids[i]))});
    out.push_back({"experts served by the processor", {rank_on(ids[i])}, RankSplit::layers, {{0}, {2}}});
    for (size_t j = 0; j <= i; ++j) {
      const std::string other = j == i ? "cpu" : ids[j];
      out.push_back({"tensor, of two kinds", {rank_on(ids[i], 2), rank_on(other, 1)}});
      out.push_back({"read here, written there", {rank_on(ids[i]), rank_on(other)}, RankSplit::handover});
      out.push_back({"written here, read there", {rank_on(other), rank_on(ids[i])}, RankSplit::handover});
      out.push_back({"a row of two kinds", {rank_on(ids[i], 1, 2), rank_on(other, 1, 1)}, RankSplit::layers});
    }
  }
  return out;
}

/// Devices that are opened meanwhile do without this feature, too.
class Without {
 public:
  explicit Without(const std::string& feature) {
    if (const char* others = std::getenv(name)) before_ = others;
    set_environment(name, before_ + "," + feature);
  }
  ~Without() { set_environment(name, before_); }

 private:
  static constexpr const char* name = "HEARTH_VULKAN_WITHOUT";
  std::string before_;
};

TEST(Mesh, GraphicsDevicesAreRanksToo) {
  if (testing::found_devices().devices.empty()) return testing::skip_without_devices();
  for (const Division& division : graphics_divisions()) {
    EngineOptions options = options_of(division);
    options.kernel_cache_path = testing::vulkan_options({}).cache_folder;
    std::optional<Placed> opened;
    for (int opening = 0; opening < 4; ++opening) {  // a slow device tries its kernels in several openings, some seconds in each
      opened.emplace(ragged().file, options);
      opened->prompt_ends(12);
      if (!opened->device().far_logits() || opened->best({prompt.begin(), prompt.begin() + 20}).first.whole) break;
    }
    Placed& placed = *opened;
    SCOPED_TRACE(std::string(division.name) + ": " + placed.device().name());
    if (placed.device().far_logits()) expect_best(placed);
    const Floats got = placed.read({prompt.begin(), prompt.begin() + 20}, 16);
    const Floats want(reference_logits().begin(), reference_logits().begin() + std::ptrdiff_t(got.size()));
    EXPECT_LE(worst_logit(got, want), logit_tolerance);
    if (division.split == RankSplit::tensor && division.ranks.size() == 2) {
      const Without imported_slots("host_import");
      EXPECT_EQ(Placed(ragged().file, options).read({prompt.begin(), prompt.begin() + 20}, 16), got) << "how sums go changes no byte";
    }
    placed.through_plain_memory();
    const std::atomic<bool> abandon{true};
    EXPECT_FALSE(placed.attempt(answer, &abandon));
    EXPECT_GT(placed.device().device_bytes(), 0u);
  }
  EXPECT_EQ(vulkan_validation_messages(), 0u);
}

/// Threads of each rank of a division by the processor, of which `asked` were asked for.
std::vector<uint32_t> threads_of(Division division, uint32_t asked) {
  EngineOptions options = options_of(division);
  options.threads = asked;
  for (RankOptions& rank : options.ranks) rank.threads = 0;
  std::vector<uint32_t> threads;
  for (const PlannedRank& rank : plan_ranks(options, ragged().file.spec, ragged().file.weights)) threads.push_back(rank.options.threads);
  return threads;
}

TEST(Mesh, RanksThatWorkAtOnceShareTheThreadsThatWereAskedFor) {
  using Threads = std::vector<uint32_t>;
  EXPECT_EQ(threads_of(divisions()[0], 6), (Threads{3, 3}));
  EXPECT_EQ(threads_of(divisions()[1], 2), (Threads{1, 1, 1, 1}));
  EXPECT_EQ(threads_of(divisions()[4], 6), (Threads{6, 6})) << "in a row they work in turn";
  EXPECT_EQ(threads_of(alone_cpu, 6), (Threads{6}));
}

TEST(Mesh, NamesItsRanksAndCountsTheirBytes) {
  Placed run(ragged().file, options_of({"", {rank_on("cpu"), rank_on("reference")}}));
  EXPECT_EQ(run.device().name().substr(0, 4), "cpu/");
  EXPECT_NE(run.device().name().find(" + reference"), std::string::npos) << run.device().name();
  EXPECT_GT(run.device().scratch_bytes(), 0u);
}

/// Stretches of rows and output rows of each piece, as text. `begins`: the first rows of further sequences.
std::string cut(uint32_t rows, std::vector<uint32_t> outputs, uint32_t ranks, const std::vector<uint32_t>& begins = {}) {
  StepInputs step;
  for (uint32_t r = 0; r < rows; ++r) {
    step.tokens.push_back(int32_t(r)), step.positions.push_back(r);
    step.sequence.push_back(static_cast<uint32_t>(std::ranges::count_if(begins, [&](uint32_t begin) { return begin <= r; })));
  }
  step.output_rows = std::move(outputs);
  std::string text;
  for (const StepInputs& piece : in_pieces(step, ranks)) {
    for (uint32_t r = 0; r < piece.rows(); ++r) {
      EXPECT_EQ(piece.positions[r], uint32_t(piece.tokens[r])) << "a row stays whole";
      EXPECT_EQ(piece.sequence[r], step.sequence[piece.positions[r]]);
      const bool follows = r > 0 && piece.tokens[r] == piece.tokens[r - 1] + 1, goes_on = r + 1 < piece.rows() && piece.tokens[r + 1] == piece.tokens[r] + 1;
      if (!follows) text += (r > 0 ? "," : "") + std::to_string(piece.tokens[r]);
      else if (!goes_on) text += '-' + std::to_string(piece.tokens[r]);
    }
    for (uint32_t row : piece.output_rows) text += '/' + std::to_string(piece.tokens[row]);
    text += ' ';
  }
  return text;
}

TEST(Mesh, StepsAreCutInFrontOfTheFirstOutputOfEachSequence) {
  EXPECT_EQ(cut(512, {}, 2), "0-63 64-127 128-191 192-255 256-319 320-383 384-447 448-511 ");
  EXPECT_EQ(cut(512, {511}, 2), "0-63 64-127 128-191 192-255 256-319 320-383 384-447 448-511/511 ");
  EXPECT_EQ(cut(200, {130, 199}, 2), "0-65 66-199/130/199 ");
  EXPECT_EQ(cut(200, {0, 199}, 2), "0-199/0/199 ") << "what follows an output of its own sequence waits for it";
  EXPECT_EQ(cut(200, {0, 1, 199}, 2, {1, 2}), "2-67 68-134 0-1,135-199/0/1/199 ") << "two streams come first, then a prompt";
  EXPECT_EQ(cut(200, {0, 1}, 2, {1, 2}), "2-67 68-134 0-1,135-199/0/1 ") << "and one that goes on in the next step";
  EXPECT_EQ(cut(200, {0, 99, 199}, 2, {1, 100}), "1-66 67-98,100-134 0,99,135-199/0/99/199 ") << "two prompts";
  EXPECT_EQ(cut(127, {126}, 4), "0-126/126 ");
  EXPECT_EQ(cut(512, {511}, 1), "0-511/511 ");
  EXPECT_EQ(cut(1, {0}, 2), "0/0 ");
}

/// A long prompt goes through a row in pieces, and gives what one rank gives for the whole.
TEST(Mesh, PiecesInARowGiveTheSameBytesAsChunks) {
  const Division row{"row", {rank_on("cpu", 1, 1), rank_on("cpu", 1, 2)}, RankSplit::layers};
  const std::vector<int32_t> text = testing::some_tokens(unless_watched(400, 200), 100);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    Placed pieces(ragged().file, options_of(row, precision)), chunks(ragged().file, options_of(alone_cpu, precision));
    pieces.skip(text);
    for (size_t first = 0; first < text.size(); first += 50) chunks.skip({text.begin() + std::ptrdiff_t(first), text.begin() + std::ptrdiff_t(first) + 50});
    EXPECT_EQ(pieces.read(answer, 1), chunks.read(answer, 1)) << "a row adds nothing up";
  }
}

/// The stream's row comes first in the step and last in the pieces.
TEST(Mesh, AStreamBesideAPromptInPiecesIsAsIfItWereAlone) {
  const Division row{"row", {rank_on("cpu", 1, 1), rank_on("cpu", 1, 2)}, RankSplit::layers};
  const std::vector<int32_t> text = testing::some_tokens(150, 100);
  Placed pieces(ragged().file, options_of(row)), stream(ragged().file, options_of(alone_cpu)), apart(ragged().file, options_of(alone_cpu));
  for (int32_t token : {5, 6, 7}) EXPECT_EQ(pieces.skip_beside_stream(text, token), stream.read({token}, 1));
  for (int i = 0; i < 3; ++i) apart.skip(text);
  EXPECT_EQ(pieces.read(answer, 1), apart.read(answer, 1));
}

TEST(Mesh, OpsOfNoRankAreRefused) {
  Placed run(ragged().file, options_of(divisions()[0]));
  EXPECT_THROW(run.device().submit({AllReduce{{0}}}, {}, nullptr), Error);
}

/// Ranks on threads of their own, each going through `body`; what they threw, by rank.
std::vector<std::string> meet(uint32_t ranks, const std::function<bool(Meeting&, uint32_t)>& body) {
  Meeting meeting(ranks, 64);
  meeting.begin();
  std::vector<std::string> said(ranks);
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      bool whole = false;
      try {
        whole = body(meeting, r);
        said[r] = whole ? "whole" : "stopped";
      } catch (const Error& error) {
        said[r] = error.what();
      }
      meeting.leave(r, whole);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

TEST(Meeting, SumsAreInRankOrderForEveryRank) {
  const float big = 1e8f;  // in any other order the ones are lost, or others are
  std::vector<Floats> x(3);
  meet(3, [&](Meeting& meeting, uint32_t r) {
    for (int round = 0; round < 50; ++round) {
      x[r] = {r == 0 ? big : r == 1 ? -big : 1.0f, float(round)};
      if (!all_reduce(meeting.comm(r), x[r])) return false;
      EXPECT_EQ(x[r], (Floats{1.0f, 3.0f * float(round)}));
    }
    return true;
  });
}

TEST(Meeting, MessagesKeepTheirOrder) {
  EXPECT_EQ(meet(2, [](Meeting& meeting, uint32_t r) {
    for (int i = 0; i < 100; ++i) {
      Floats x{float(i)};
      if (r == 0 && !meeting.comm(0).send(1, std::as_bytes(std::span(x)))) return false;
      if (r == 0) continue;
      x = {-1};
      if (!meeting.comm(1).recv(0, std::as_writable_bytes(std::span(x)))) return false;
      EXPECT_EQ(x[0], float(i));
    }
    return true;
  }), (std::vector<std::string>{"whole", "whole"}));
}

TEST(Meeting, WhoeverWaitsStopsWhenOneGivesUp) {
  const auto gives_up = [](Meeting& meeting, uint32_t r) {
    Floats x{1};
    if (r == 2) return std::this_thread::sleep_for(std::chrono::milliseconds(20)), false;
    return r == 0 ? all_reduce(meeting.comm(0), x) : meeting.comm(1).recv(2, std::as_writable_bytes(std::span(x)));
  };
  EXPECT_EQ(meet(3, gives_up), (std::vector<std::string>{"stopped", "stopped", "stopped"}));
}

TEST(Meeting, ListsThatDoNotMeetAreAnErrorAndNoWait) {
  const auto ends_early = [](Meeting& meeting, uint32_t r) {
    Floats x{1};
    return r == 1 || all_reduce(meeting.comm(0), x);
  };
  EXPECT_EQ(meet(2, ends_early)[0], "The op lists of two ranks do not meet.");
  const auto never_sent = [](Meeting& meeting, uint32_t r) {
    Floats x{1};
    return r == 1 || meeting.comm(0).recv(1, std::as_writable_bytes(std::span(x)));
  };
  EXPECT_EQ(meet(2, never_sent)[0], "The op lists of two ranks do not meet.");
}

}  // namespace
}  // namespace hearth
