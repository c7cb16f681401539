#version 450
// Causal paged attention of one row and up to HEADS query heads that share a KV head.
// Grid: x splits of positions (SPLITS_APART) or 1; y KV heads times parts of their query heads; z rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint KV = 0;
layout(constant_id = 1) const uint HEAD_DIM = 64;
layout(constant_id = 2) const uint HEADS = 8;
layout(constant_id = 3) const uint SPLITS_APART = 0;  // 1: states go to `out`, join.comp folds them
#include "kv.glsl"
#include "attend.glsl"

layout(set = 0, binding = 0) readonly buffer Q { float q[]; };
layout(set = 0, binding = 1) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 2) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 3) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 4) readonly buffer Sinks { float sinks[]; };
layout(set = 0, binding = 5) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push {
  uint heads, kv_heads, group, groups;
  uint block_size, positions, sequence, table_begin;
  uint blocks, window, has_sinks, splits;  // splits: states of a head in `out`
  float scale;
} p;

const uint ITEMS = (HEADS * HEAD_DIM + 63u) / 64u;
shared float query[HEADS * HEAD_DIM];
shared float score[HEADS * SPLIT];
shared float part[HEADS * CHUNKS];
shared float highest[HEADS], total[HEADS], split_highest[HEADS], split_total[HEADS], old_part[HEADS], new_part[HEADS];

uint place(uint table, uint position, uint head) {
  uint block = inputs[p.blocks + table + position / p.block_size];
  return position_at(block, position % p.block_size, head, p.kv_heads, p.block_size);
}

void scores(uint thread, uint table, uint kv_head, uint split, uint from, uint to) {
  for (uint j = from + thread; j <= to; j += 64u) {
    uint at = place(table, j, kv_head);
    precise float dots[HEADS];
    for (uint h = 0u; h < HEADS; ++h) dots[h] = 0.0;
    for (uint d = 0u; d < HEAD_DIM; ++d) {
      float key = kv_value(keys[code_at(at, d)], keys[scale_at(at, d)], d);
      for (uint h = 0u; h < HEADS; ++h) dots[h] = fma(query[h * HEAD_DIM + d], key, dots[h]);
    }
    for (uint h = 0u; h < HEADS; ++h) score[h * SPLIT + j - split * SPLIT] = dots[h] * p.scale;
  }
  barrier();
}

// Scores become weights; their maximum and sum go to split_highest and split_total. Chunks lie at absolute positions.
void weigh(uint thread, uint split, uint from, uint to) {
  for (uint i = thread; i < HEADS * CHUNKS; i += 64u) {
    uint begin = split * SPLIT + i % CHUNKS * CHUNK, base = i / CHUNKS * SPLIT - split * SPLIT;
    float most = NOTHING;
    for (uint j = max(begin, from); j <= to && j < begin + CHUNK; ++j) {
      if (score[base + j] > most) most = score[base + j];
    }
    part[i] = most;
  }
  barrier();
  for (uint h = thread; h < HEADS; h += 64u) {
    float most = NOTHING;
    for (uint c = 0u; c < CHUNKS; ++c) {
      if (part[h * CHUNKS + c] > most) most = part[h * CHUNKS + c];
    }
    split_highest[h] = most;
  }
  barrier();
  for (uint i = thread; i < HEADS * CHUNKS; i += 64u) {
    uint begin = split * SPLIT + i % CHUNKS * CHUNK, base = i / CHUNKS * SPLIT - split * SPLIT;
    precise float sum = 0.0;
    for (uint j = max(begin, from); j <= to && j < begin + CHUNK; ++j) {
      float weight = exp_of(score[base + j] - split_highest[i / CHUNKS]);
      score[base + j] = weight;
      sum += weight;
    }
    part[i] = sum;
  }
  barrier();
  for (uint h = thread; h < HEADS; h += 64u) {
    precise float sum = 0.0;
    for (uint c = 0u; c < CHUNKS; ++c) sum += part[h * CHUNKS + c];
    split_total[h] = sum;
  }
  barrier();
}

