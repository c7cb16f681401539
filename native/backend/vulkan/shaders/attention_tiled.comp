#version 450
// Causal paged attention to the bytes of attention.comp, for ROWS rows and HEADS query heads of a KV head at once: a key or value is
// unpacked once for all these queries, whose numbers lie side by side in vectors (query = row * HEADS + head).
// Grid: x splits of positions (SPLITS_APART, with ROWS 1) or 1; y KV heads times parts of their query heads; z rows / ROWS.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "numbers.glsl"

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint KV = 0;
layout(constant_id = 1) const uint HEAD_DIM = 64;
layout(constant_id = 2) const uint HEADS = 8;
layout(constant_id = 3) const uint SPLITS_APART = 0;  // 1: states go to `out`, join.comp folds them
layout(constant_id = 4) const uint ROWS = 2;
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
  uint rows;
} p;

const uint THREADS = 128u, QUERIES = ROWS * HEADS, QUADS = (QUERIES + 3u) / 4u, PLACES = QUADS * 4u;
const uint PER_WORD = KV == KV_F32 ? 1u : KV == KV_F16 ? 2u : 4u, ITEMS = (CODES * QUADS + THREADS - 1u) / THREADS;
shared vec4 query[HEAD_DIM * QUADS];  // [dimension][quad]
shared vec4 score[SPLIT * QUADS];     // [position][quad]
shared float part[PLACES * CHUNKS];
shared float highest[PLACES], total[PLACES], split_highest[PLACES], split_total[PLACES], old_part[PLACES], new_part[PLACES];
shared uint seen_from[PLACES], seen_to[PLACES];  // what a query sees of the split; nothing: from > to

struct Tile {
  uint row, begin, end;     // rows row + begin .. row + end - 1 of one sequence, positions ascending
  uint kv_head, head, heads;  // query heads from `head` on
  uint table;
};

uint place(Tile t, uint position) {
  uint block = inputs[p.blocks + t.table + position / p.block_size];
  return position_at(block, position % p.block_size, t.kv_head, p.kv_heads, p.block_size);
}
uint position_of(uint row) { return inputs[p.positions + row]; }
uint first_of(uint row) { return p.window == 0u || position_of(row) < p.window ? 0u : position_of(row) - p.window + 1u; }
vec4 four(uint quad, bool of_new) {
  uint i = 4u * quad;
  if (of_new) return vec4(new_part[i], new_part[i + 1u], new_part[i + 2u], new_part[i + 3u]);
  return vec4(old_part[i], old_part[i + 1u], old_part[i + 2u], old_part[i + 3u]);
}

void load_queries(uint thread, Tile t) {
  for (uint i = thread; i < PLACES * HEAD_DIM; i += THREADS) {
    uint place = i / HEAD_DIM, d = i % HEAD_DIM, r = place / HEADS, h = place % HEADS;
    bool mine = r >= t.begin && r < t.end && h < t.heads;
    query[d * QUADS + place / 4u][place & 3u] = mine ? q[((t.row + r) * p.heads + t.head + h) * HEAD_DIM + d] : 0.0;
  }
  for (uint i = thread; i < PLACES; i += THREADS) highest[i] = NOTHING, total[i] = 0.0;
  barrier();
}

void scores(uint thread, Tile t, uint split, uint from, uint to) {
  for (uint i = thread; i < PLACES; i += THREADS) {
    uint r = i / HEADS;
    bool mine = r >= t.begin && r < t.end;
    seen_from[i] = mine ? max(first_of(t.row + r), split * SPLIT) : 1u;
    seen_to[i] = mine ? min(position_of(t.row + r), split * SPLIT + SPLIT - 1u) : 0u;
  }
  for (uint j = from + thread; j <= to; j += THREADS) {
    uint at = place(t, j);
    precise vec4 dots[QUADS];
    [[unroll]] for (uint i = 0u; i < QUADS; ++i) dots[i] = vec4(0.0);
    for (uint word = 0u; word < CODES; ++word) {
      uint code = keys[at + word], scale = keys[scale_at(at, PER_WORD * word)];
      for (uint d = PER_WORD * word; d < min(PER_WORD * word + PER_WORD, HEAD_DIM); ++d) {
        float key = kv_value(code, scale, d);
        [[unroll]] for (uint i = 0u; i < QUADS; ++i) dots[i] = fma(query[d * QUADS + i], vec4(key), dots[i]);
      }
    }
    [[unroll]] for (uint i = 0u; i < QUADS; ++i) score[(j - split * SPLIT) * QUADS + i] = dots[i] * p.scale;
  }
  barrier();
}

