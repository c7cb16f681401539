// Every op against an oracle in double, for any backend: the reference is tested with it, and so is each CPU kernel set.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "backend/top_logits.h"
#include "model/part.h"
#include "test/backend_testing.h"

namespace hearth::testing {

struct OpCases {
  std::function<std::unique_ptr<Backend>()> make;
  double tolerance = 1e-5;  // of worst() where arithmetic is float32
  bool int8 = false;        // block-quantised matmuls are judged by nmse <= 5e-4
  KvType kv_type = KvType::f32;

  void expect(const Floats& got, const std::vector<double>& want, bool quantised, const std::string& what, double power = 0.0) const {
    ASSERT_EQ(got.size(), want.size()) << what;
    if (int8 && quantised) EXPECT_LE(nmse(got, want, power), 5e-4) << what;
    else EXPECT_LE(worst(got, want), tolerance) << what;
  }

  void norm() const {
    for (uint32_t cols : {1u, 15u, 32u, 100u, 2880u}) {
      Random random(cols);
      const Floats x = random_floats(random, 3 * cols, 5.0f), w = random_floats(random, cols);
      Rig rig(make());
      const Buffer in = rig.input("x", x, cols, 3), out = rig.backend->add_buffer("out", cols, 3);
      rig.ops.push_back(Norm{in, rig.backend->add_vector(w), 1e-5f, out});
      rig.rows(3);
      rig.run();
      std::vector<double> want;
      for (uint32_t r = 0; r < 3; ++r) {
        double squares = 0;
        for (uint32_t c = 0; c < cols; ++c) squares += double(x[r * cols + c]) * x[r * cols + c];
        for (uint32_t c = 0; c < cols; ++c) want.push_back(x[r * cols + c] / std::sqrt(squares / cols + double(1e-5f)) * w[c]);
      }
      expect(rig.read(out, 3, cols), want, false, "norm of " + std::to_string(cols));
    }
  }

  void embed_and_select(DType type) const {
    Random random(3);
    const uint32_t cols = 256;
    auto table = make_matrix(random, type, 9, cols);
    Rig rig(make());
    const Buffer x = rig.backend->add_buffer("x", cols, 5), picked = rig.backend->add_buffer("picked", cols, 5);
    rig.ops = {Embed{rig.backend->add_weight(table->view), 0.5f, x}, SelectRows{x, picked}};
    rig.rows(5);
    rig.in.tokens = {8, 0, 3, 3, 7};
    rig.in.output_rows = {1, 4};
    rig.run();
    std::vector<double> want;
    for (int32_t t : {0, 7}) for (uint32_t c = 0; c < cols; ++c) want.push_back(table->row(0, t)[c] * 0.5);
    expect(rig.read(picked, 2, cols), want, false, "embed " + type_name(type));
  }

  /// residual += W.x + b, and the logits of the same weight.
  void linear(DType type, uint32_t n, uint32_t cols, uint32_t rows) const {
    Random random(n * 7919 + cols * 31 + rows);
    auto w = make_matrix(random, type, n, cols);
    const Floats x = random_floats(random, size_t(rows) * cols), start = random_floats(random, size_t(rows) * n), b = random_floats(random, n);
    Rig rig(make());
    const Buffer in = rig.input("x", x, cols, rows), residual = rig.input("residual", start, n, rows);
    const Buffer logits = rig.backend->add_buffer("logits", n, rows);
    const WeightRef ref = rig.backend->add_weight(w->view);
    rig.ops.push_back(LinearResidual{in, ref, rig.backend->add_vector(b), residual});
    rig.ops.push_back(Logits{in, ref, logits});
    rig.rows(rows);
    rig.run();
    const std::string what = type_name(type) + " " + std::to_string(n) + "x" + std::to_string(cols) + ", rows " + std::to_string(rows);
    const bool quantised = is_block_type(type);
    const std::vector<double> plain = product(*w, 0, nullptr, x.data(), rows);
    const double power = quantised && int8 ? product_power(*w, 0, x.data(), rows) : 0.0;
    expect(rig.read(logits, rows, n), plain, quantised, "logits " + what, power);
    std::vector<double> want = product(*w, 0, b.data(), x.data(), rows);
    for (size_t i = 0; i < want.size(); ++i) want[i] += start[i];
    expect(rig.read(residual, rows, n), want, quantised, "linear " + what, power);
  }