float weighted(uint table, uint kv_head, uint split, uint from, uint to, uint item) {
  uint h = item / HEAD_DIM, d = item % HEAD_DIM;
  precise float sum = 0.0;
  for (uint j = from; j <= to; ++j) {
    uint at = place(table, j, kv_head);
    sum = fma(score[h * SPLIT + j - split * SPLIT], kv_value(values[code_at(at, d)], values[scale_at(at, d)], d), sum);
  }
  return sum;
}

void main() {
  uint thread = gl_LocalInvocationID.x, row = gl_WorkGroupID.z, per_kv = p.heads / p.kv_heads, parts = (per_kv + HEADS - 1u) / HEADS;
  uint kv_head = gl_WorkGroupID.y / parts, begin = gl_WorkGroupID.y % parts * HEADS, first_head = kv_head * per_kv + begin;
  uint count = min(HEADS, per_kv - begin) * HEAD_DIM;  // of the last part some heads are nobody's
  uint position = inputs[p.positions + row], table = inputs[p.table_begin + inputs[p.sequence + row] * p.groups + p.group];
  uint first = p.window == 0u || position < p.window ? 0u : position - p.window + 1u;
  uint begin_split = first / SPLIT, end_split = position / SPLIT + 1u;
  if (SPLITS_APART != 0u) {
    begin_split += gl_WorkGroupID.x;
    if (begin_split >= end_split) return;
    end_split = begin_split + 1u;
  }
  for (uint i = thread; i < HEADS * HEAD_DIM; i += 64u) query[i] = i < count ? q[(row * p.heads + first_head) * HEAD_DIM + i] : 0.0;
  for (uint h = thread; h < HEADS; h += 64u) highest[h] = NOTHING, total[h] = 0.0;
  barrier();

  precise float sums[ITEMS];
  for (uint i = 0u; i < ITEMS; ++i) sums[i] = 0.0;
  for (uint split = begin_split; split < end_split; ++split) {
    uint from = max(first, split * SPLIT), to = min(position, split * SPLIT + SPLIT - 1u);
    scores(thread, table, kv_head, split, from, to);
    weigh(thread, split, from, to);
    if (SPLITS_APART != 0u) {
      uint state = HEAD_DIM + 2u, at = split - first / SPLIT;
      for (uint i = thread; i < count; i += 64u) {
        uint to_state = ((row * p.heads + first_head + i / HEAD_DIM) * p.splits + at) * state;
        y[to_state + 2u + i % HEAD_DIM] = weighted(table, kv_head, split, from, to, i);
        if (i % HEAD_DIM == 0u) y[to_state] = split_highest[i / HEAD_DIM], y[to_state + 1u] = split_total[i / HEAD_DIM];
      }
      return;
    }
    for (uint h = thread; h < HEADS; h += 64u) {
      float m = highest[h], l = total[h], old, new;
      fold(m, l, split_highest[h], split_total[h], old, new);
      highest[h] = m, total[h] = l, old_part[h] = old, new_part[h] = new;
    }
    barrier();
    for (uint i = 0u; i < ITEMS; ++i) {
      uint item = i * 64u + thread, h = item / HEAD_DIM;
      if (item < count) sums[i] = sums[i] * old_part[h] + weighted(table, kv_head, split, from, to, item) * new_part[h];
    }
    barrier();
  }
  for (uint i = 0u; i < ITEMS; ++i) {
    uint item = i * 64u + thread, h = item / HEAD_DIM;
    if (item >= count) continue;
    float sink = p.has_sinks != 0u ? sinks[first_head + h] : 0.0;
    y[(row * p.heads + first_head) * HEAD_DIM + item] = sums[i] * finish_factor(highest[h], total[h], p.has_sinks != 0u, sink);
  }
}
