// How long a step will take: counts of work times rates that are fitted to the steps that were measured.
// It predicts and learns; what follows from a prediction is the scheduler's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth {

/// What there is to read and to compute in a model, in counts that do not depend on the machine.
struct ModelCost {
  double dense_bytes = 0, expert_bytes = 0, output_bytes = 0;  // of weights: read by every step, by chosen experts, by logits
  uint32_t experts = 0, experts_used = 0;
  double row_operations = 0, output_operations = 0;            // of one row: through the layers, through the vocabulary
  double position_operations = 0;                              // of one row and one position that it attends to, in one layer
  uint32_t full_layers = 0, window_layers = 0, window = 0;

  /// Bytes of weights that `rows` rows read, were every row to choose its experts by chance.
  double weight_bytes(uint32_t rows) const;
  /// Positions that rows [first, first + rows) of a sequence attend to, over all layers.
  double attended(uint32_t first, uint32_t rows) const;
};

/// What a step computes.
struct StepWork {
  uint32_t rows = 0, outputs = 0;
  double attended = 0;
};

/// Seconds = rates . (1, bytes, operations, attention), the rates fitted to the latest steps by least squares of the
/// relative error. Steps of few rows, which wait for memory, and of many, which compute, have rates of their own.
class CostModel {
 public:
  CostModel() = default;
  explicit CostModel(const ModelCost& model);

  double predict(const StepWork& work) const;
  /// What a step like this stays below, but for one in fifty: for promises, where `predict` is for comparisons.
  double bound(const StepWork& work) const;
  void observe(const StepWork& work, double seconds);
  /// Steps like this have been measured; before that, a prediction is a guess on the slow side.
  bool knows(const StepWork& work) const { return fits_[regime(work)].observed > 0; }
  const ModelCost& model() const { return model_; }

 private:
  static constexpr size_t terms = 4;
  static constexpr double first_margin = 0.15;
  using Terms = std::array<double, terms>;
  struct Fit {
    std::array<Terms, terms> gram{};
    Terms right{}, scale{};  // rates as multiples of the guesses
    double margin = first_margin;  // logarithm of how far beyond its prediction a step may well go
    uint64_t observed = 0;
  };

  static size_t regime(const StepWork& work) { return work.rows > 16 ? 1 : 0; }
  Terms guesses(const StepWork& work) const;
  static void solve(Fit& fit);
  static void learn_margin(Fit& fit, double predicted, double seconds);

  ModelCost model_;
  std::array<Fit, 2> fits_;
};

}  // namespace hearth
