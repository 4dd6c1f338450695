#include "json/record_json.hpp"

#include <utility>

#include "base/json_text.hpp"
#include "store/chain.hpp"

namespace undertext {

void append_json(std::string& out, const ConversationRecord& record) {
  out += R"({"conversation":)";
  append_json_string(out, record.id);
  out += R"(,"version":)" + std::to_string(record.version) + R"(,"totalMessages":)" +
         std::to_string(record.log_length);
  out += R"(,"createdAt":)" + std::to_string(record.created_at_ms) + R"(,"updatedAt":)" +
         std::to_string(record.updated_at_ms);
  if (record.first_version > 0) out += R"(,"firstVersion":)" + std::to_string(record.first_version);
  if (record.origin) {
    out += R"(,"forkOf":{"conversation":)";
    append_json_string(out, record.origin->conversation);
    out += R"(,"version":)" + std::to_string(record.origin->version) + "}";
  }
  out += '}';
}

void append_json(std::string& out, const CheckReport& report) {
  out += R"({"conversations":)" + std::to_string(report.conversations) + R"(,"versions":)" +
         std::to_string(report.versions);
  out += R"(,"messages":)" + std::to_string(report.messages) + R"(,"damage":[)";
  const char* separator = "";
  for (const Damage& damage : report.damage) {
    out += std::exchange(separator, ",");
    out += R"({"conversation":)";
    if (damage.conversation.empty()) {
      out += "null";
    } else {
      append_json_string(out, damage.conversation);
    }
    out += R"(,"what":)";
    append_json_string(out, damage.what);
    out += '}';
  }
  out += "]}";
}

void append_json(std::string& out, const RemovalRecord& record) {
  out += R"({"conversation":)";
  append_json_string(out, record.conversation);
  if (record.ordinal) out += R"(,"ordinal":)" + std::to_string(*record.ordinal);
  out += R"(,"who":)";
  append_json_string(out, record.removal.who);
  out += R"(,"at":)" + std::to_string(record.removal.at_ms) + R"(,"why":)";
  append_json_string(out, record.removal.why);
  out += R"(,"digest":")" + hex(record.digest) + R"("})";
}

}  // namespace undertext
