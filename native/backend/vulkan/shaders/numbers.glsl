// Numbers that every device computes alike: 16-bit floats bit by bit (drivers may flush subnormals, and scales are
// often subnormal), an exponential of known error, and activations.

float half_value(uint h) {
  uint exponent = (h >> 10) & 31u, mantissa = h & 1023u, sign = (h & 0x8000u) << 16;
  uint bits = ((exponent + 112u) << 23) | (mantissa << 13);
  if (exponent == 0u) bits = floatBitsToUint(float(mantissa) * 5.9604644775390625e-8);  // 2^-24
  if (exponent == 31u) bits = 0x7f800000u | (mantissa << 13);
  return uintBitsToFloat(bits | sign);
}

float bf16_value(uint b) { return uintBitsToFloat(b << 16); }

// Round to nearest, ties to even; as float_to_half of backend/half.h.
uint half_bits(float value) {
  uint bits = floatBitsToUint(value), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) return sign | (floatBitsToUint(uintBitsToFloat(magnitude) + 0.5) - 0x3f000000u);
  return sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13);
}

bool finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }

// e^x = 2^n * e^r with |r| <= ln(2)/2: Cody and Waite's reduction, a polynomial of degree 6. 0 below -87; NaN stays NaN.
float exp_of(float x) {
  if (x < -87.0) return 0.0;
  if (x > 88.0) x = 88.0;
  float n = roundEven(x * 1.44269504088896341);
  float r = fma(n, -0.693359375, x);
  r = fma(n, 2.12194440e-4, r);
  float p = 1.9875691500e-4;
  p = fma(p, r, 1.3981999507e-3);
  p = fma(p, r, 8.3334519073e-3);
  p = fma(p, r, 4.1665795894e-2);
  p = fma(p, r, 1.6666665459e-1);
  p = fma(p, r, 5.0000001201e-1);
  p = fma(p, r * r, r + 1.0);
  return p * uintBitsToFloat(uint(int(n) + 127) << 23);
}

const uint SILU = 0u, GELU_TANH = 1u, SWIGLU_OAI = 2u;

// act(gate, up) of ops.h. Comparisons that let NaN through: a clamp must not hide an error upstream.
float activate(uint kind, float alpha, float limit, float gate, float up) {
  if (kind == SILU) return gate / (1.0 + exp_of(-gate)) * up;
  if (kind == GELU_TANH) {
    float y = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate);
    return gate / (1.0 + exp_of(-2.0 * y)) * up;  // 0.5 (1 + tanh y) = 1 / (1 + e^-2y), without its cancellation
  }
  float g = gate > limit ? limit : gate;
  float u = up > limit ? limit : (up < -limit ? -limit : up);
  return g / (1.0 + exp_of(-alpha * g)) * (u + 1.0);
}