  /// Activations and sums beyond what 16 bits of float hold (65504), as the last layers of gpt-oss have them.
  void beyond_half(DType type, uint32_t rows) const {
    Random random(rows);
    const uint32_t n = 48, cols = 256;
    auto w = make_matrix(random, type, n, cols);
    const Floats x = random_floats(random, size_t(rows) * cols, 60000.0f), start = random_floats(random, size_t(rows) * n, 90000.0f);
    Rig rig(make());
    const Buffer in = rig.input("x", x, cols, rows), residual = rig.input("residual", start, n, rows);
    const Buffer out = rig.backend->add_buffer("normed", n, rows);
    rig.ops.push_back(LinearResidual{in, rig.backend->add_weight(w->view), {}, residual});
    rig.ops.push_back(Norm{residual, rig.backend->add_vector(Floats(n, 1.0f)), 1e-5f, out});
    rig.rows(rows);
    rig.run();
    const std::string what = type_name(type) + ", rows " + std::to_string(rows);
    std::vector<double> want = product(*w, 0, nullptr, x.data(), rows);
    for (size_t i = 0; i < want.size(); ++i) want[i] += start[i];
    ASSERT_GT(*std::max_element(want.begin(), want.end()), 65504.0);
    expect(rig.read(residual, rows, n), want, is_block_type(type), what, int8 ? product_power(*w, 0, x.data(), rows) : 0.0);
    for (uint32_t r = 0; r < rows; ++r) normed(&want[size_t(r) * n], Floats(n, 1.0f), double(1e-5f));
    expect(rig.read(out, rows, n), want, is_block_type(type), "normed " + what, double(n) * rows);
  }

  /// residual += norm(W.x + b): the norm of the sum, not of the product, and never of the residual.
  void linear_normed(DType type, uint32_t n, uint32_t cols, uint32_t rows) const {
    Random random(n * 17 + cols + rows);
    auto w = make_matrix(random, type, n, cols);
    const Floats x = random_floats(random, size_t(rows) * cols), start = random_floats(random, size_t(rows) * n);
    const Floats b = random_floats(random, n), norm = random_floats(random, n);
    Rig rig(make());
    const Buffer in = rig.input("x", x, cols, rows), residual = rig.input("residual", start, n, rows);
    rig.ops.push_back(LinearResidual{in, rig.backend->add_weight(w->view), rig.backend->add_vector(b), residual, rig.backend->add_vector(norm), 1e-3f});
    rig.rows(rows);
    rig.run();
    std::vector<double> want = product(*w, 0, b.data(), x.data(), rows);
    for (uint32_t r = 0; r < rows; ++r) normed(&want[size_t(r) * n], norm, double(1e-3f));
    for (size_t i = 0; i < want.size(); ++i) want[i] += start[i];
    expect(rig.read(residual, rows, n), want, is_block_type(type), "normed linear " + type_name(type));
  }

  void gate_up(DType type, Activation act, uint32_t n, uint32_t cols, uint32_t rows) const {
    Random random(n + cols + rows);
    auto gate = make_matrix(random, type, n, cols), up = make_matrix(random, type, n, cols);
    const Floats x = random_floats(random, size_t(rows) * cols, 0.3f), bg = random_floats(random, n), bu = random_floats(random, n);
    Rig rig(make());
    const Buffer in = rig.input("x", x, cols, rows), out = rig.backend->add_buffer("out", n, rows);
    rig.ops.push_back(GateUp{in, rig.backend->add_weight(gate->view), rig.backend->add_weight(up->view), rig.backend->add_vector(bg),
                             rig.backend->add_vector(bu), act, 1.702f, 7.0f, out});
    rig.rows(rows);
    rig.run();
    const std::vector<double> g = product(*gate, 0, bg.data(), x.data(), rows), u = product(*up, 0, bu.data(), x.data(), rows);
    std::vector<double> want;
    for (size_t i = 0; i < g.size(); ++i) want.push_back(oracle_activation(act, double(1.702f), 7.0, g[i], u[i]));
    expect(rig.read(out, rows, n), want, is_block_type(type), "gate_up " + type_name(type));
  }

