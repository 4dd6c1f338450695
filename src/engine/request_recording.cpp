// Recording requests of clients, and reading the records.
#include <algorithm>
#include <limits>
#include <set>

#include "engine/conversation_rep.hpp"
#include "engine/request_log.hpp"

namespace undertext {
namespace {

bool is_of_the_list(ClientRequestKind kind) {
  return kind == ClientRequestKind::turn || kind == ClientRequestKind::compaction;
}

// The request's messages are the last of the client's list; one that holds only what is new has
// fewer.
void set_ordinals(RequestRecord& record, const History& history) {
  if (record.volatile_parts.empty() || !is_of_the_list(record.kind)) return;
  const std::vector<std::uint64_t> list = client_list_at(history, record.version);
  if (list.size() < record.messages) return;
  const std::uint64_t before = list.size() - record.messages;
  for (VolatilePart& part : record.volatile_parts) {
    part.ordinal.reset();
    if (part.index < record.messages) part.ordinal = Ordinal(list[before + part.index]);
  }
}

std::optional<Error> refuse(const RequestRecord& record, const History& history) {
  const auto is_bad = [&](Version version) {
    return version < history.first_version() || version > history.version();
  };
  if (is_bad(record.version))
    return Error{ErrorCode::invalid_argument,
                 "there is no version " + std::to_string(record.version.value), "version"};
  if (record.answer_version.value != 0 && is_bad(record.answer_version))
    return Error{ErrorCode::invalid_argument,
                 "there is no version " + std::to_string(record.answer_version.value),
                 "answerVersion"};
  return {};
}

}  // namespace

Result<std::uint64_t> Conversation::record_request(RequestRecord record,
                                                   std::string_view raw_request,
                                                   std::string_view raw_answer) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  return answering_failure([&]() -> Result<std::uint64_t> {
    const Rep::Turn turn(*rep_);
    if (record.at_ms == 0) record.at_ms = rep_->context.now_ms;
    record.request_bytes = raw_request.size();
    record.answer_bytes = raw_answer.size();
    for (Tries tries;;) {
      if (std::optional<Error> error = rep_->catch_up(rep_->subscribers->list()))
        return std::move(*error);
      const History history = rep_->current();
      if (std::optional<Error> error = refuse(record, history)) return std::move(*error);
      // The client still sends what was redacted.
      const auto sends_redacted = [&] {
        return rep_->durable &&
               rep_->durable->has_redacted(client_list_at(history, history.version()));
      };
      const bool keeps = !sends_redacted();
      record.has_raw_request = keeps && !raw_request.empty();
      record.has_raw_answer = keeps && !raw_answer.empty();
      set_ordinals(record, history);
      RequestRecord kept = record;
      if (!keeps) kept.volatile_parts.clear();
      RequestRow row = row_of(kept);
      row.number = rep_->requests.last() + 1;
      const RequestTexts texts(rep_->requests, history, rep_->recent_texts);
      if (record.has_raw_request)
        row.request = texts.pack_request(raw_request, record.version).bytes();
      if (record.has_raw_answer)
        row.answer = texts.pack_answer(raw_answer, record.version, record.answer_version).bytes();
      const std::uint64_t number = row.number;
      if (Result<void> put = rep_->requests.put(std::move(row)); !put) {
        if (!tries.may_retry(put.error())) return std::move(put.error());
        continue;
      }
      if (record.has_raw_request) rep_->recent_texts.keep(number, raw_request);
      // Somebody may have redacted meanwhile, elsewhere.
      if (keeps && sends_redacted()) rep_->durable->empty_requests();
      return number;
    }
  });
}

Result<std::vector<RequestRecord>> Conversation::requests(const RequestQuery& query,
                                                          const std::shared_ptr<Work>& work) const {
  return answering_failure([&]() -> Result<std::vector<RequestRecord>> {
    std::uint64_t first = std::max<std::uint64_t>(query.first, 1), limit = query.limit;
    if (query.last) {
      const std::uint64_t last = rep_->requests.last();
      first = last > *query.last ? last - *query.last + 1 : 1;
      limit = *query.last;
    }
    std::vector<RequestRecord> records;
    const std::uint64_t end = limit < std::numeric_limits<std::uint64_t>::max() - first
                                  ? first + limit
                                  : std::numeric_limits<std::uint64_t>::max();
    while (first < end) {
      if (work) work->go_on();
      const std::vector<RequestRow> some = rep_->requests.read(first, end, RequestBytes::without);
      if (some.empty()) break;
      // What prune() removed is no part of the count.
      for (const RequestRow& row : some) records.push_back(record_of(row));
      first = some.back().number + 1;
    }
    return records;
  });
}

// The history that a record refers to: another process may have made versions that this one has not
// seen.
History Conversation::Rep::history_for_request(std::uint64_t number,
                                               const std::shared_ptr<undertext::Work>& work) {
  const History known = current().limited(work);
  if (!durable || is_changing_here()) return known;
  for (const RequestRow& row : requests.read(number, number + 1, RequestBytes::without)) {
    const RequestRecord record = record_of(row);
    if (std::max(record.version, record.answer_version) <= known.version()) continue;
    const Turn in_turn(*this, work);
    if (std::optional<Error> error = catch_up(subscribers->list()))
      throw Failure(*std::move(error));
    return current().limited(work);
  }
  return known;
}

Result<std::string> Conversation::raw_request(std::uint64_t number,
                                              const std::shared_ptr<Work>& work) const {
  return answering_failure([&]() -> Result<std::string> {
    const History history = rep_->history_for_request(number, work);
    return RequestTexts(rep_->requests, history, rep_->recent_texts).request(number);
  });
}

Result<std::string> Conversation::raw_answer(std::uint64_t number,
                                             const std::shared_ptr<Work>& work) const {
  return answering_failure([&]() -> Result<std::string> {
    const History history = rep_->history_for_request(number, work);
    return RequestTexts(rep_->requests, history, rep_->recent_texts).answer(number);
  });
}

Result<std::optional<VolatileNow>> Conversation::volatile_now(Dialect dialect) const {
  constexpr std::uint64_t looked_back = 16;  // requests that are no turns lie between
  Result<std::vector<RequestRecord>> records = requests({.last = looked_back});
  if (!records) return records.error();
  for (auto record = records->rbegin(); record != records->rend(); ++record) {
    if (!is_of_the_list(record->kind)) continue;
    VolatileNow now;
    if (const Result<ClientProfile> client = find_client(record->client))
      now.system_texts = client->volatile_parts.system_texts;
    if (record->dialect == name(dialect)) now.parts = std::move(record->volatile_parts);
    return std::optional(std::move(now));
  }
  return std::optional<VolatileNow>();
}

}  // namespace undertext
