// The reference's arithmetic: plain loops over float32 with sums in double. Written to be read and believed.
// Each function is one op of ops.h on checked inputs; nothing here is fast, and nothing may be made so.
#pragma once

#include "backend/kv_pool.h"
#include "backend/resources.h"

namespace hearth::reference {

/// What an op sees of the step.
struct Context {
  Resources& resources;
  KvPool& kv;
  const StepInputs& inputs;
  OpRows rows;
};

void run(Context& c, const Embed& op);
void run(Context& c, const Norm& op);
void run(Context& c, const QkvRopeStore& op);
void run(Context& c, const Attention& op);
void run(Context& c, const LinearResidual& op);
void run(Context& c, const Router& op);
void run(Context& c, const GateUp& op);
void run(Context& c, const ExpertsGateUp& op);
void run(Context& c, const ExpertsDown& op);
void run(Context& c, const SelectRows& op);
/// Throws Error{numeric_error} when a logit is NaN or infinite.
void run(Context& c, const Logits& op);
void run(Context& c, const TopLogits& op);

/// out[r][n] = sum_c W[expert][n][c] * x[r][c] + bias[n], for all rows r; each weight row is decoded once.
void matmul(const Matrix& w, uint32_t expert, const float* bias, const float* x, uint64_t x_stride, uint32_t rows,
            float* out, uint64_t out_stride);

/// out = x * rsqrt(mean(x^2) + eps) * weight; `out` may be `x`.
void norm(const float* x, const float* weight, float eps, uint32_t cols, float* out);

/// act(gate, up) as ops.h defines it.
float activate(Activation kind, float alpha, float limit, float gate, float up);

}  // namespace hearth::reference
