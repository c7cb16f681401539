#version 450
// y = 0. Grid: x columns / 64; y rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer Out { uint y[]; };
layout(push_constant) uniform Push { uint cols; } p;

void main() {
  uint c = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
  if (c < p.cols) y[row * p.cols + c] = 0u;
}
