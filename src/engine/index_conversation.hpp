// Writes rows of the index again that were deleted with the text of a message.
#pragma once

#include <string>

#include <undertext/store.hpp>

namespace undertext {

// Indexes what has no row in a conversation, in commits of their own, up to 16 MiB of bodies: as
// much as a row that was deleted is of. Call it during no change. What fails is left to
// index_store(): searches read messages without a row.
void index_again(Store& store, const std::string& id) noexcept;

}  // namespace undertext
