#include <undertext/summariser.hpp>

namespace undertext {

Summariser::~Summariser() = default;

}  // namespace undertext
