// A history on pages (sequence/page.hpp), and back: only what is new is written, only what is
// looked at is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <undertext/history.hpp>

#include "history/state.hpp"
#include "sequence/page.hpp"

namespace undertext {

class SavedHistory {
 public:
  // The root, which names the first pages; the pages are in `writer`. Bodies of messages are not
  // among them.
  static std::string save(const History::Rep& rep, PageWriter& writer);

  // Reads no page yet. Throws Failure: corrupt. The history holds on to both, and throws what they
  // throw, from whatever looks at it.
  static History load(std::string_view root, std::shared_ptr<PageSpace> space,
                      std::shared_ptr<const BodySource> bodies);
};

}  // namespace undertext
