// A weight that is not a number: told as an error, and in a debug build with the place where it began. Failures prevented:
// token 0 for ever, and a search for the layer by hand.
#include "backend/finite_check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "test/mini_model.h"

namespace hearth::testing {
namespace {

std::string message_of(const MiniWeights& weights, std::unique_ptr<Backend> backend) {
  MiniModel m(weights, std::move(backend));
  try {
    m.prompt({1, 2, 3, 4, 5}, 5);
  } catch (const Error& e) {
    EXPECT_EQ(e.code, ErrorCode::numeric_error);
    return e.what();
  }
  return "no error";
}

std::vector<std::unique_ptr<Backend>> both() {
  std::vector<std::unique_ptr<Backend>> list;
  list.push_back(make_reference_backend());
  list.push_back(make_cpu_backend({Precision::fast, 2, ""}));
  list.push_back(make_cpu_backend({Precision::exact, 2, ""}));
  return list;
}

void set_variable(const char* value) {
#ifdef _WIN32
  _putenv_s("HEARTH_CHECK_FINITE", value);
#else
  setenv("HEARTH_CHECK_FINITE", value, 1);
#endif
}

TEST(FiniteCheck, APoisonedWeightIsAnErrorWithoutTheCheckToo) {
  set_variable("0");
  MiniWeights weights{MiniConfig{}};
  weights.layers[1].bo[3] = NAN;
  for (auto& backend : both()) EXPECT_NE(message_of(weights, std::move(backend)), "no error");
}

TEST(FiniteCheck, TheFirstOpThatWentWrongIsNamed) {
  set_variable("1");
  struct Case {
    const char* place;
    void (*poison)(MiniWeights&);
  };
  for (const Case& c : {Case{"in layer 1, op linear_residual, row 0, column 3", [](MiniWeights& w) { w.layers[1].bo[3] = NAN; }},
                        Case{"in layer 0, op router", [](MiniWeights& w) { w.layers[0].br[0] = NAN; }},
                        Case{"in layer 0, op attention", [](MiniWeights& w) { w.layers[0].bv[2] = NAN; }},
                        Case{"in layer 1, op experts_gate_up", [](MiniWeights& w) { for (float& v : w.layers[1].bu) v = NAN; }},
                        Case{"in layer 2, op qkv_rope_store", [](MiniWeights& w) { w.layers[2].bq[0] = INFINITY; }},
                        Case{"before the first layer, op norm", [](MiniWeights& w) { w.layers[0].norm1[0] = NAN; }}}) {
    MiniConfig config;
    config.layers = 3;
    MiniWeights weights(config);
    c.poison(weights);
    for (auto& backend : both()) {
      const std::string name = backend->name(), message = message_of(weights, std::move(backend));
      EXPECT_NE(message.find(c.place), std::string::npos) << name << ": " << message;
    }
  }
  set_variable("0");
}

}  // namespace
}  // namespace hearth::testing
