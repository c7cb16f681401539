// The kernels of the CPU backend as a table of functions, one table per instruction set, all with the same arithmetic:
// an output element is the same sequence of operations whatever the number of tokens, the tile or the thread.
// Kernels know no ops, no threads and no memory but what they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cpu/attention.h"
#include "backend/ops.h"
#include "backend/weights.h"

namespace hearth::cpu {

inline constexpr uint32_t strip_rows = 16;   // weight rows of one unit of work, few tokens
inline constexpr uint32_t panel_rows = 32;   // the same, many tokens

/// Up to strip_rows (or panel_rows) rows of one weight matrix, as they lie in the file.
struct Strip {
  DType type;
  const std::byte* data;
  uint64_t row_stride;
  const std::byte* scales;  // mxfp4_planes only
  uint64_t scale_row_stride;
  uint32_t rows, cols;
};

/// Quantised activation rows side by side: of token t and block b of 32 columns, q[(b * tokens + t) * 32 ...] and
/// scale, correction (-128 * sum of q), half (the same of its first 16), sum (scale * sum of q), and words (16-bit sums of q
/// at columns 0 and 1 of every four, in the high half 2 and 3) and half_words (of the first 16) at [b * tokens + t].
/// Results: out[t * strip_rows + row].
struct QuantTile {
  const int8_t* q;
  const float* scale;
  const int32_t* correction;
  const int32_t* half;
  const float* sum;
  const int32_t *words, *half_words;  // only where Kernels::with_words
  uint32_t tokens;
  float* out;
};

/// Where one quantised row goes: the members of a QuantTile of one token.
struct QuantRow {
  int8_t* q;
  float* scale;
  int32_t* correction;
  int32_t* half;
  float* sum;
  int32_t *words, *half_words;
};

/// Memory that the thread will read next: a kernel may ask for it early.
struct Ahead {
  const std::byte* data = nullptr;
  size_t bytes = 0;
};

struct Kernels {
  const char* isa;
  /// out[t * strip_rows + r] = W[r] . x[t], float32 in 16 lanes. `scratch`: strip_scratch_bytes(cols).
  void (*strip_f32)(const Strip& w, const float* const* x, uint32_t tokens, float* out, std::byte* scratch);
  /// The same with int8 activations, for block-quantised types. Per block of 32 columns, in order:
  /// out = fma(float(integer dot), weight scale * activation scale, out), then fma(minimum, sum, out) where the type has one.
  void (*strip_q8)(const Strip& w, const QuantTile* tiles, uint32_t count, std::byte* scratch);
  /// One row to int8 per 32 columns, scale = max/127. A block with NaN or infinity gets a scale that is not finite.
  void (*quantise)(const float* x, uint32_t cols, const QuantRow& to);
  void (*norm)(const float* x, const float* weight, float eps, uint32_t cols, float* out);
  void (*activate)(Activation kind, float alpha, float limit, const float* gate, const float* up, uint32_t n, float* out);
  AttentionKernels attention;
  uint32_t tile_tokens = 12;  // most rows of a QuantTile
  /// strip_q8 for strip_rows < w.rows <= panel_rows and any number of tokens: out[i * panel_rows + r] for the i-th token of
  /// all tiles. nullptr: strip by strip is as good.
  void (*panel_q8)(const Strip& w, const QuantTile* tiles, uint32_t count, float* out, std::byte* scratch, const Ahead& ahead) = nullptr;
  bool with_words = false;  // strip_q8 wants words and half_words of its tiles
};

/// Scratch that a strip kernel may use, 64-byte aligned.
constexpr size_t strip_scratch_bytes(uint32_t cols) { return size_t(cols + 64) * 64 + 32768; }

const Kernels* scalar_kernels();
const Kernels* avx2_kernels();    // nullptr where not compiled in
const Kernels* avxvnni_kernels();
const Kernels* avx512_kernels();
const Kernels* neon_kernels();
const Kernels* neondot_kernels();

/// The named table, or the best that this processor runs ("": HEARTH_ISA, else the best).
/// Throws Error{invalid_request} for one that it cannot run.
const Kernels& choose_kernels(const std::string& isa);
/// Instruction sets whose kernels run here, worst first.
std::vector<std::string> usable_isas();

}  // namespace hearth::cpu