// As in attention.comp: scores become weights, their maximum and sum go to split_highest and split_total.
void weigh(uint thread, uint split) {
  for (uint i = thread; i < PLACES * CHUNKS; i += THREADS) {
    uint place = i / CHUNKS, begin = split * SPLIT + i % CHUNKS * CHUNK;
    float most = NOTHING;
    for (uint j = max(begin, seen_from[place]); j <= seen_to[place] && j < begin + CHUNK; ++j) {
      float value = score[(j - split * SPLIT) * QUADS + place / 4u][place & 3u];
      if (value > most) most = value;
    }
    part[i] = most;
  }
  barrier();
  for (uint i = thread; i < PLACES; i += THREADS) {
    float most = NOTHING;
    for (uint c = 0u; c < CHUNKS; ++c) {
      if (part[i * CHUNKS + c] > most) most = part[i * CHUNKS + c];
    }
    split_highest[i] = most;
  }
  barrier();
  for (uint i = thread; i < PLACES * CHUNKS; i += THREADS) {
    uint place = i / CHUNKS, begin = split * SPLIT + i % CHUNKS * CHUNK;
    precise float sum = 0.0;
    for (uint j = max(begin, seen_from[place]); j <= seen_to[place] && j < begin + CHUNK; ++j) {
      uint at = (j - split * SPLIT) * QUADS + place / 4u;
      float weight = exp_of(score[at][place & 3u] - split_highest[place]);
      score[at][place & 3u] = weight;
      sum += weight;
    }
    part[i] = sum;
  }
  barrier();
  for (uint i = thread; i < PLACES; i += THREADS) {
    precise float sum = 0.0;
    for (uint c = 0u; c < CHUNKS; ++c) sum += part[i * CHUNKS + c];
    split_total[i] = sum;
  }
  barrier();
}

// Sums of the values of one word's dimensions, for the four queries of a quad. Positions that one of them does not see are
// left out for it: what lies there may be NaN.
void weighted(Tile t, uint split, uint from, uint to, uint word, uint quad, out vec4 sums[PER_WORD]) {
  precise vec4 sum[PER_WORD];
  [[unroll]] for (uint i = 0u; i < PER_WORD; ++i) sum[i] = vec4(0.0);
  uvec4 begin = uvec4(seen_from[4u * quad], seen_from[4u * quad + 1u], seen_from[4u * quad + 2u], seen_from[4u * quad + 3u]);
  uvec4 end = uvec4(seen_to[4u * quad], seen_to[4u * quad + 1u], seen_to[4u * quad + 2u], seen_to[4u * quad + 3u]);
  for (uint j = from; j <= to; ++j) {
    uint at = place(t, j), code = values[at + word], scale = values[scale_at(at, PER_WORD * word)];
    vec4 weight = score[(j - split * SPLIT) * QUADS + quad];
    bvec4 seen = bvec4(uvec4(lessThanEqual(begin, uvec4(j))) & uvec4(lessThanEqual(uvec4(j), end)));
    [[unroll]] for (uint i = 0u; i < PER_WORD; ++i) {
      sum[i] = mix(sum[i], fma(weight, vec4(kv_value(code, scale, PER_WORD * word + i)), sum[i]), seen);
    }
  }
  [[unroll]] for (uint i = 0u; i < PER_WORD; ++i) sums[i] = sum[i];
}

void write_states(uint thread, Tile t, uint split, uint from, uint to) {
  uint state = HEAD_DIM + 2u, at = split - first_of(t.row) / SPLIT;
  for (uint item = thread; item < CODES * QUADS; item += THREADS) {
    uint word = item % CODES, quad = item / CODES;
    vec4 sums[PER_WORD];
    weighted(t, split, from, to, word, quad, sums);
    for (uint c = 0u; c < 4u && 4u * quad + c < t.heads; ++c) {
      uint h = 4u * quad + c, to_state = ((t.row * p.heads + t.head + h) * p.splits + at) * state;
      for (uint i = 0u; i < PER_WORD && PER_WORD * word + i < HEAD_DIM; ++i) y[to_state + 2u + PER_WORD * word + i] = sums[i][c];
      if (word == 0u) y[to_state] = split_highest[h], y[to_state + 1u] = split_total[h];
    }
  }
}

