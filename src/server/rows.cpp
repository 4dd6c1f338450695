#include "server/rows.hpp"

#include <optional>

#include "base/json_text.hpp"
#include "json/blocks_json.hpp"

namespace undertext {
namespace {

// A summary may stand for very many; receipts tell of all.
constexpr std::size_t stands_for_max = 1000;

void append_known(std::string& out, const History& history, Ordinal ordinal) {
  const char* separator = "";
  out += R"(,"marks":[)";
  for (const std::string& mark : history.marks_of(ordinal)) {
    append_json_string(out += separator, mark);
    separator = ",";
  }
  out += R"(],"standsFor":[)";
  const std::vector<Ordinal> originals = history.stands_for(ordinal);
  for (std::size_t i = 0; i < originals.size() && i < stands_for_max; ++i) {
    if (i > 0) out += ',';
    out += std::to_string(originals[i].value);
  }
  out += ']';
  if (originals.size() > stands_for_max)
    out += R"(,"standsForCount":)" + std::to_string(originals.size());
}

void append_message(std::string& out, const Message& message) {
  append_json_string(out += R"(,"role":)", name(message.role()));
  append_blocks(out += R"(,"blocks":)", message);
  ((out += R"(,"message":)") += message.json()) += '}';
}

void append_counts(std::string& out, std::string_view lead,
                   const std::uint64_t (&counts)[role_count]) {
  out += lead;
  for (std::size_t role = 0; role < role_count; ++role) {
    append_json_string(out += role == 0 ? "{" : ",", name(static_cast<Role>(role)));
    out += ":" + std::to_string(counts[role]);
  }
  out += '}';
}

}  // namespace

void append_row(std::string& out, const History& history, Ordinal ordinal,
                std::string_view change) {
  const View log = history.log();
  const std::optional<std::uint64_t> index = history.view().index_of(ordinal);
  out += '{';
  if (!change.empty()) append_json_string(out += R"("change":)", change), out += ',';
  out += R"("index":)" + (index ? std::to_string(*index) : std::string("null"));
  out += R"(,"ordinal":)" + std::to_string(ordinal.value) + R"(,"time":)" +
         std::to_string(log.time_ms(ordinal.value));
  out += R"(,"tokens":)" + std::to_string(log.tokens(ordinal.value));
  append_known(out, history, ordinal);
  append_message(out, log[ordinal.value]);
}

void append_row(std::string& out, const History& history, const View& view, const ReadRow& row) {
  out += R"({"index":)" + std::to_string(row.index) + R"(,"ordinal":)" +
         std::to_string(row.ordinal.value);
  out += R"(,"time":)" + std::to_string(view.time_ms(row.index)) + R"(,"tokens":)" +
         std::to_string(view.tokens(row.index));
  append_known(out, history, row.ordinal);
  append_message(out, row.message);
}

void append_by_role(std::string& out, const ViewSums& sums) {
  append_counts(out, R"("byRole":)", sums.role_tokens);
  append_counts(out, R"(,"messagesByRole":)", sums.role_counts);
}

void append_sums(std::string& out, const History& history) {
  const ViewSums sums = history.view().sums();
  out += R"({"version":)" + std::to_string(history.version().value) + R"(,"messages":)" +
         std::to_string(sums.count());
  out += R"(,"tokens":)" + std::to_string(sums.tokens()) + R"(,"bytes":)" +
         std::to_string(sums.bytes) + ",";
  append_by_role(out, sums);
  out += '}';
}

}  // namespace undertext
