#version 450
// Heads of q, k and v after their products: norm of a head, rope; q stays where it is, k and v go to the paged KV.
// Grid: x heads of q, then of k, then of v; y rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint KV = 0;
layout(constant_id = 1) const uint HEAD_DIM = 64;
#include "kv.glsl"

layout(set = 0, binding = 0) buffer Q { float q[]; };
layout(set = 0, binding = 1) readonly buffer K { float k[]; };
layout(set = 0, binding = 2) readonly buffer V { float v[]; };
layout(set = 0, binding = 3) writeonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 4) writeonly buffer Values { uint values[]; };
layout(set = 0, binding = 5) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 6) readonly buffer QNorm { float q_norm[]; };
layout(set = 0, binding = 7) readonly buffer KNorm { float k_norm[]; };
layout(push_constant) uniform Push {
  uint heads, kv_heads, group, groups;
  uint block_size, positions, sequence, table_begin;
  uint blocks, angles, pairs, interleaved;  // angles: [rows][pairs] cosine and sine; pairs 0: no rope
  uint norms;                               // 1: q, 2: k
  float eps;
} p;

shared float head[HEAD_DIM];
shared float part[64];

void norm_head(uint thread, bool of_q) {
  precise float sum = 0.0;
  for (uint d = thread; d < HEAD_DIM; d += 64u) sum = fma(head[d], head[d], sum);
  part[thread] = sum;
  for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
    barrier();
    if (thread < half_of) part[thread] += part[thread + half_of];
  }
  barrier();
  float factor = 1.0 / sqrt(part[0] / float(HEAD_DIM) + p.eps);
  for (uint d = thread; d < HEAD_DIM; d += 64u) head[d] *= factor * (of_q ? q_norm[d] : k_norm[d]);
  barrier();
}

void rotate(uint thread, uint row) {
  for (uint i = thread; i < p.pairs; i += 64u) {
    uint a = p.interleaved != 0u ? 2u * i : i, b = p.interleaved != 0u ? 2u * i + 1u : i + p.pairs;
    uint angle = p.angles + 2u * (row * p.pairs + i);
    float c = uintBitsToFloat(inputs[angle]), s = uintBitsToFloat(inputs[angle + 1u]), x = head[a], y = head[b];
    head[a] = x * c - y * s, head[b] = y * c + x * s;
  }
  barrier();
}

// One word of codes, or for q8 one group of 32 values with its scale.
uint pack(uint d) {
  if (KV == KV_F32) return floatBitsToUint(head[d]);
  return half_bits(head[d]) | (d + 1u < HEAD_DIM ? half_bits(head[d + 1u]) << 16 : 0u);
}

void put(bool is_key, uint at, uint word) {
  if (is_key) keys[at] = word;
  else values[at] = word;
}

void store_q8(uint thread, bool is_key, uint at) {
  for (uint g = thread; g < (HEAD_DIM + 31u) / 32u; g += 64u) {
    uint last = min(32u * g + 32u, HEAD_DIM);
    float highest = 0.0;
    for (uint d = 32u * g; d < last; ++d) {
      float a = abs(head[d]);
      if (!(a <= highest) && finite(highest)) highest = a;  // the first that is not finite stays
    }
    bool usable = finite(highest) && highest > 0.0;
    put(is_key, at + CODES + g, floatBitsToUint(highest / 127.0));
    for (uint w = 8u * g; w < (last + 3u) / 4u; ++w) {
      uint word = 0u;
      for (uint i = 0u; i < 4u && 4u * w + i < HEAD_DIM; ++i) {
        int code = usable ? int(roundEven(head[4u * w + i] * (127.0 / highest))) : 0;
        word |= (uint(code) & 255u) << (8u * i);
      }
      put(is_key, at + w, word);
    }
  }
}

void main() {
  uint thread = gl_LocalInvocationID.x, row = gl_WorkGroupID.y, index = gl_WorkGroupID.x;
  bool is_q = index < p.heads, is_key = index < p.heads + p.kv_heads;
  uint h = is_q ? index : is_key ? index - p.heads : index - p.heads - p.kv_heads;
  uint from = (row * (is_q ? p.heads : p.kv_heads) + h) * HEAD_DIM;
  for (uint d = thread; d < HEAD_DIM; d += 64u) {
    if (is_q) head[d] = q[from + d];
    else if (is_key) head[d] = k[from + d];
    else head[d] = v[from + d];
  }
  barrier();
  if (is_key) {  // q and k
    if ((p.norms & (is_q ? 1u : 2u)) != 0u) norm_head(thread, is_q);
    rotate(thread, row);
  }
  if (is_q) {
    for (uint d = thread; d < HEAD_DIM; d += 64u) q[from + d] = head[d];
    return;
  }
  uint position = inputs[p.positions + row], table = inputs[p.table_begin + inputs[p.sequence + row] * p.groups + p.group];
  uint block = inputs[p.blocks + table + position / p.block_size];
  uint at = position_at(block, position % p.block_size, h, p.kv_heads, p.block_size);
  if (KV == KV_Q8) {
    store_q8(thread, is_key, at);
  } else {
    for (uint w = thread; w < CODES; w += 64u) put(is_key, at + w, pack(KV == KV_F32 ? w : 2u * w));
  }
}
