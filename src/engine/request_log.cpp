#include "engine/request_log.hpp"

#include <algorithm>
#include <limits>

#include "engine/durable.hpp"
#include "history/client_list.hpp"
#include "history/state.hpp"
#include "pack/pack.hpp"
#include "store/chain.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t depth_max = 16;
constexpr std::size_t small_pack_bytes = 1024;  // not worth another base
// at the greatest depth: worth one that refers to none
constexpr std::size_t large_pack_bytes = 4 * 1024;
constexpr std::uint64_t rows_looked_back = 8;  // some requests are recorded without their text

Failure no_request(std::uint64_t number) {
  return Failure({ErrorCode::not_found, "there is no request " + std::to_string(number), "number"});
}

Failure no_text(const RequestRow& row, const char* what) {
  const std::string of =
      "the raw " + std::string(what) + " of request " + std::to_string(row.number);
  return Failure({ErrorCode::not_found,
                  was_redacted(row) ? of + " is gone: messages of the conversation were redacted"
                                    : of + " was not kept",
                  "number"});
}

Failure damaged(std::uint64_t number, const Error& error) {
  return Failure({ErrorCode::corrupt,
                  "request " + std::to_string(number) + " cannot be rebuilt: " + error.message});
}

}  // namespace

std::vector<RequestRow> RequestRows::read(std::uint64_t first, std::uint64_t end,
                                          RequestBytes bytes) const {
  if (durable_) return durable_->requests(first, end, bytes);
  const std::lock_guard lock(lock_);
  std::vector<RequestRow> found;
  for (const RequestRow& row : rows_)
    if (row.number >= first && row.number < end) found.push_back(row);
  return found;
}

std::uint64_t RequestRows::last() const {
  if (durable_) return durable_->last_request();
  const std::lock_guard lock(lock_);
  return rows_.empty() ? 0 : rows_.back().number;
}

Result<void> RequestRows::put(RequestRow row) {
  if (durable_) return durable_->put_request(std::move(row));
  const std::lock_guard lock(lock_);
  rows_.push_back(std::move(row));
  return {};
}

std::optional<std::string> RecentTexts::find(std::uint64_t number) const {
  const std::lock_guard lock(lock_);
  for (const Kept& kept : kept_)
    if (kept.number == number) return kept.text;
  return {};
}

void RecentTexts::keep(std::uint64_t number, std::string_view text) {
  if (text.size() > bytes_max) return;
  const std::lock_guard lock(lock_);
  std::erase_if(kept_, [&](const Kept& kept) { return kept.number == number; });
  if (kept_.size() == texts_max) kept_.erase(kept_.begin());
  kept_.push_back({number, std::string(text)});
}

void RecentTexts::clear() {
  const std::lock_guard lock(lock_);
  kept_.clear();
}

RequestRow RequestTexts::row(std::uint64_t number, RequestBytes bytes) const {
  history_.rep().log.go_on();
  std::vector<RequestRow> found = rows_.read(number, number + 1, bytes);
  if (number == 0 || found.empty()) throw no_request(number);
  return std::move(found.front());
}

std::string RequestTexts::request(std::uint64_t number) const {
  const RequestRow found = row(number);
  if (found.request.empty()) throw no_text(found, "request");
  if (std::optional<std::string> recent = recent_.find(number)) return *std::move(recent);
  const PackedText text = PackedText::read(found.request);
  if (text.base >= number) throw damaged(number, {ErrorCode::corrupt, "it refers to a later one"});
  return unpacked(text);
}

std::string RequestTexts::answer(std::uint64_t number) const {
  const RequestRow found = row(number);
  if (found.answer.empty()) throw no_text(found, "answer");
  return unpacked(PackedText::read(found.answer));
}

void RequestTexts::check() const {
  const std::uint64_t last = rows_.last();
  for (std::uint64_t number = 1; number <= last;) {
    const std::vector<RequestRow> some = rows_.read(number, last + 1, RequestBytes::with);
    if (some.empty()) return;
    for (const RequestRow& stored : some) {
      record_of(stored);
      if (!stored.request.empty()) unpacked(PackedText::read(stored.request));
      if (!stored.answer.empty()) unpacked(PackedText::read(stored.answer));
    }
    number = some.back().number + 1;
  }
}

std::string RequestTexts::unpacked(const PackedText& text) const {
  Result<std::string> bytes = unpack(text.packed, reference(text.base, text.messages), text.size);
  if (!bytes) throw Failure(bytes.error());
  if (bytes->size() != text.size || sha256(*bytes) != text.digest)
    throw Failure({ErrorCode::corrupt, "the raw text of a request is not what was recorded"});
  return *std::move(bytes);
}

// Clients put a comma between messages, so that several of them in a row are one stretch of their
// request.
std::string RequestTexts::bodies(const std::vector<PackedText::Run>& runs) const {
  const Log& log = history_.rep().log;
  std::string joined;
  for (const PackedText::Run& run : runs) {
    if (run.first > log.size() || run.count > log.size() - run.first)
      throw Failure({ErrorCode::corrupt, "a packed text refers to messages that are not there"});
    for (std::uint64_t ordinal = run.first; ordinal < run.first + run.count; ++ordinal) {
      joined += log.message(static_cast<std::uint32_t>(ordinal)).json();
      joined += ',';
    }
  }
  return joined;
}

