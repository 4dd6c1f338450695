// Which of many facts a text says: all of them in one pass, so that the cost is that of the text
// and not that of the text for each fact.
//
//     app.py     is said by   src/app.py   "run app.py."   修改app.py
//                and not by   myapp.py   my-app.py   app.pyc   app.py.orig   app.py~
//
// A fact stands whole: no name goes on before or behind it. A folder is said by what is in it, and
// the end of a path by the path.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/work.hpp>

namespace undertext {

// For each fact, whether `flat_text` has it: one_line() of each line, as all_said() returns it. A
// fact that ends in "…" was cut there. `"yes" (asked: …)` is also said by a line that is the answer.
// Linear in the text for each 2 MB of facts, and in how often a fact is met that does not stand
// whole. Asks `work` (null: no limits) on the way; throws its Failure.
std::vector<bool> are_said(std::span<const std::string> facts, std::string_view flat_text,
                           const Work* work = nullptr);

}  // namespace undertext
