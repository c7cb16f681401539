// Failures prevented: an op lost, doubled or wired to the wrong buffer; a window or sink that a layer should have and
// has not; work after the last keys and values of a chunk that nobody reads.
#include "model/transformer.h"

#include <gtest/gtest.h>

#include <string>

#include "backend/trace/trace_backend.h"
#include "hearth/error.h"
#include "model/division.h"

namespace hearth {
namespace {

const std::string oracles = std::string(HEARTH_FIXTURES) + "/oracles/";
const std::string golden = std::string(HEARTH_FIXTURES) + "/../../native/test/golden/";

StepInputs one_row() {
  StepInputs inputs;
  inputs.tokens = {1};
  inputs.positions = {0};
  inputs.sequence = {0};
  inputs.sequences = 1;
  inputs.output_rows = {0};
  return inputs;
}

/// The op list of a rank's step as text.
std::string traced(const ModelFile& model, const ModelPart& part, StepTail tail) {
  const auto backend = make_trace_backend();
  const Transformer transformer(model.spec, model.weights, part, *backend, {8, 4});
  backend->set_kv_shape(transformer.kv_shape(16));
  backend->resize_kv(8);
  StepInputs inputs = one_row();
  inputs.groups = static_cast<uint32_t>(model.spec.groups.size());
  for (uint32_t g = 0; g < inputs.groups; ++g) {
    inputs.table_begin.push_back(g);
    inputs.blocks.push_back(g);
  }
  if (tail == StepTail::kv_only) inputs.output_rows.clear();
  EXPECT_TRUE(backend->submit(transformer.record(tail), inputs, nullptr)->wait());
  for (const std::string& hazard : backend->hazards()) ADD_FAILURE() << hazard;
  return backend->text();
}

/// The same over the first layers; 0: the whole step.
std::string traced(const std::string& file, StepTail tail, uint32_t layers = 0) {
  const ModelFile model = open_model(oracles + file, {false, false, true});
  ModelPart part = whole_model(model.spec);
  if (layers > 0) part.layers.resize(layers), part.ends = layers == model.spec.layers.size();
  return traced(model, part, tail);
}

/// A rank with a layer's attention and three of its eight experts, and the one that has the others.
TEST(Transformer, ExpertsInTwoPlacesAreTheGoldenList) {
  const ModelFile model = open_model(oracles + "gptoss/tiny.gguf", {false, false, true});
  std::vector<ModelPart> parts = {whole_model(model.spec)};
  serve_experts(model.spec, {{0, {{0, 2, 4, 6, 7}}}}, parts);
  parts[0].layers.resize(1), parts[0].ends = false;
  EXPECT_EQ(differs_from_golden(traced(model, parts[0], StepTail::logits) + traced(model, parts[1], StepTail::logits), golden + "gpt_oss_experts.txt"), "");
}

TEST(Transformer, GptOssIsTheGoldenList) {
  EXPECT_EQ(differs_from_golden(traced("gptoss/tiny.gguf", StepTail::logits), golden + "gpt_oss.txt"), "");
}

TEST(Transformer, LlamaIsTheGoldenList) {
  EXPECT_EQ(differs_from_golden(traced("llama/tiny.gguf", StepTail::logits), golden + "llama.txt"), "");
}

/// Embedding and layers as far as the family has more than one kind of them.
TEST(Transformer, FamiliesAreTheirGoldenLists) {
  const std::pair<const char*, uint32_t> families[] = {{"qwen2", 1}, {"qwen3", 1}, {"qwen3moe", 1}, {"mistral", 1},
                                                       {"gemma3", 6}, {"phi3", 1}, {"smollm3", 4}};
  for (const auto& [family, layers] : families) {
    EXPECT_EQ(differs_from_golden(traced(std::string(family) + "/tiny.gguf", StepTail::logits, layers), golden + family + ".txt"), "");
  }
}

TEST(Transformer, FoldersGiveTheGoldenListsToo) {
  EXPECT_EQ(differs_from_golden(traced("gptoss/hf", StepTail::logits), golden + "gpt_oss_folder.txt"), "");
  EXPECT_EQ(differs_from_golden(traced("llama/hf", StepTail::logits), golden + "llama_folder.txt"), "");
}

TEST(Transformer, AChunkWithoutOutputEndsWithTheLastKeysAndValues) {
  const std::string whole = traced("gptoss/tiny.gguf", StepTail::logits);
  const std::string chunk = traced("gptoss/tiny.gguf", StepTail::kv_only);
  EXPECT_EQ(whole.substr(0, chunk.size()), chunk);
  const std::string last_line = chunk.substr(chunk.rfind('\n', chunk.size() - 2) + 1);
  EXPECT_EQ(last_line.substr(0, 3), "qkv") << last_line;
}

TEST(Transformer, TheBestLogitsFollowTheLogits) {
  const std::string whole = traced("gptoss/tiny.gguf", StepTail::logits), best = traced("gptoss/tiny.gguf", StepTail::top_logits);
  EXPECT_EQ(best.substr(0, whole.size()), whole);
  EXPECT_EQ(best.substr(whole.size()), "top_logits logits[O,288] k=128 -> top_logits[O,258]\n");
}

TEST(Transformer, BindingStopsWhenItIsGivenUp) {
  const ModelFile model = open_model(oracles + "gptoss/tiny.gguf", {false, false, true});
  const auto backend = make_trace_backend();
  const auto give_up = [](double part) {
    if (part > 0.4) throw Error(ErrorCode::cancelled, "enough");
  };
  EXPECT_THROW(Transformer(model.spec, model.weights, *backend, {8, 4}, give_up), Error);
}

}  // namespace
}  // namespace hearth
