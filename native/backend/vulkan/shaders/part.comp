#version 450
// This rank's part of a sum into its slot: the host's memory, seen by the device. Grid: x columns / 64; y rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Slots { uint slots[]; };
layout(push_constant) uniform Push { uint cols, at; } p;

void main() {
  uint c = gl_GlobalInvocationID.x, i = gl_WorkGroupID.y * p.cols + c;
  if (c < p.cols) slots[p.at + i] = x[i];
}
