#version 450
// out[r] = x[output_rows[r]]. Grid: x columns / 64; y rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 2) writeonly buffer Out { uint y[]; };
layout(push_constant) uniform Push { uint cols, rows_at; } p;

void main() {
  uint c = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
  if (c < p.cols) y[row * p.cols + c] = x[inputs[p.rows_at + row] * p.cols + c];
}
