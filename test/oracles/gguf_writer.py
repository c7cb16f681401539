"""Writes small GGUF v3 files for fixtures: metadata, then tensors aligned to 32 bytes. numpy only."""
import struct

import numpy as np

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TYPE_F32, TYPE_BF16, TYPE_MXFP4 = 0, 30, 39
ALIGNMENT = 32


def bf16(x):
    """float32 to bf16 bits, round to nearest even."""
    bits = np.ascontiguousarray(x, "<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


class GgufWriter:
    def __init__(self):
        self.metadata, self.tensors = [], []

    @staticmethod
    def _string(text):
        raw = text.encode("utf-8")
        return struct.pack("<Q", len(raw)) + raw

    def _put(self, key, kind, raw):
        self.metadata.append(self._string(key) + struct.pack("<I", kind) + raw)

    def u32(self, key, value):
        self._put(key, U32, struct.pack("<I", value))

    def f32(self, key, value):
        self._put(key, F32, struct.pack("<f", value))

    def boolean(self, key, value):
        self._put(key, BOOL, struct.pack("<?", value))

    def string(self, key, value):
        self._put(key, STRING, self._string(value))

    def strings(self, key, values):
        self._put(key, ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(self._string, values)))

    def i32s(self, key, values):
        self._put(key, ARRAY, struct.pack("<IQ", I32, len(values)) + np.asarray(values, "<i4").tobytes())

    def tensor(self, name, shape, kind, raw):
        """shape: slowest dimension first, as numpy has it."""
        self.tensors.append((name, tuple(reversed(shape)), kind, raw))

    def f32_tensor(self, name, x):
        self.tensor(name, x.shape, TYPE_F32, np.ascontiguousarray(x, "<f4").tobytes())

    def bf16_tensor(self, name, x):
        self.tensor(name, x.shape, TYPE_BF16, bf16(x).tobytes())

    def tensor_as(self, name, x):
        """Matrices as bf16, vectors as f32, as converters do it."""
        self.bf16_tensor(name, x) if x.ndim > 1 else self.f32_tensor(name, x)

    def write(self, path):
        infos, offset = [], 0
        for name, dims, kind, raw in self.tensors:
            infos.append(self._string(name) + struct.pack("<I", len(dims)) + struct.pack("<%dQ" % len(dims), *dims)
                         + struct.pack("<IQ", kind, offset))
            offset += -(-len(raw) // ALIGNMENT) * ALIGNMENT
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.metadata))
        head += b"".join(self.metadata) + b"".join(infos)
        with open(path, "wb") as file:
            file.write(head + b"\0" * (-len(head) % ALIGNMENT))
            for _, _, _, raw in self.tensors:
                file.write(raw + b"\0" * (-len(raw) % ALIGNMENT))
