#version 450
// x = the sum of all ranks' parts in rank order, to the bytes of SumSlots::add_up. Its own part is x itself; the others' lie in the host's
// memory, `stride` values apart from `at` on. Grid: x columns / 64; y rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Slots { uint slots[]; };
layout(push_constant) uniform Push { uint cols, at, stride, ranks, own; } p;

// A normal number, or 0; by bits, since what flushes would hide what it flushes.
uint normal(uint bits) { return (bits & 0x7f800000u) == 0u ? 0u : bits; }

void main() {
  uint c = gl_GlobalInvocationID.x, i = gl_WorkGroupID.y * p.cols + c;
  if (c >= p.cols) return;
  uint sum = 0u;
  for (uint rank = 0u; rank < p.ranks; ++rank) {
    uint part = normal(rank == p.own ? x[i] : slots[p.at + rank * p.stride + i]);
    precise float both = uintBitsToFloat(sum) + uintBitsToFloat(part);
    sum = rank == 0u ? part : normal(floatBitsToUint(both));
  }
  x[i] = sum;
}
