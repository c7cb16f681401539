// Keeps a process alive when a mapped file shrinks (POSIX): the missing pages read as zeros and the mapping is marked
// as lost, so that the step's result is thrown away with `bad_file`. Windows forbids shrinking a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth {

/// Puts [begin, begin + size) under guard; returns a slot, or -1 when all slots are taken (then nothing is guarded).
int guard_pages(const void* begin, uint64_t size);
/// Ends the guard. Call before the memory is unmapped.
void release_pages(int slot);
/// True once a page of the slot could not be read.
bool pages_lost(int slot);

}  // namespace hearth
