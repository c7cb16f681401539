#version 450
// The best of a row of logits by (value desc, index asc), sorted, and the sum of exponentials of each part of it (backend/top_logits.h).
// The first pass sorts runs of 128 out of each part of 2048 logits and keeps the best run; every later one does so with 16 such runs,
// until one is left, which goes out. Grid: x runs that this pass leaves; y rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

const uint RUN = 128u, PART = 2048u, EACH = PART / 64u;
const uint NOBODY = ~0u;
const float LOWEST = -3.4028234663852886e38;

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Logits { float logits[]; };
layout(set = 0, binding = 1) readonly buffer From { uint from[]; };   // of a run 128 values, then their tokens
layout(set = 0, binding = 2) writeonly buffer To { uint to[]; };
layout(set = 0, binding = 3) writeonly buffer Out { float result[]; };
layout(push_constant) uniform Push {
  uint cols;      // of a row of logits
  uint runs;      // that this pass reads of a row; 0: it reads logits
  uint last;      // it leaves one
  uint k, width;  // of a row of the result
} p;

shared float value[PART];
shared uint token[PART];
shared float partial[64];
shared uint strange[64];

// Every order of NaN would do: a part with one is not used. But sorting must not lose its way.
float ordered(float v) { return v >= LOWEST ? v : LOWEST; }

bool before(float a, uint i, float b, uint j) { return a > b || (a == b && i < j); }

void load_logits(uint thread, uint row, uint part) {
  for (uint i = thread; i < PART; i += 64u) {
    uint at = part * PART + i;
    bool here = at < p.cols;
    value[i] = here ? ordered(logits[row * p.cols + at]) : LOWEST;
    token[i] = here ? at : NOBODY;
  }
}

void load_runs(uint thread, uint row, uint group) {
  for (uint i = thread; i < PART; i += 64u) {
    uint run = group * (PART / RUN) + i / RUN;
    bool here = run < p.runs;
    uint at = (row * p.runs + run) * 2u * RUN + i % RUN;
    value[i] = here ? uintBitsToFloat(from[at]) : LOWEST;
    token[i] = here ? from[at + RUN] : NOBODY;
  }
}

// Largest logit and sum of exponentials of the part; a value that is not finite makes the sum NaN. The order is fixed: a thread adds
// each 64th, the threads' sums meet in a tree.
void add_up(uint thread, uint row, uint part) {
  uint begin = part * PART, end = min(begin + PART, p.cols);
  float largest = LOWEST;
  uint bad = 0u;
  for (uint at = begin + thread; at < end; at += 64u) {
    float v = logits[row * p.cols + at];
    if (!finite(v)) bad = 1u;
    else if (v > largest) largest = v;
  }
  partial[thread] = largest, strange[thread] = bad;
  for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
    barrier();
    if (thread < half_of) {
      partial[thread] = max(partial[thread], partial[thread + half_of]);
      strange[thread] |= strange[thread + half_of];
    }
  }
  barrier();
  largest = partial[0];
  barrier();
  precise float sum = 0.0;
  for (uint at = begin + thread; at < end && strange[0] == 0u; at += 64u) sum += exp_of(logits[row * p.cols + at] - largest);
  partial[thread] = sum;
  for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
    barrier();
    if (thread < half_of) {
      precise float both = partial[thread] + partial[thread + half_of];
      partial[thread] = both;
    }
  }
  if (thread != 0u) return;
  uint at = row * p.width + 2u * p.k + 2u * part;
  result[at] = strange[0] != 0u ? 0.0 : largest;
  result[at + 1u] = strange[0] != 0u ? uintBitsToFloat(0x7fc00000u) : partial[0];
}

// The better of the two comes first, or last.
void order(uint i, uint j, bool first) {
  if (before(value[j], token[j], value[i], token[i]) != first) return;
  float v = value[i];
  uint t = token[i];
  value[i] = value[j], token[i] = token[j];
  value[j] = v, token[j] = t;
}

// Batcher's bitonic sort of every run.
void sort_runs(uint thread) {
  for (uint size = 2u; size <= RUN; size <<= 1) {
    for (uint stride = size >> 1; stride > 0u; stride >>= 1) {
      barrier();
      for (uint pair = thread; pair < PART / 2u; pair += 64u) {
        uint i = 2u * pair - (pair & (stride - 1u));
        order(i, i + stride, (i & size & (RUN - 1u)) == 0u);
      }
    }
  }
}

// Of two runs side by side the better half, sorted: one forwards against one backwards is bitonic.
void halve(uint thread) {
  for (uint step = RUN; step < PART; step <<= 1) {
    uint pairs = PART / (2u * step);
    barrier();
    for (uint n = thread; n < pairs * RUN; n += 64u) {
      uint i = n / RUN * 2u * step + n % RUN, j = n / RUN * 2u * step + step + (RUN - 1u - n % RUN);
      if (before(value[j], token[j], value[i], token[i])) value[i] = value[j], token[i] = token[j];
    }
    for (uint stride = RUN / 2u; stride > 0u; stride >>= 1) {
      barrier();
      for (uint n = thread; n < pairs * (RUN / 2u); n += 64u) {
        uint pair = n % (RUN / 2u), i = n / (RUN / 2u) * 2u * step + 2u * pair - (pair & (stride - 1u));
        order(i, i + stride, true);
      }
    }
  }
  barrier();
}

void main() {
  uint thread = gl_LocalInvocationID.x, row = gl_WorkGroupID.y, group = gl_WorkGroupID.x;
  if (p.runs == 0u) {
    add_up(thread, row, group);
    load_logits(thread, row, group);
    sort_runs(thread);
  } else {
    load_runs(thread, row, group);
  }
  halve(thread);
  if (p.last == 0u) {
    uint left = ((p.runs == 0u ? p.cols : p.runs * RUN) + PART - 1u) / PART, at = (row * left + group) * 2u * RUN;
    for (uint i = thread; i < RUN; i += 64u) to[at + i] = floatBitsToUint(value[i]), to[at + RUN + i] = token[i];
    return;
  }
  for (uint i = thread; i < p.k; i += 64u) {
    result[row * p.width + i] = token[i] == NOBODY ? -1.0 : float(token[i]);
    result[row * p.width + p.k + i] = value[i];
  }
}
