// Implements the cost model: a small non-negative least-squares fit with a memory of some tens of steps.
#include "engine/cost_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth {
namespace {

// Guesses of a slow machine, until steps have been measured: seconds per step, byte, operation, operation of attention.
constexpr double guess_step = 200e-6, guess_byte = 1 / 10e9, guess_operation = 1 / 60e9, guess_attention = 1 / 10e9;
constexpr double memory = 0.97;       // what remains of a step's weight with every newer one
constexpr double doubt = 0.002;       // how much the guesses weigh against one measured step
constexpr double outlier = 5.0;       // a step this many times slower than predicted says something about the machine

// The margin is a quantile that is tracked: up where a step went beyond it, down by a fiftieth of that otherwise.
constexpr double margin_step = 0.08, margin_share = 0.98, least_margin = 0.02, most_margin = 0.5;

/// 1 + 2 + ... + n
double triangle(double n) { return n * (n + 1) / 2; }

}  // namespace

double ModelCost::weight_bytes(uint32_t rows) const {
  if (experts == 0 || rows == 0) return dense_bytes;
  return dense_bytes + expert_bytes * (1.0 - std::pow(1.0 - double(experts_used) / experts, rows));
}

double ModelCost::attended(uint32_t first, uint32_t rows) const {
  const double end = double(first) + rows;
  const double all = triangle(end) - triangle(first);
  const double inside_first = std::min<double>(first, window), inside_end = std::min<double>(end, window);
  const double within = triangle(inside_end) - triangle(inside_first) + (end - inside_end - (first - inside_first)) * window;
  return full_layers * all + window_layers * within;
}

CostModel::CostModel(const ModelCost& model) : model_(model) {
  for (Fit& fit : fits_) {
    for (size_t i = 0; i < terms; ++i) fit.gram[i][i] = fit.right[i] = doubt;
    fit.scale.fill(1.0);
  }
}

CostModel::Terms CostModel::guesses(const StepWork& work) const {
  const double bytes = model_.weight_bytes(work.rows) + (work.outputs > 0 ? model_.output_bytes : 0.0);
  const double operations = model_.row_operations * work.rows + model_.output_operations * work.outputs;
  return {guess_step, bytes * guess_byte, operations * guess_operation,
          work.attended * model_.position_operations * guess_attention};
}

double CostModel::predict(const StepWork& work) const {
  const Terms x = guesses(work);
  const Terms& scale = fits_[regime(work)].scale;
  double seconds = 0;
  for (size_t i = 0; i < terms; ++i) seconds += x[i] * scale[i];
  return seconds;
}

double CostModel::bound(const StepWork& work) const { return predict(work) * std::exp(fits_[regime(work)].margin); }

void CostModel::learn_margin(Fit& fit, double predicted, double seconds) {
  const bool beyond = seconds > predicted * std::exp(fit.margin);
  fit.margin = std::clamp(fit.margin + margin_step * (beyond ? margin_share : margin_share - 1.0), least_margin, most_margin);
}

void CostModel::observe(const StepWork& work, double seconds) {
  if (work.rows == 0 || !(seconds > 0.0)) return;
  Fit& fit = fits_[regime(work)];
  // The guesses of a machine that is not known yet say nothing of how well its steps are predicted.
  if (fit.observed > 1) learn_margin(fit, predict(work), seconds);
  // A step that was held up by something else (a page read from disk, another program) says little of the next one.
  if (fit.observed > 8) seconds = std::min(seconds, outlier * predict(work));
  const Terms x = guesses(work);
  for (size_t i = 0; i < terms; ++i) {
    for (size_t j = 0; j < terms; ++j) {
      const double prior = i == j ? doubt : 0.0;
      fit.gram[i][j] = (fit.gram[i][j] - prior) * memory + x[i] * x[j] / (seconds * seconds) + prior;
    }
    fit.right[i] = (fit.right[i] - doubt) * memory + x[i] / seconds + doubt;
  }
  ++fit.observed;
  solve(fit);
}

/// Gaussian elimination with the terms that came out negative left out, until none is.
void CostModel::solve(Fit& fit) {
  std::array<bool, terms> used;
  used.fill(true);
  for (size_t round = 0; round < terms; ++round) {
    auto a = fit.gram;
    Terms b = fit.right;
    for (size_t i = 0; i < terms; ++i) {
      if (used[i]) continue;
      for (size_t j = 0; j < terms; ++j) a[i][j] = a[j][i] = 0.0;
      a[i][i] = 1.0, b[i] = 0.0;
    }
    for (size_t i = 0; i < terms; ++i) {  // the matrix is positive definite: no pivoting
      for (size_t row = i + 1; row < terms; ++row) {
        const double factor = a[row][i] / a[i][i];
        for (size_t j = i; j < terms; ++j) a[row][j] -= factor * a[i][j];
        b[row] -= factor * b[i];
      }
    }
    for (size_t i = terms; i-- > 0;) {
      for (size_t j = i + 1; j < terms; ++j) b[i] -= a[i][j] * b[j];
      b[i] /= a[i][i];
    }
    bool negative = false;
    for (size_t i = 0; i < terms; ++i) {
      if (b[i] >= 0.0) continue;
      used[i] = false;
      negative = true;
    }
    if (!negative) {
      fit.scale = b;
      return;
    }
  }
  fit.scale.fill(0.0);
}

}  // namespace hearth
