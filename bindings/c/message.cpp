#include <cstdint>
#include <limits>

#include "handles.hpp"
#include "json/blocks_json.hpp"

using namespace undertext;
using c::Failed, c::give, c::guarded, c::view_of;

undertext_status undertext_read_blocks(undertext_text message, undertext_string* blocks,
                                       undertext_string* error) {
  c::clear(blocks);
  return guarded(error, [&]() -> Failed {
    // Conversations have a limit of their own, which what they hold has passed.
    const Result<Message> read = Message::parse(
        view_of(message), {.message_bytes = std::numeric_limits<std::uint32_t>::max()});
    if (!read) return read.error();
    std::string out;
    append_blocks(out, *read);
    give(blocks, std::move(out));
    return std::nullopt;
  });
}