std::string RequestTexts::reference(std::uint64_t base,
                                    const std::vector<PackedText::Run>& runs) const {
  return base == 0 ? bodies(runs) : request(base) + bodies(runs);
}

PackedText RequestTexts::packed(std::string_view text, std::uint64_t base, std::uint64_t depth,
                                const std::vector<std::uint64_t>& ordinals) const {
  PackedText made;
  made.size = text.size();
  made.digest = sha256(text);
  made.base = base;
  made.depth = depth;
  made.messages = PackedText::runs_of(ordinals);
  made.packed = pack(text, reference(base, made.messages));
  return made;
}

std::uint64_t RequestTexts::log_length(Version version) const {
  const History::Rep& rep = history_.rep();
  return rep.has_version(version.value) ? rep.versions[version.value].log_length : 0;
}

std::vector<std::uint64_t> RequestTexts::list_at(Version version,
                                                 std::uint64_t first_ordinal) const {
  std::vector<std::uint64_t> list = client_list_at(history_, version);
  std::erase_if(list, [&](std::uint64_t ordinal) { return ordinal < first_ordinal; });
  return list;
}

std::optional<RequestRow> RequestTexts::newest_with_text() const {
  const std::uint64_t last = rows_.last();
  const std::uint64_t first = last > rows_looked_back ? last - rows_looked_back + 1 : 1;
  for (std::uint64_t number = last; number >= first; --number) {
    std::vector<RequestRow> found = rows_.read(number, number + 1, RequestBytes::with);
    if (!found.empty() && !found.front().request.empty()) return std::move(found.front());
  }
  return {};
}

PackedText RequestTexts::packed_since(std::string_view text, Version version,
                                      const RequestRow& base, std::uint64_t base_depth) const {
  return packed(text, base.number, base_depth + 1,
                list_at(version, log_length(Version(base.version))));
}

PackedText RequestTexts::pack_request(std::string_view text, Version version) const {
  const std::optional<RequestRow> before = newest_with_text();
  if (!before) return packed(text, 0, 0, list_at(version, 0));
  const PackedText last = PackedText::read(before->request);
  PackedText best =
      last.base == 0
          ? packed_since(text, version, *before, 0)
          : packed_since(text, version, row(last.base, RequestBytes::without), last.depth - 1);
  if (best.packed.size() > small_pack_bytes && last.base != 0 && last.depth < depth_max) {
    PackedText next = packed_since(text, version, *before, last.depth);
    if (next.packed.size() < best.packed.size() / 2) best = std::move(next);
  }
  const std::size_t worth = best.depth >= depth_max ? large_pack_bytes : text.size() / 2;
  if (best.packed.size() > worth) {
    PackedText alone = packed(text, 0, 0, list_at(version, 0));
    if (best.depth >= depth_max || alone.packed.size() < best.packed.size())
      best = std::move(alone);
  }
  return best;
}

PackedText RequestTexts::pack_answer(std::string_view text, Version version,
                                     Version answer_version) const {
  std::vector<std::uint64_t> ordinals;
  if (answer_version > version)
    for (std::uint64_t ordinal = log_length(version); ordinal < log_length(answer_version);
         ++ordinal)
      ordinals.push_back(ordinal);
  return packed(text, 0, 0, ordinals);
}

std::vector<RequestRow> RequestTexts::without(
    Version first_version, const std::function<bool(std::uint64_t)>& goes) const {
  std::vector<RequestRow> changed;
  const std::uint64_t last = rows_.last();
  std::vector<bool> stays(last + 1, false);
  for (std::uint64_t number = 1; number <= last;) {
    const std::vector<RequestRow> some = rows_.read(number, last + 1, RequestBytes::with);
    if (some.empty()) break;
    for (const RequestRow& stored : some) {
      number = stored.number + 1;
      if (stored.number > last) break;
      stays[stored.number] = stored.version >= first_version.value || stored.number == last;
      if (!stays[stored.number]) continue;
      RequestRow again = stored;
      for (std::string* bytes : {&again.request, &again.answer}) {
        if (bytes->empty()) continue;
        const PackedText text = PackedText::read(*bytes);
        std::vector<std::uint64_t> kept;
        bool loses = text.base != 0 && !stays[text.base];
        for (const PackedText::Run& run : text.messages)
          for (std::uint64_t ordinal = run.first; ordinal < run.first + run.count; ++ordinal)
            goes(ordinal) ? void(loses = true) : kept.push_back(ordinal);
        if (!loses) continue;
        // The messages that its base had are in it as well: the list as it is now has most of them.
        if (text.base != 0 && !stays[text.base])
          for (const std::uint64_t ordinal : list_at(history_.version(), 0))
            if (!goes(ordinal) && std::find(kept.begin(), kept.end(), ordinal) == kept.end())
              kept.push_back(ordinal);
        const bool base_stays = text.base != 0 && stays[text.base];
        *bytes =
            packed(unpacked(text), base_stays ? text.base : 0, base_stays ? text.depth : 0, kept)
                .bytes();
      }
      if (again != stored) changed.push_back(std::move(again));
    }
  }
  return changed;
}

}  // namespace undertext
