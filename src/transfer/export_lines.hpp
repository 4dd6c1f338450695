// The lines of an exported conversation, one by one: docs/export.md describes them.
//
//     {"format":"undertext.conversation","formatVersion":3,"createdAt":…,"tokenizer":…,"settings":…}
//     {"version":1,"operation":"APPEND","timestamp":…,…,"messageCount":2,"batchIndex":0,"messages":[…]}
//     …
//     {"end":true,"versions":…,"messages":…,"view":…,"digest":…}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace undertext {

struct ExportHeader {
  std::int64_t created_at_ms = 0;
  std::string tokenizer;
  std::string note;  // what was kept with the conversation: its settings as JSON, as a rule
};

struct ExportedVersion {
  std::uint64_t version = 0;
  PastVersion past;
  std::uint64_t message_count = 0;  // of its view
  std::uint64_t batch_index = 0;
};

struct ExportEnd {
  std::uint64_t versions = 0, messages = 0;
  std::string view;    // digest_of_view(), in hexadecimal
  std::string digest;  // of all lines before
};

std::string line_of(const ExportHeader& header);
std::string line_of(const ExportedVersion& version);
std::string line_of(const ExportEnd& end);

using ExportLine = std::variant<ExportHeader, ExportedVersion, ExportEnd>;
// invalid_argument. unsupported: a format that is newer than this.
Result<ExportLine> read_export_line(std::string_view line, const MessageLimits& limits);

bool is_export_header(std::string_view line);

// The digest over the lines so far: that of the first is its SHA-256; of each further one, the
// SHA-256 of the digest before (its 32 bytes) and the line without its line break.
class LinesDigest {
 public:
  void add(std::string_view line);
  std::string hex() const;

 private:
  std::string digest_;
};

// The SHA-256, in hexadecimal, of the ordinals of a view, each followed by a comma.
std::string digest_of_view(const View& view);

}  // namespace undertext