void fold_split(uint thread) {
  for (uint i = thread; i < PLACES; i += THREADS) {
    float m = highest[i], l = total[i], old = -1.0, new = 0.0;  // -1: sees nothing of this split
    if (seen_from[i] <= seen_to[i]) fold(m, l, split_highest[i], split_total[i], old, new);
    highest[i] = m, total[i] = l, old_part[i] = old, new_part[i] = new;
  }
  barrier();
}

void attend(uint thread, Tile t) {
  uint first = first_of(t.row + t.begin), last = position_of(t.row + t.end - 1u);
  uint begin_split = first / SPLIT, end_split = last / SPLIT + 1u;
  if (SPLITS_APART != 0u) {
    begin_split += gl_WorkGroupID.x;
    if (begin_split >= end_split) return;
    end_split = begin_split + 1u;
  }
  load_queries(thread, t);
  precise vec4 sums[ITEMS][PER_WORD];
  for (uint n = 0u; n < ITEMS; ++n) {
    for (uint i = 0u; i < PER_WORD; ++i) sums[n][i] = vec4(0.0);
  }
  for (uint split = begin_split; split < end_split; ++split) {
    uint from = max(first, split * SPLIT), to = min(last, split * SPLIT + SPLIT - 1u);
    scores(thread, t, split, from, to);
    weigh(thread, split);
    if (SPLITS_APART != 0u) {
      write_states(thread, t, split, from, to);
      return;
    }
    fold_split(thread);
    for (uint n = 0u; n < ITEMS; ++n) {
      uint item = n * THREADS + thread, quad = item / CODES;
      if (item >= CODES * QUADS) continue;
      vec4 of_split[PER_WORD];
      weighted(t, split, from, to, item % CODES, quad, of_split);
      vec4 old = four(quad, false), new = four(quad, true);
      for (uint i = 0u; i < PER_WORD; ++i) {
        precise vec4 folded = sums[n][i] * old + of_split[i] * new;
        sums[n][i] = mix(folded, sums[n][i], lessThan(old, vec4(0.0)));
      }
    }
    barrier();
  }
  for (uint item = thread, n = 0u; item < CODES * QUADS; item += THREADS, ++n) {
    for (uint c = 0u; c < 4u; ++c) {
      uint place = item / CODES * 4u + c, r = place / HEADS, h = place % HEADS;
      if (r < t.begin || r >= t.end || h >= t.heads) continue;
      float factor = finish_factor(highest[place], total[place], p.has_sinks != 0u, p.has_sinks != 0u ? sinks[t.head + h] : 0.0);
      for (uint i = 0u; i < PER_WORD && item % CODES * PER_WORD + i < HEAD_DIM; ++i) {
        y[((t.row + r) * p.heads + t.head + h) * HEAD_DIM + item % CODES * PER_WORD + i] = sums[n][i][c] * factor;
      }
    }
  }
  barrier();
}

void main() {
  uint per_kv = p.heads / p.kv_heads, parts = (per_kv + HEADS - 1u) / HEADS, from = gl_WorkGroupID.y % parts * HEADS;
  Tile t;
  t.row = gl_WorkGroupID.z * ROWS, t.kv_head = gl_WorkGroupID.y / parts;
  t.head = t.kv_head * per_kv + from, t.heads = min(HEADS, per_kv - from);
  uint rows = min(ROWS, p.rows - t.row);
  for (t.begin = 0u; t.begin < rows; t.begin = t.end) {  // once for each sequence that has rows here
    uint sequence = inputs[p.sequence + t.row + t.begin];
    for (t.end = t.begin + 1u; t.end < rows && inputs[p.sequence + t.row + t.end] == sequence;) ++t.end;
    t.table = inputs[p.table_begin + sequence * p.groups + p.group];
    attend(gl_LocalInvocationID.x, t);
  }
}
