// Failures prevented: logits that differ from independent implementations, or that depend on file format, threads,
// chunking or company. The expected numbers and how they were made: test/fixtures/oracles, test/oracles.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "backend/backend.h"
#include "engine/step_runner.h"
#include "hearth/engine.h"
#include "model/model_file.h"
#include "model/transformer.h"
#include "test/vulkan_testing.h"
#include "test/watched.h"

namespace hearth {
namespace {

const std::string oracles = std::string(HEARTH_FIXTURES) + "/oracles/";

/// A trained model, at the place where its fixtures would be. Its numbers: resources/starter/train/check_hf.py.
const std::string starter = "../../../resources/starter/starter.gguf";

struct Expected {
  std::vector<TokenId> tokens;
  std::map<size_t, std::vector<float>> logits;  // by length
};

Expected read_expected(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  Expected expected;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string kind;
    size_t count = 0;
    fields >> kind >> count;
    if (kind == "tokens") {
      for (TokenId token; fields >> token;) expected.tokens.push_back(token);
    } else if (kind == "logits") {
      for (float value; fields >> value;) expected.logits[count].push_back(value);
    }
  }
  EXPECT_EQ(expected.logits.size(), 5u);
  return expected;
}

/// What is expected of a model, by its place: the folder of its fixtures.
Expected expected_of(const std::string& model) {
  const std::string family = model == starter ? "starter" : model.substr(0, model.find('/'));
  return read_expected(oracles + family + "/transformers.txt");
}

EngineOptions options_for(const std::string& model, const std::string& device, Precision precision, uint32_t context = 1024) {
  EngineOptions options;
  options.model_path = oracles + model;
  options.device = device;
  options.precision = precision;
  options.threads = 2;
  options.context = context;
  return options;
}

double worst_difference(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) worst = std::max(worst, std::abs(double(got[i]) - want[i]));
  return worst;
}

void agrees(const std::string& model, const std::string& oracle, const std::string& device, double tolerance,
            size_t longest = SIZE_MAX) {
  SCOPED_TRACE(model + " on " + device + " against " + oracle);
  const Expected expected = read_expected(oracles + oracle);
  const auto engine = Engine::load(options_for(model, device, Precision::exact), {});
  for (const auto& [length, want] : expected.logits) {
    if (length > longest) continue;
    const std::vector<float> got = engine->logits({expected.tokens.begin(), expected.tokens.begin() + length});
    EXPECT_LE(worst_difference(got, want), tolerance) << "at " << length << " tokens";
  }
}

TEST(LogitsOracle, GptOssAgreesWithTransformersInBothFormats) {
  for (const char* device : {"reference", "cpu"}) {
    agrees("gptoss/tiny.gguf", "gptoss/transformers.txt", device, 1e-3);
    agrees("gptoss/hf", "gptoss/transformers.txt", device, 1e-3);
  }
}

TEST(LogitsOracle, GptOssAgreesWithFloat64InBothFormats) {
  for (const char* device : {"reference", "cpu"}) {
    agrees("gptoss/tiny.gguf", "gptoss/numpy64.txt", device, 1e-3);
    agrees("gptoss/hf", "gptoss/numpy64.txt", device, 1e-3);
  }
}

TEST(LogitsOracle, TheStarterAgreesWithTransformers) {
  agrees(starter, "starter/transformers.txt", "reference", 1e-3, unless_watched(200, 7));
  agrees(starter, "starter/transformers.txt", "cpu", 1e-3, unless_watched(600, 200));
}

/// Two processors' shares of a model are the model: divided by heads and columns, in a row, with experts served by a third.
TEST(LogitsOracle, SeveralRanksAgreeWithTransformers) {
  struct Case {
    const char* model;
    RankSplit split;
    std::vector<ServedExperts> served;
    double tolerance;
  };
  const Case cases[] = {{starter.c_str(), RankSplit::tensor, {}, 1e-3},      {starter.c_str(), RankSplit::layers, {{1}}, 1e-3},
                        {starter.c_str(), RankSplit::layers, {{0, {{0}}}, {1, {{1, 2}}}}, 1e-3},
                        {"llama/tiny.gguf", RankSplit::tensor, {}, 1e-3},    {"qwen3/hf", RankSplit::tensor, {}, 1e-4},
                        {"smollm3/tiny.gguf", RankSplit::tensor, {}, 1e-4},     {"gemma3/tiny.gguf", RankSplit::layers, {}, 1e-4},
                        {"gptoss/hf", RankSplit::tensor, {}, 1e-3}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.model);
    const Expected expected = expected_of(each.model);
    EngineOptions options = options_for(each.model, "cpu", Precision::exact);
    options.ranks = {{"cpu", 1}, {"cpu", 1}}, options.split = each.split, options.served = each.served;
    const auto engine = Engine::load(options, {});
    for (const auto& [length, want] : expected.logits) {
      if (length > 200) continue;
      EXPECT_LE(worst_difference(engine->logits({expected.tokens.begin(), expected.tokens.begin() + length}), want), each.tolerance) << length;
    }
  }
}

