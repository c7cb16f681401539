// Where a position's key or value of a head lies: [block][head][slot], POSITION words each; q8 has a float32 scale for 32
// values behind its codes. Of one layer, keys and values are two buffers. Needs KV, HEAD_DIM and numbers.glsl.

const uint KV_F32 = 0u, KV_F16 = 1u, KV_Q8 = 2u;
const uint CODES = KV == KV_F32 ? HEAD_DIM : KV == KV_F16 ? (HEAD_DIM + 1u) / 2u : (HEAD_DIM + 3u) / 4u;
const uint POSITION = CODES + (KV == KV_Q8 ? (HEAD_DIM + 31u) / 32u : 0u);

uint position_at(uint block, uint slot, uint head, uint heads, uint block_size) { return ((block * heads + head) * block_size + slot) * POSITION; }

float kv_value(uint code_word, uint scale_word, uint d) {
  if (KV == KV_F32) return uintBitsToFloat(code_word);
  if (KV == KV_F16) return half_value((code_word >> (16u * (d & 1u))) & 0xffffu);
  return float(bitfieldExtract(int(code_word), int(8u * (d & 3u)), 8)) * uintBitsToFloat(scale_word);
}
uint code_at(uint at, uint d) { return at + (KV == KV_F32 ? d : KV == KV_F16 ? d / 2u : d / 4u); }
uint scale_at(uint at, uint d) { return KV == KV_Q8 ? at + CODES + d / 32u : at; }
