// Members by which a request to Gemini names what the provider has cached. The provider takes both
// spellings.
#pragma once

#include <array>
#include <string_view>

namespace undertext {

constexpr std::array<std::string_view, 2> cached_content_names = {"cachedContent",
                                                                  "cached_content"};

}  // namespace undertext
