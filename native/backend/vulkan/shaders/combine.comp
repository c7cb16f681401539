#version 450
// residual[r] += the sum of the weighed results of its k experts, in the order of the routes; of those that are elsewhere there is none.
// Grid: x columns / 64; y rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Parts { float parts[]; };
layout(set = 0, binding = 1) buffer Residual { float residual[]; };
layout(set = 0, binding = 2) readonly buffer Routes { uint routes[]; };
layout(push_constant) uniform Push { uint cols, k; } p;

void main() {
  uint c = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
  if (c >= p.cols) return;
  precise float sum = 0.0;
  for (uint slot = row * p.k; slot < (row + 1u) * p.k; ++slot) {
    if (routes[slot] != ~0u) sum += parts[slot * p.cols + c];
  }
  residual[row * p.cols + c] += sum;
}