TEST(LogitsOracle, LlamaAgreesWithTransformersInBothFormats) {
  for (const char* device : {"reference", "cpu"}) {
    agrees("llama/tiny.gguf", "llama/transformers.txt", device, 1e-3);
    agrees("llama/hf", "llama/transformers.txt", device, 1e-3);
  }
}

/// Families that differ from llama in what their names say: test/oracles/make_family_fixtures.py.
void family_agrees(const std::string& family) {
  for (const char* device : {"reference", "cpu"}) {
    agrees(family + "/tiny.gguf", family + "/transformers.txt", device, 1e-4);
    agrees(family + "/hf", family + "/transformers.txt", device, 1e-4);
  }
}

TEST(LogitsOracle, Qwen2AgreesInBothFormats) { family_agrees("qwen2"); }
TEST(LogitsOracle, Qwen3AgreesInBothFormats) { family_agrees("qwen3"); }
TEST(LogitsOracle, Qwen3MoeAgreesInBothFormats) { family_agrees("qwen3moe"); }
TEST(LogitsOracle, MistralAgreesInBothFormats) { family_agrees("mistral"); }
TEST(LogitsOracle, Gemma3AgreesInBothFormats) { family_agrees("gemma3"); }
TEST(LogitsOracle, SmolLm3AgreesInBothFormats) { family_agrees("smollm3"); }

/// The same op lists on every graphics device there is; it computes in float32, so nothing is granted to it.
TEST(LogitsOracle, GraphicsDevicesAgreeInBothFormats) {
  if (testing::found_devices().devices.empty()) return testing::skip_without_devices();
  for (const std::string& device : testing::device_ids()) {
    agrees(starter, "starter/transformers.txt", device, 1e-3, 200);
    agrees("gptoss/tiny.gguf", "gptoss/transformers.txt", device, 1e-3);
    if (!testing::thorough()) continue;
    agrees("gptoss/tiny.gguf", "gptoss/numpy64.txt", device, 1e-3);
    agrees("gptoss/hf", "gptoss/transformers.txt", device, 1e-3);
    agrees("gptoss/hf", "gptoss/numpy64.txt", device, 1e-3);
    for (const char* family : {"llama", "qwen2", "qwen3", "qwen3moe", "mistral", "gemma3", "smollm3"}) {
      agrees(std::string(family) + "/tiny.gguf", std::string(family) + "/transformers.txt", device, 1e-4);
    }
  }
  EXPECT_EQ(vulkan_validation_messages(), 0u);
}

/// LongRoPE: transformers chooses the divisors by the length of the text, an engine with a cache by its context. So the
/// short lengths are judged with a context that ends where the long divisors begin.
TEST(LogitsOracle, Phi3AgreesInBothFormats) {
  const Expected expected = read_expected(oracles + "phi3/transformers.txt");
  for (const char* device : {"reference", "cpu"}) {
    for (const char* model : {"phi3/tiny.gguf", "phi3/hf"}) {
      for (uint32_t context : {64u, 1024u}) {
        const auto engine = Engine::load(options_for(model, device, Precision::exact, context), {});
        for (const auto& [length, want] : expected.logits) {
          if ((length <= 64) != (context == 64)) continue;
          SCOPED_TRACE(std::string(model) + " on " + device + ", " + std::to_string(length) + " tokens");
          EXPECT_LE(worst_difference(engine->logits({expected.tokens.begin(), expected.tokens.begin() + length}), want), 1e-4);
        }
      }
    }
  }
}

/// The rounded YaRN range is another model: a switch that does nothing would hide here.
TEST(LogitsOracle, TheYarnSwitchMatters) {
  const Expected expected = read_expected(oracles + "gptoss/transformers.txt");
  EngineOptions options = options_for("gptoss/tiny.gguf", "reference", Precision::exact);
  const std::vector<TokenId> tokens(expected.tokens.begin(), expected.tokens.begin() + 200);
  options.yarn_truncate = true;
  const std::vector<float> truncated = Engine::load(options, {})->logits(tokens);
  double worst = 0;
  for (size_t i = 0; i < truncated.size(); ++i) worst = std::max(worst, std::abs(double(truncated[i]) - expected.logits.at(200)[i]));
  EXPECT_GT(worst, 1e-2);
}

/// A backend with a model on it, run without the engine so that the router's choice can be forced.
struct Bench {
  ModelFile file;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Transformer> transformer;

  Bench(const std::string& model, std::unique_ptr<Backend> made, uint32_t rows)
      : file(open_model(oracles + model, {false, false, true})), backend(std::move(made)) {
    transformer = std::make_unique<Transformer>(file.spec, file.weights, *backend, TransformerLimits{rows, rows});
    backend->set_kv_shape(transformer->kv_shape(16));
    backend->resize_kv(200);
  }

