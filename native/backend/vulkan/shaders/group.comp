#version 450
// The slots of each expert, for kernels that read an expert's weights once for all its rows. Grid: x experts.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Routes { uint routes[]; };
layout(set = 0, binding = 1) writeonly buffer Lists { uint lists[]; };  // counts [experts], then slots [experts][capacity]
layout(push_constant) uniform Push { uint slots, experts, capacity; } p;

shared uint count;

void main() {
  uint thread = gl_LocalInvocationID.x, expert = gl_WorkGroupID.x;
  if (thread == 0u) count = 0u;
  barrier();
  for (uint slot = thread; slot < p.slots; slot += 64u) {
    // In any order: what a slot's row becomes does not depend on its neighbours.
    if (routes[slot] == expert) lists[p.experts + expert * p.capacity + atomicAdd(count, 1u)] = slot;
  }
  barrier();
  if (thread == 0u) lists[expert] = count;
}
