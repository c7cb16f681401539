#version 450
// Routes by the numbers that experts have in the weights that are here; ~0: its weights are elsewhere. Grid: x slots / 64.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Routes { uint routes[]; };  // experts [slots], then at weights_at their weights
layout(set = 0, binding = 1) readonly buffer Places { float places[]; };
layout(set = 0, binding = 2) writeonly buffer Out { uint y[]; };
layout(push_constant) uniform Push { uint slots, weights_at, weights_to; } p;

void main() {
  uint slot = gl_GlobalInvocationID.x;
  if (slot >= p.slots) return;
  float place = places[routes[slot]];
  y[slot] = place < 0.0 ? ~0u : uint(place);
  y[p.weights_to + slot] = routes[p.weights_at + slot];
}