  /// The corners of the clamp of swiglu_oai: gate above and far below, up on both sides.
  void swiglu_corners() const {
    const Floats gates = {7.1f, -50.0f, 7.0f, 6.9f, 0.0f, 100.0f, -7.1f}, ups = {7.1f, -7.1f, 7.0f, -7.0f, -1.0f, -100.0f, 0.5f};
    const uint32_t n = static_cast<uint32_t>(gates.size());
    Rig rig(make());
    const Buffer in = rig.input("x", {1.0f}, 1, 1), out = rig.backend->add_buffer("out", n, 1);
    rig.owned.push_back(f32_matrix(gates, n, 1));
    const WeightRef g = rig.backend->add_weight(rig.owned.back()->view);
    rig.owned.push_back(f32_matrix(ups, n, 1));
    const WeightRef u = rig.backend->add_weight(rig.owned.back()->view);
    rig.ops.push_back(GateUp{in, g, u, {}, {}, Activation::swiglu_oai, 1.702f, 7.0f, out});
    rig.rows(1);
    rig.run();
    const Floats got = rig.read(out, 1, n);
    for (uint32_t i = 0; i < n; ++i) {
      const double want = oracle_activation(Activation::swiglu_oai, double(1.702f), 7.0, gates[i], ups[i]);
      EXPECT_NEAR(got[i], want, 1e-5 * (std::fabs(want) + 1e-3)) << "gate " << gates[i] << ", up " << ups[i];
    }
    EXPECT_NEAR(got[0], 7.0 / (1 + std::exp(-1.702 * 7)) * 8, 1e-4);  // both clamped to 7
  }

  /// What TopLogits makes of each row.
  std::vector<Floats> top_rows(const Floats& logits, uint32_t vocabulary, uint32_t k) const {
    const auto rows = static_cast<uint32_t>(logits.size() / vocabulary);
    const TopLayout layout{vocabulary, k};
    Rig rig(make());
    const Buffer in = rig.input("logits", logits, vocabulary, rows), out = rig.backend->add_buffer("top", layout.cols(), rows);
    rig.ops.push_back(TopLogits{in, k, out});
    rig.rows(rows);
    rig.run();
    const Floats got = rig.read(out, rows, layout.cols());
    std::vector<Floats> split;
    for (uint32_t r = 0; r < rows; ++r) split.emplace_back(got.begin() + r * layout.cols(), got.begin() + (r + 1) * layout.cols());
    return split;
  }

  void expect_parts(const Floats& row, const float* logits, TopLayout layout, const std::string& what) const {
    for (uint32_t p = 0; p < layout.parts(); ++p) {
      const float *begin = logits + p * top_part_size, *end = std::min(begin + top_part_size, logits + layout.vocabulary);
      if (!std::all_of(begin, end, [](float v) { return std::isfinite(v); })) {
        EXPECT_TRUE(std::isnan(row[layout.sum(p)])) << what << ", part " << p;
        continue;
      }
      const float largest = *std::max_element(begin, end);
      double sum = 0;
      for (const float* v = begin; v < end; ++v) sum += std::exp(double(*v) - largest);
      EXPECT_EQ(row[layout.largest(p)], largest) << what << ", part " << p;
      EXPECT_NEAR(row[layout.sum(p)], sum, 1e-5 * sum) << what << ", part " << p;
    }
  }

