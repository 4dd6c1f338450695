// What a person may sit before.
#pragma once

#include <cstddef>

namespace undertext {

bool leads_to_terminal(int descriptor);
std::size_t terminal_width();  // in columns, of that behind standard output; 0: there is none

}  // namespace undertext
