// How unlike backends order what is in a block of keys and values, and the way from one order to another: values and scales keep their bits,
// only their places change. It reads no keys.
#pragma once

#include <cstddef>

#include "backend/backend.h"

namespace hearth {

/// The same bytes in another order. `in` and `out` are whole blocks of this shape, as read_kv_block() gives them.
void reorder_kv_block(const KvShape& shape, KvType type, KvForm from, const std::byte* in, KvForm to, std::byte* out);

/// Bytes of a whole block in this form.
uint64_t kv_block_bytes(const KvShape& shape, KvType type, KvForm form);

}  // namespace hearth