  std::vector<float> run(const std::vector<TokenId>& tokens, const ForcedRoutes& forced) {
    BlockPool pool(200, 200, [](uint32_t) { return true; });
    std::vector<GroupReach> groups;
    for (const LayerGroup& group : file.spec.groups) groups.push_back({16, group.window});
    SequenceKv kv(groups);
    const auto rows = static_cast<uint32_t>(tokens.size());
    EXPECT_TRUE(kv.begin(pool, rows));
    StepInputs inputs = make_step_inputs({{&tokens, &kv, 0, rows, rows}}, static_cast<uint32_t>(groups.size()));
    inputs.forced = forced;
    EXPECT_TRUE(backend->submit(transformer->record(StepTail::logits), inputs, nullptr)->wait());
    std::vector<float> logits(size_t(rows) * file.spec.vocabulary);
    backend->read(transformer->logits(), 0, rows, logits.data());
    return logits;
  }

  ForcedRoutes routes(uint32_t rows) {
    ForcedRoutes routes;
    for (uint32_t layer = 0; layer < file.spec.layers.size(); ++layer) {
      const uint32_t k = file.spec.layers[layer].mlp.experts_used;
      std::vector<int32_t> experts(size_t(rows) * k);
      std::vector<float> weights(experts.size());
      backend->read_routes(transformer->routes(layer), rows, experts.data(), weights.data());
      routes.experts.insert(routes.experts.end(), experts.begin(), experts.end());
    }
    return routes;
  }
};

double divergence(const float* exact, const float* fast, uint32_t vocabulary) {
  const auto normaliser = [&](const float* x) {
    double sum = 0;
    for (uint32_t t = 0; t < vocabulary; ++t) sum += std::exp(double(x[t]));
    return std::log(sum);
  };
  const double a = normaliser(exact), b = normaliser(fast);
  double kl = 0;
  for (uint32_t t = 0; t < vocabulary; ++t) kl += std::exp(exact[t] - a) * ((exact[t] - a) - (fast[t] - b));
  return kl;
}

TEST(LogitsOracle, FastDivergesLittleOnceTheRoutesAreTheSame) {
  for (const std::string& model : {std::string("gptoss/tiny.gguf"), std::string("gptoss/hf"), starter}) {
    Expected expected = expected_of(model);
    if (model == starter) expected.tokens.resize(unless_watched(200, 70));
    const auto rows = static_cast<uint32_t>(expected.tokens.size());
    Bench exact(model, make_reference_backend(), rows);
    const std::vector<float> want = exact.run(expected.tokens, {});
    const ForcedRoutes routes = exact.routes(rows);
    Bench fast(model, make_cpu_backend({Precision::fast, 2, ""}), rows);
    const std::vector<float> got = fast.run(expected.tokens, routes);
    EXPECT_EQ(fast.routes(rows).experts, routes.experts);
    double sum = 0;
    const uint32_t vocabulary = exact.file.spec.vocabulary;
    for (uint32_t r = 0; r < rows; ++r) sum += divergence(&want[size_t(r) * vocabulary], &got[size_t(r) * vocabulary], vocabulary);
    RecordProperty("mean_kl_" + (model == starter ? std::string("starter") : model.substr(7, 2) == "hf" ? "hf" : "gguf"), std::to_string(sum / rows));
    EXPECT_LE(sum / rows, 5e-3) << model;
  }
}

TEST(LogitsOracle, BytesDependNeitherOnThreadsNorOnChunks) {
  for (const std::string& model : {std::string("gptoss/tiny.gguf"), std::string("gptoss/hf"), starter, std::string("llama/tiny.gguf"),
                                   std::string("gemma3/tiny.gguf"), std::string("qwen3moe/hf")}) {
    for (Precision precision : {Precision::exact, Precision::fast}) {
      const Expected expected = expected_of(model);
      const int rows_wanted = model == starter ? 70 : unless_watched(200, 140);  // just beyond the starter's window
      const std::vector<TokenId> tokens(expected.tokens.begin(), expected.tokens.begin() + rows_wanted);
      std::vector<float> all, last;
      for (uint32_t threads : {1u, 2u}) {
        for (uint32_t chunk : {1u, 7u, 128u, 512u}) {
          if (watched && threads == 1 && chunk == 1) continue;  // the slowest
          SCOPED_TRACE(model + " threads " + std::to_string(threads) + " chunk " + std::to_string(chunk));
          EngineOptions options = options_for(model, "cpu", precision);
          options.threads = threads;
          options.prefill_chunk = chunk;
          const auto engine = Engine::load(options, {});
          const std::vector<float> rows = engine->all_logits(tokens), one = engine->logits(tokens);
          if (all.empty()) all = rows, last = one;
          ASSERT_EQ(rows.size(), all.size());
          EXPECT_EQ(std::memcmp(rows.data(), all.data(), all.size() * sizeof(float)), 0);
          EXPECT_EQ(std::memcmp(one.data(), last.data(), last.size() * sizeof(float)), 0);
          EXPECT_EQ(std::memcmp(one.data(), &rows[rows.size() - one.size()], one.size() * sizeof(float)), 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearth
