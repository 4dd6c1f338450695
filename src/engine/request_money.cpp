// What recorded requests cost, and why a cache was missed.
#include <algorithm>
#include <limits>

#include "base/json_text.hpp"
#include "client/answer_room.hpp"
#include "engine/conversation_rep.hpp"

namespace undertext {
namespace {

// Requests that go on with the same list. A compaction goes on with the turns before it.
bool goes_on_with(const RequestRecord& record, const RequestRecord& earlier) {
  const auto kind = [](const RequestRecord& of) {
    return of.kind == ClientRequestKind::compaction ? ClientRequestKind::turn : of.kind;
  };
  return earlier.number < record.number && earlier.dialect == record.dialect &&
         kind(earlier) == kind(record);
}

// What the newest request whose text is kept left room for in its answer. Throws Failure:
// unavailable.
std::uint64_t newest_reserve(const Conversation& conversation,
                             const std::vector<RequestRecord>& records,
                             const std::shared_ptr<Work>& work) {
  constexpr std::size_t looked_back = 16;
  constexpr std::uint32_t depth_max = 4096;
  std::size_t looked = 0;
  for (auto record = records.rbegin(); record != records.rend() && looked < looked_back;
       ++record, ++looked) {
    if (!record->has_raw_request || record->kind != ClientRequestKind::turn) continue;
    const Result<std::string> raw = conversation.raw_request(record->number, work);
    if (!raw && raw.error().code == ErrorCode::unavailable) throw Failure(raw.error());
    const Result<JsonText> json = raw ? JsonText::parse(*raw, {.depth = depth_max}) : raw.error();
    if (json && json->root().is(JsonType::object)) return answer_tokens_in(json->root());
  }
  return 0;
}

const RequestRecord* record_of(const std::vector<RequestRecord>& records, std::uint64_t number) {
  const auto found = std::lower_bound(
      records.begin(), records.end(), number,
      [](const RequestRecord& record, std::uint64_t wanted) { return record.number < wanted; });
  return found != records.end() && found->number == number ? &*found : nullptr;
}

// Two requests of one version: what they have otherwise was not followed, so that only their texts
// tell whether the client changed it.
bool saw_the_same(const std::vector<RequestRecord>& records, const LedgerFinding& finding) {
  const RequestRecord* const later = record_of(records, finding.number);
  const RequestRecord* const earlier = record_of(records, finding.against);
  return finding.cause == MissCause::upstream && later && earlier &&
         later->version == earlier->version;
}

void set_changed(Ledger& ledger, LedgerFinding& finding) {
  finding.cause = MissCause::changed;
  for (LedgerTurn& turn : ledger.turns)
    if (turn.number == finding.number) turn.cause = MissCause::changed;
}

}  // namespace

Result<Conversation::Compared> Conversation::cache_break(std::uint64_t number,
                                                         std::optional<std::uint64_t> against,
                                                         const std::shared_ptr<Work>& work) const {
  constexpr std::uint64_t looked_back = 100;
  const std::uint64_t first = number > looked_back ? number - looked_back : 1;
  Result<std::vector<RequestRecord>> records =
      requests({.first = first, .limit = number - std::min(number, first) + 1}, work);
  if (!records) return records.error();
  if (number == 0 || records->empty() || records->back().number != number)
    return Error{ErrorCode::not_found, "there is no request " + std::to_string(number), "number"};
  const RequestRecord record = records->back();
  std::optional<RequestRecord> other;
  if (against) {
    Result<std::vector<RequestRecord>> named = requests({.first = *against, .limit = 1}, work);
    if (!named) return named.error();
    if (*against == 0 || named->empty())
      return Error{ErrorCode::not_found, "there is no request " + std::to_string(*against),
                   "against"};
    other = std::move(named->front());
  } else {
    const auto found =
        std::find_if(records->rbegin(), records->rend(),
                     [&](const RequestRecord& earlier) { return goes_on_with(record, earlier); });
    if (found != records->rend()) other = *found;
  }
  if (!other) return Compared{};
  Compared compared{.against = other->number};
  const std::optional<Dialect> dialect = dialect_named(record.dialect);
  if (!dialect || record.dialect != other->dialect || !record.has_raw_request ||
      !other->has_raw_request)
    return compared;
  const Result<std::string> before = raw_request(other->number, work),
                            after = raw_request(number, work);
  if (!before) return before.error();
  if (!after) return after.error();
  compared.at = undertext::cache_break(*dialect, *before, *after);
  return compared;
}

Result<Ledger> Conversation::ledger(const LedgerQuery& query,
                                    const std::shared_ptr<Work>& work) const {
  return answering_failure([&]() -> Result<Ledger> {
    constexpr std::size_t explained_max = 20;  // findings whose texts are compared: the newest
    Result<std::vector<RequestRecord>> records =
        requests({.limit = std::numeric_limits<std::uint64_t>::max()}, work);
    if (!records) return records.error();
    if (records->empty()) return Ledger{};
    Ledger ledger =
        make_ledger(*records, rep_->history_for_request(records->back().number, work), query);
    std::size_t left = explained_max;
    for (auto finding = ledger.findings.rbegin(); finding != ledger.findings.rend() && left > 0;
         ++finding) {
      const bool is_unknown = saw_the_same(*records, *finding);
      if (finding->cause != MissCause::changed && !is_unknown) continue;
      --left;
      Result<Compared> compared = cache_break(finding->number, finding->against, work);
      // Of a text that is gone or damaged there is no byte to name.
      if (!compared && compared.error().code == ErrorCode::unavailable) return compared.error();
      if (!compared) continue;
      if (is_unknown && compared->at.kind == CacheBreak::Kind::broken)
        set_changed(ledger, *finding);
      if (finding->cause == MissCause::changed) finding->at = std::move(compared->at);
    }
    return ledger;
  });
}

Result<WhatIf> Conversation::what_if(std::string_view policy, const WhatIfOptions& options,
                                     const std::shared_ptr<Work>& work) const {
  return answering_failure([&]() -> Result<WhatIf> {
    Result<std::vector<RequestRecord>> records =
        requests({.limit = std::numeric_limits<std::uint64_t>::max()}, work);
    if (!records) return records.error();
    const History history = records->empty()
                                ? rep_->current()
                                : rep_->history_for_request(records->back().number, work);
    WhatIfOptions whole = options;
    if (whole.conversation.empty()) whole.conversation = id();
    if (whole.reserve_tokens == 0) whole.reserve_tokens = newest_reserve(*this, *records, work);
    return undertext::what_if(*records, history, policy, whole);
  });
}

}  // namespace undertext
