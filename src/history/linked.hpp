// What an older release stored about units is not used: it knew fewer kinds of calls. Such a
// history is read without links, and gets them before it is first written to.
#pragma once

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {

// The same history with links, made from the bodies of all messages unless it has them. Each shared
// node is changed once; entries reach further back than they must.
History with_links(const History& history);

// The same for a single view, and for that of the head.
View::Rep with_links(const View::Rep& view);
View view_with_links(const History& history);

}  // namespace undertext
