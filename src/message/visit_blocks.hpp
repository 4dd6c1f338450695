// The blocks of a message one at a time, for what writes them somewhere: a list of them may take a
// hundred times the bytes of the message.
#pragma once

#include <cstdint>
#include <functional>

#include <undertext/blocks.hpp>

namespace undertext {

// visit(block) for each block of read_blocks().
void visit_blocks(const Message& message, const std::function<void(ContentBlock)>& visit);

// About the most that this allocates. 0 where it is little.
std::uint64_t visit_blocks_bytes(const Message& message);

}  // namespace undertext
