// The memory of this process, as the system and its allocator see it.
#pragma once

#include <cstdint>

namespace undertext {

std::uint64_t resident_bytes();  // 0: the system does not say

// For a process of many threads that mostly wait: one heap for each core, and large blocks on their
// own.
// Nothing happens where the allocator has no such setting.
void keep_heaps_few();

// Gives free memory back to the system, where the allocator would keep it.
void give_back_free_memory();

}  // namespace undertext