  /// The best k, equals by their ids, for vocabularies that fill no part, one, and more than one pass takes together.
  void top_logits(uint32_t vocabulary, uint32_t k, bool ties) const {
    const uint32_t rows = 3;
    Random random(vocabulary + k);
    Floats logits = random_floats(random, size_t(rows) * vocabulary, 6.0f);
    if (ties) for (float& v : logits) v = std::round(v * 0.3f);  // a dozen values, and both zeros
    const std::vector<Floats> got = top_rows(logits, vocabulary, k);
    const TopLayout layout{vocabulary, k};
    for (uint32_t r = 0; r < rows; ++r) {
      const std::string what = std::to_string(k) + " of " + std::to_string(vocabulary) + ", row " + std::to_string(r);
      const float* row = &logits[size_t(r) * vocabulary];
      std::vector<uint32_t> order(vocabulary);
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return row[a] > row[b]; });
      for (uint32_t i = 0; i < k; ++i) {
        ASSERT_EQ(got[r][layout.token(i)], i < vocabulary ? float(order[i]) : -1.0f) << what << ", place " << i;
        if (i < vocabulary) ASSERT_EQ(got[r][layout.logit(i)], row[order[i]]) << what << ", place " << i;
      }
      expect_parts(got[r], row, layout, what);
    }
  }

  /// A value that is not finite shows in its part's sum and nowhere else; the row beside it is as ever.
  void top_logits_of_what_is_not_finite() const {
    const uint32_t vocabulary = 5000, k = 20;
    Random random(5);
    const Floats plain = random_floats(random, vocabulary, 4.0f);
    Floats logits;
    for (int r = 0; r < 5; ++r) logits.insert(logits.end(), plain.begin(), plain.end());
    const float infinity = std::numeric_limits<float>::infinity();
    logits[0 * vocabulary + 2100] = std::numeric_limits<float>::quiet_NaN();
    logits[1 * vocabulary + 4999] = infinity;
    logits[2 * vocabulary + 0] = -infinity;
    for (uint32_t t = 0; t < vocabulary; ++t) logits[3 * vocabulary + t] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Floats> got = top_rows(logits, vocabulary, k);
    for (uint32_t r = 0; r < 5; ++r) expect_parts(got[r], &logits[size_t(r) * vocabulary], {vocabulary, k}, "row " + std::to_string(r));
    const std::vector<Floats> alone = top_rows(plain, vocabulary, k);
    EXPECT_EQ(std::memcmp(got[4].data(), alone[0].data(), alone[0].size() * 4), 0) << "a row depends on its company";
    const uint32_t shares[] = {vocabulary};
    for (uint32_t r = 0; r < 5; ++r) EXPECT_EQ(read_shortlist(got[r].data(), shares, k).whole, r == 4) << r;
  }

  void all_top_logits() const {
    top_logits(1, 1, false), top_logits(7, 20, true), top_logits(127, 128, false), top_logits(2048, 128, false), top_logits(2049, 64, true);
    top_logits(5000, 1, true), top_logits(5000, 128, true), top_logits(2048 * 17 + 3, 128, false), top_logits(2048 * 17 + 3, 50, true);
    top_logits_of_what_is_not_finite();
  }

  /// Equal logits: the lowest index wins (value desc, index asc), and weights are a softmax over the chosen.
  void router_ties() const {
    Rig rig(make());
    const Floats logits = {1, 3, 2, 3, 2, 3, 0, 2};
    const Buffer in = rig.input("x", {1.0f}, 1, 1), routes = rig.backend->add_routes(4, 1);
    rig.owned.push_back(f32_matrix(logits, 8, 1));
    rig.ops.push_back(Router{in, rig.backend->add_weight(rig.owned.back()->view), {}, 8, 4, 0, routes});
    rig.rows(1);
    rig.run();
    int32_t experts[4];
    float weights[4];
    rig.backend->read_routes(routes, 1, experts, weights);
    EXPECT_EQ(std::vector<int32_t>(experts, experts + 4), (std::vector<int32_t>{1, 3, 5, 2}));
    const double total = 3 + std::exp(-1.0);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(weights[i], 1 / total, 1e-6);
    EXPECT_NEAR(weights[3], std::exp(-1.0) / total, 1e-6);
  }

  /// Weights that are parts of one softmax over all experts do not sum to 1; forced experts are weighed the same way.
  void router_softmax_over_all() const {
    Rig rig(make());
    const Floats logits = {1, 3, 2, -4, 0.5f};
    const Buffer in = rig.input("x", {1.0f}, 1, 1), routes = rig.backend->add_routes(2, 1);
    rig.owned.push_back(f32_matrix(logits, 5, 1));
    rig.ops.push_back(Router{in, rig.backend->add_weight(rig.owned.back()->view), {}, 5, 2, 0, routes, RouterSoftmax::all});
    rig.rows(1);
    double total = 0;
    for (float logit : logits) total += std::exp(double(logit));
    for (const std::vector<int32_t>& wanted : {std::vector<int32_t>{1, 2}, {3, 0}}) {
      if (wanted[0] == 3) rig.in.forced.experts = wanted;
      rig.run();
      int32_t experts[2];
      float weights[2];
      rig.backend->read_routes(routes, 1, experts, weights);
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(experts[i], wanted[i]);
        EXPECT_NEAR(weights[i], std::exp(double(logits[wanted[i]])) / total, 1e-6);
      }
    }
  }

  /// The bias takes part in the ranking.
  void router_bias() const {
    Rig rig(make());
    const Buffer in = rig.input("x", {1.0f}, 1, 1), routes = rig.backend->add_routes(1, 1);
    rig.owned.push_back(f32_matrix({1, 2, 3}, 3, 1));
    rig.ops.push_back(Router{in, rig.backend->add_weight(rig.owned.back()->view), rig.backend->add_vector({5, 0, 0}), 3, 1, 0, routes});
    rig.rows(1);
    rig.run();
    int32_t expert;
    float weight;
    rig.backend->read_routes(routes, 1, &expert, &weight);
    EXPECT_EQ(expert, 0);
    EXPECT_FLOAT_EQ(weight, 1.0f);
  }

  /// Experts with no, one and many tokens: routes are forced to `choice[row * k + i]`. `here`: the experts whose weights are here, where that
  /// is not all of them; the slots of the others hold 1e30, which stays there and is added nowhere.
  void experts(DType type, uint32_t count, uint32_t k, uint32_t hidden, uint32_t inner, const std::vector<int32_t>& choice,
               const std::vector<uint32_t>& here = {}) const {
    const auto is_here = [&](int32_t expert) { return here.empty() || std::ranges::find(here, static_cast<uint32_t>(expert)) != here.end(); };
    const auto weight_of = [&](const TestMatrix& m) { return here.empty() ? m.view : cut_experts(m.view, here); };
    const auto values_of = [&](const Floats& v) { return here.empty() ? v : cut_experts(v, static_cast<uint32_t>(v.size() / count), here); };
    const uint32_t rows = static_cast<uint32_t>(choice.size()) / k;
    Random random(count * 131 + rows);
    auto gate = make_matrix(random, type, inner, hidden, count), up = make_matrix(random, type, inner, hidden, count);
    auto down = make_matrix(random, type, hidden, inner, count);
    auto router = make_matrix(random, DType::f32, count, hidden);
    const Floats x = random_floats(random, size_t(rows) * hidden, 0.1f), start = random_floats(random, size_t(rows) * hidden);
    const Floats bg = random_floats(random, size_t(count) * inner), bu = random_floats(random, size_t(count) * inner);
    const Floats bd = random_floats(random, size_t(count) * hidden), br = random_floats(random, count);
    Rig rig(make());
    Backend& b = *rig.backend;
    const Buffer in = rig.input("x", x, hidden, rows), residual = rig.input("residual", start, hidden, rows);
    const Buffer inside = rig.input("inside", Floats(size_t(rows) * inner * k, 1e30f), inner * k, rows), routes = b.add_routes(k, rows);
    rig.ops.push_back(Router{in, b.add_weight(router->view), b.add_vector(br), count, k, 0, routes});
    Buffer picked = routes;
    if (!here.empty()) {
      Floats places(count, -1.0f);
      for (size_t i = 0; i < here.size(); ++i) places[here[i]] = static_cast<float>(i);
      picked = b.add_routes(k, rows);
      rig.ops.push_back(PickRoutes{routes, b.add_vector(places), picked});
    }
    rig.ops.push_back(ExpertsGateUp{in, picked, b.add_weight(weight_of(*gate)), b.add_weight(weight_of(*up)), b.add_vector(values_of(bg)), b.add_vector(values_of(bu)), k,
                                    Activation::swiglu_oai, 1.702f, 7.0f, inside});
    rig.ops.push_back(ExpertsDown{inside, picked, b.add_weight(weight_of(*down)), b.add_vector(values_of(bd)), k, residual});
    rig.rows(rows);
    rig.in.forced.experts = choice;
    rig.run();

    const std::vector<double> g = product(*router, 0, br.data(), x.data(), rows);
    std::vector<double> want(start.begin(), start.end()), acts;
    for (uint32_t r = 0; r < rows; ++r) {
      double total = 0;
      for (uint32_t i = 0; i < k; ++i) total += std::exp(g[r * count + choice[r * k + i]]);
      for (uint32_t i = 0; i < k; ++i) {
        const uint32_t e = static_cast<uint32_t>(choice[r * k + i]);
        if (!is_here(choice[r * k + i])) continue;
        const double weight = std::exp(g[r * count + e]) / total;
        const std::vector<double> gv = product(*gate, e, &bg[size_t(e) * inner], &x[size_t(r) * hidden], 1);
        const std::vector<double> uv = product(*up, e, &bu[size_t(e) * inner], &x[size_t(r) * hidden], 1);
        Floats act(inner);
        for (uint32_t n = 0; n < inner; ++n) {
          acts.push_back(oracle_activation(Activation::swiglu_oai, double(1.702f), 7.0, gv[n], uv[n]));
          act[n] = static_cast<float>(acts.back());
        }
        const std::vector<double> y = product(*down, e, &bd[size_t(e) * hidden], act.data(), 1);
        for (uint32_t n = 0; n < hidden; ++n) want[size_t(r) * hidden + n] += weight * y[n];
      }
    }
    const std::string what = "experts " + type_name(type) + ", rows " + std::to_string(rows) + ", here " + std::to_string(here.size());
    Floats of_those_here;
    const Floats all = rig.read(inside, rows, inner * k);
    for (size_t slot = 0; slot < choice.size(); ++slot) {
      const auto begin = all.begin() + std::ptrdiff_t(slot * inner), end = begin + inner;
      if (is_here(choice[slot])) of_those_here.insert(of_those_here.end(), begin, end);
      else EXPECT_TRUE(std::all_of(begin, end, [](float v) { return v == 1e30f; })) << what << ", slot " << slot;
    }
    expect(of_those_here, acts, is_block_type(type), what + " (inside)");
    expect(rig.read(residual, rows, hidden), want, is_block_type(type), what);
    std::vector<int32_t> got(choice.size());
    Floats weights(choice.size());
    rig.backend->read_routes(routes, rows, got.data(), weights.data());
    EXPECT_EQ(got, choice) << what;
  }

  /// QKV with biases and rope, then attention over everything stored so far, against an oracle in double. The sequence of
  /// `length` tokens is run in chunks; blocks lie scattered.
  struct AttentionShape {
    uint32_t heads = 4, kv_heads = 2, head_dim = 16, block_size = 16, window = 0, length = 40, chunk = 40;
    bool sinks = true;
    RopeLayout layout = RopeLayout::half_split;
    bool norms = false;      // of each head of q and k, before rope
    uint32_t rope_dims = 0;  // 0: all of a head
  };
  void attention(const AttentionShape& a) const {
    Random random(a.length * 3 + a.window);
    const uint32_t hidden = 32, qs = a.heads * a.head_dim, ks = a.kv_heads * a.head_dim;
    const Floats x = random_floats(random, size_t(a.length) * hidden, 0.3f);  // scores of a few units, as models have them
    auto wq = make_matrix(random, DType::f32, qs, hidden), wk = make_matrix(random, DType::f32, ks, hidden);
    auto wv = make_matrix(random, DType::f32, ks, hidden);
    const Floats bq = random_floats(random, qs), bk = random_floats(random, ks), bv = random_floats(random, ks), sinks = random_floats(random, a.heads, 2.0f);
    RopeSpec spec;
    spec.layout = a.layout, spec.dims = a.rope_dims ? a.rope_dims : a.head_dim, spec.theta = 150000, spec.yarn = true, spec.yarn_factor = 32, spec.yarn_original_context = 4096;
    const RopeTable rope = make_rope_table(spec);
    const Floats q_norm = random_floats(random, a.head_dim), k_norm = random_floats(random, a.head_dim);
    const float scale = 0.25f / std::sqrt(static_cast<float>(a.head_dim));

    Rig rig(make());
    Backend& b = *rig.backend;
    const Buffer in = rig.input("x", x, hidden, a.chunk), q = b.add_buffer("q", qs, a.chunk), out = b.add_buffer("out", qs, a.chunk);
    b.set_kv_shape({a.block_size, a.kv_heads, a.head_dim, {1, 2}});
    const uint32_t blocks = (a.length + a.block_size - 1) / a.block_size;
    b.resize_kv(2 * blocks + 1);
    rig.ops.push_back(QkvRopeStore{in, b.add_weight(wq->view), b.add_weight(wk->view), b.add_weight(wv->view), b.add_vector(bq), b.add_vector(bk),
                                   b.add_vector(bv), b.add_rope(rope), 1, 1, a.heads, a.kv_heads, a.head_dim, q,
                                   a.norms ? b.add_vector(q_norm) : VectorRef{}, a.norms ? b.add_vector(k_norm) : VectorRef{}, 1e-3f});
    rig.ops.push_back(Attention{q, a.sinks ? b.add_vector(sinks) : VectorRef{}, 1, 1, a.heads, a.kv_heads, a.head_dim, a.window, scale, out});
    Floats got;
    for (uint32_t first = 0; first < a.length; first += a.chunk) {
      const uint32_t n = std::min(a.chunk, a.length - first);
      rig.in.groups = 2;
      rig.rows(n, first);
      rig.in.table_begin = {0, 0};
      rig.in.blocks.resize(blocks);
      for (uint32_t i = 0; i < blocks; ++i) rig.in.blocks[i] = 2 * (blocks - i);
      // Blocks that no window reaches any more are given up, as the engine does it.
      for (uint32_t i = 0; a.window && (i + 1) * a.block_size + a.window <= first; ++i) rig.in.blocks[i] = null_block;
      rig.run();
      const Floats part = rig.read(out, n, qs);
      got.insert(got.end(), part.begin(), part.end());
    }

    auto rotated = [&](std::vector<double> y, uint32_t heads, const Floats& norm) {
      for (uint32_t r = 0; r < a.length; ++r) {
        for (uint32_t h = 0; h < heads; ++h) {
          if (a.norms) normed(&y[(size_t(r) * heads + h) * a.head_dim], norm, double(1e-3f));
          for (uint32_t i = 0; i < spec.dims / 2; ++i) {
            const double angle = static_cast<float>(r) * rope.inverse_frequency[i], c = std::cos(angle) * rope.concentration, s = std::sin(angle) * rope.concentration;
            const bool half = a.layout == RopeLayout::half_split;
            double& p = y[(size_t(r) * heads + h) * a.head_dim + (half ? i : 2 * i)];
            double& o = y[(size_t(r) * heads + h) * a.head_dim + (half ? i + spec.dims / 2 : 2 * i + 1)];
            const double p0 = p, o0 = o;
            p = p0 * c - o0 * s, o = o0 * c + p0 * s;
          }
        }
      }
      return y;
    };
    const std::vector<double> qv = rotated(product(*wq, 0, bq.data(), x.data(), a.length), a.heads, q_norm);
    const std::vector<double> kv = rotated(product(*wk, 0, bk.data(), x.data(), a.length), a.kv_heads, k_norm);
    const std::vector<double> vv = product(*wv, 0, bv.data(), x.data(), a.length);
    std::vector<double> want(size_t(a.length) * qs, 0.0);
    for (uint32_t r = 0; r < a.length; ++r) {
      for (uint32_t h = 0; h < a.heads; ++h) {
        const uint32_t from = a.window && r >= a.window ? r - a.window + 1 : 0, kh = h / (a.heads / a.kv_heads);
        std::vector<double> s;
        for (uint32_t j = from; j <= r; ++j) {
          double dot = 0;
          for (uint32_t d = 0; d < a.head_dim; ++d) dot += qv[(size_t(r) * a.heads + h) * a.head_dim + d] * kv[(size_t(j) * a.kv_heads + kh) * a.head_dim + d];
          s.push_back(dot * scale);
        }
        const double top = std::max(*std::max_element(s.begin(), s.end()), a.sinks ? double(sinks[h]) : -1e30);
        double total = a.sinks ? std::exp(sinks[h] - top) : 0;
        for (double v : s) total += std::exp(v - top);
        for (uint32_t j = from; j <= r; ++j) {
          for (uint32_t d = 0; d < a.head_dim; ++d) {
            want[(size_t(r) * a.heads + h) * a.head_dim + d] += std::exp(s[j - from] - top) / total * vv[(size_t(j) * a.kv_heads + kh) * a.head_dim + d];
          }
        }
      }
    }
    const std::string what = "attention, length " + std::to_string(a.length) + ", window " + std::to_string(a.window) + ", chunk " +
                             std::to_string(a.chunk) + ", head_dim " + std::to_string(a.head_dim) + ", block " + std::to_string(a.block_size);
    if (kv_type == KvType::f32) EXPECT_LE(worst(got, want), tolerance) << what;
    else EXPECT_LE(nmse(got, want), kv_type == KvType::f16 ? 1e-6 : 1e-4) << what;
  }

  /// Equal scores and values of one: the answer must be n / (n + e^S) (a sink that is left out gives 1). The last `tail`
  /// rows are a step of their own.
  void sink_share(uint32_t length, uint32_t window, uint32_t tail) const {
    Rig rig(make());
    Backend& b = *rig.backend;
    const Buffer in = rig.input("x", Floats(length, 1.0f), 1, length), q = b.add_buffer("q", 64, length), out = b.add_buffer("out", 64, length);
    b.set_kv_shape({16, 1, 64, {1}});
    b.resize_kv((length + 15) / 16);
    rig.owned.push_back(f32_matrix(Floats(64, 0.0f), 64, 1));
    const WeightRef zero = b.add_weight(rig.owned.back()->view);
    rig.owned.push_back(f32_matrix(Floats(64, 1.0f), 64, 1));
    const WeightRef one = b.add_weight(rig.owned.back()->view);
    rig.ops.push_back(QkvRopeStore{in, zero, zero, one, {}, {}, {}, {}, 0, 0, 1, 1, 64, q});
    rig.ops.push_back(Attention{q, b.add_vector({1.5f}), 0, 0, 1, 1, 64, window, 0.125f, out});
    rig.in.groups = 1;
    rig.in.table_begin = {0};
    rig.in.blocks.resize((length + 15) / 16);
    std::iota(rig.in.blocks.begin(), rig.in.blocks.end(), 0u);
    for (auto [first, rows] : {std::pair{0u, length - tail}, std::pair{length - tail, tail}}) {
      if (rows == 0) continue;
      rig.rows(rows, first);
      rig.run();
      const Floats got = rig.read(out, rows, 64);
      for (uint32_t r = first; r < first + rows; ++r) {
        const double n = window ? std::min(r + 1, window) : r + 1;
        EXPECT_NEAR(got[size_t(r - first) * 64 + 5], n / (n + std::exp(1.5)), 1e-5) << "row " << r << ", window " << window;
      }
    }
  }
};

}  // namespace hearth::testing
