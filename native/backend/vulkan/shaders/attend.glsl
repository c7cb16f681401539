// The order of attention's sums, which is a row's own: positions are cut into splits of 256 at absolute multiples, splits into
// chunks of 16; chunks are summed in order, splits folded in order, the sink joins at the end. So it makes no difference
// whether one workgroup goes through all splits or each has its own.

const uint SPLIT = 256u, CHUNK = 16u, CHUNKS = SPLIT / CHUNK;
#define NOTHING uintBitsToFloat(0xff800000u)  // -infinity

// What was seen so far (maximum, sum) takes in a further split: `old` and `new` weigh what each has summed.
void fold(inout float highest, inout float sum, float split_highest, float split_sum, out float old, out float new) {
  precise float all = highest > split_highest ? highest : split_highest;
  precise float a = highest == NOTHING ? 0.0 : exp_of(highest - all), b = exp_of(split_highest - all);
  precise float folded = sum * a + split_sum * b;
  highest = all, sum = folded, old = a, new = b;
}

// What the weighted values are multiplied with at the end.
float finish_factor(float highest, float sum, bool has_sink, float sink) {
  if (!has_sink) return 1.0 / sum;
  float all = highest > sink ? highest : sink, part = exp_of(highest - all);
  return part / (sum * part + exp_of(sink - all));
}
