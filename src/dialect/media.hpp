// What a dialect does with images, audio, video and files.
#pragma once

#include <optional>
#include <string_view>

#include "dialect/codes.hpp"
#include "message/turn.hpp"

namespace undertext {

// Why a turn of that role cannot hold them: nullopt when it can. Ids of files are another matter:
// their provider alone knows them.
std::optional<LossCode> media_loss(const Media& media, Role role, Dialect dialect);
std::string_view word_for(const Media& media);  // "[image]": what stands in their place

}  // namespace undertext
