// Messages with what is known of each, and the sums of a view, as JSON.
#pragma once

#include <string>
#include <string_view>

#include <undertext/history.hpp>
#include <undertext/view.hpp>

namespace undertext {

// {"index":3,"ordinal":7,"time":…,"tokens":…,"marks":[…],"standsFor":[…],"role":"user","blocks":[…],"message":{…}}
// index is null where the view does not show it; role and blocks are as the query `blocks` gives
// them.
// `change` stands in front where it is not empty. The ordinal is one of the log's.
void append_row(std::string& out, const History& history, Ordinal ordinal,
                std::string_view change = {});
// The same of a message that was read already.
struct ReadRow {
  std::uint64_t index = 0;
  Ordinal ordinal;
  const Message& message;
};
void append_row(std::string& out, const History& history, const View& view, const ReadRow& row);

// {"version":7,"messages":41,"tokens":7310,"bytes":…,"byRole":{…},"messagesByRole":{…}}; byRole are
// tokens.
void append_sums(std::string& out, const History& history);
// "byRole":{…},"messagesByRole":{…}
void append_by_role(std::string& out, const ViewSums& sums);

}  // namespace undertext
