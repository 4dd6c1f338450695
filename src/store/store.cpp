#include <undertext/store.hpp>

#include <limits>

namespace undertext {

Result<std::uint64_t> Store::size_bytes(std::string_view id, const CallOptions& options) {
  constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  const Result<ConversationRecord> record = find(id, options);
  if (!record) return record.error();
  std::uint64_t bytes = record->settings.size();
  for (std::uint64_t next = 0;;) {
    const Result<std::vector<MessageRecord>> some = messages(id, next, end, options);
    if (!some) return some.error();
    if (some->empty()) break;
    for (const MessageRecord& message : *some) bytes += message.body.size();
    next = some->back().ordinal + 1;
  }
  for (std::uint64_t next = 0;;) {
    const Result<std::vector<VersionRecord>> some = versions(id, next, end, options);
    if (!some) return some.error();
    if (some->empty()) break;
    for (const VersionRecord& version : *some)
      bytes += version.arguments.size() + version.answer.size();
    next = some->back().version + 1;
  }
  for (std::uint64_t next = 0;;) {
    const Result<std::vector<RequestRow>> some =
        requests(id, next, end, RequestBytes::with, options);
    if (!some) return some.error();
    if (some->empty()) return bytes;
    for (const RequestRow& row : *some)
      bytes += row.facts.size() + row.parts.size() + row.request.size() + row.answer.size();
    next = some->back().number + 1;
  }
}

Result<void> Store::distribute(const CallOptions&) {
  return Error{ErrorCode::unsupported,
               "only a PostgreSQL database with Citus has nodes to distribute over: " + name()};
}

}  // namespace undertext
