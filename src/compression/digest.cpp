// The digest: what was found, chosen within a budget. Everything that could be shown is put into one line of order, the dearest first, and a
// digest is as much of its beginning as fits; so a smaller budget never shows what a larger one does not. docs/digest.md gives that order.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <undertext/summariser.hpp>

#include "compression/digest_findings.hpp"
#include "compression/digest_form.hpp"
#include "compression/digest_read.hpp"
#include "compression/digest_text.hpp"

namespace undertext {
namespace digest {
namespace {

// Of each list this many come before the rest of any, so that a thousand paths do not push out the last error.
constexpr std::size_t head_count = 8;
// How much of a request is shown, as room allows. The last is all of it.
constexpr std::array<std::size_t, 5> request_bytes = {80, 240, 1000, 4000, std::numeric_limits<std::size_t>::max()};
constexpr std::size_t reply_bytes = 240;

// A line that could be shown. One of the same section and place, chosen later, takes its place.
struct Offer {
  Section section;
  std::uint64_t place;  // lines of a section stand in this order
  std::string text;
};

class Order {
 public:
  explicit Order(Findings& findings) : findings_(findings), requests_(findings.requests()) {
    for (const auto& [section, kind] : lists) found_.push_back({section, findings.take(kind), 0});
  }

  // All that could be shown, the dearest first.
  std::vector<Offer> take() {
    add_requests(0);
    add_requests(1);
    for (List& list : found_)
      if (list.section != Section::answered_questions && list.section != Section::numbers) add_some(list, head_count);
    add_requests(2);
    for (List& list : found_)
      if (list.section != Section::answered_questions && list.section != Section::numbers) add_some(list, list.findings.size());
    add_requests(3);
    if (!findings_.last_reply().empty())
      offers_.push_back({Section::last_reply, 0, "- " + shorten(findings_.last_reply(), reply_bytes)});
    add_all(Section::answered_questions);
    for (const Finding& tool : findings_.tools()) offers_.push_back({Section::tools, tool.first, "- " + tool.text});
    add_all(Section::numbers);
    add_requests(4);
    return std::move(offers_);
  }

 private:
  struct List {
    Section section;
    std::vector<Finding> findings;
    std::size_t added;
  };
  static constexpr std::pair<Section, Kind> lists[] = {
      {Section::open_questions, Kind::open_question},
      {Section::decisions, Kind::decision},
      {Section::errors, Kind::error},
      {Section::files, Kind::file},
      {Section::commands, Kind::command},
      {Section::urls, Kind::url},
      {Section::answered_questions, Kind::answered_question},
      {Section::numbers, Kind::number},
  };

  // The last one first, then the first one, which is often the task itself; then backwards.
  void add_requests(std::size_t level) {
    const std::size_t count = requests_.size();
    if (count == 0) return;
    add_request(count - 1, level);
    if (count > 1) add_request(0, level);
    for (std::size_t i = count - 1; i-- > 1;) add_request(i, level);
  }

  void add_request(std::size_t index, std::size_t level) {
    const std::string& request = requests_[index];
    if (level > 0 && request.size() <= request_bytes[level - 1]) return;  // shown in full already
    offers_.push_back(
        {Section::requests, index, std::to_string(index + 1) + ". \"" + shorten(request, request_bytes[level]) + "\""});
  }

  void add_some(List& list, std::size_t until) {
    for (; list.added < std::min(until, list.findings.size()); ++list.added) {
      const Finding& finding = list.findings[list.added];
      offers_.push_back({list.section, finding.first, "- " + finding.text});
    }
  }

  void add_all(Section section) {
    for (List& list : found_)
      if (list.section == section) add_some(list, list.findings.size());
  }

  Findings& findings_;
  const std::vector<std::string>& requests_;
  std::vector<List> found_;
  std::vector<Offer> offers_;
};

class Counter {
 public:
  explicit Counter(const SummaryRequest& request) : count_(request.count_tokens), empty_(count("")) {}

  std::uint64_t count(std::string_view text) const {
    constexpr std::uint64_t bytes_per_token = 3;  // few texts have more tokens than this says
    return count_ ? count_(text) : (text.size() + bytes_per_token - 1) / bytes_per_token;
  }

  // What a line adds to a text: at least one token, and not what a counter adds to any text.
  std::uint64_t cost(std::string_view line) const {
    const std::uint64_t tokens = count(std::string(line) + "\n");
    return tokens > empty_ ? tokens - empty_ : 1;
  }

  std::uint64_t empty() const { return empty_; }

 private:
  const std::function<std::uint64_t(std::string_view)>& count_;
  std::uint64_t empty_;
};

std::string write(std::vector<const Offer*> offers, std::string_view title) {
  // Of one place the last offer is the one that counts: it says most. All stand in one vector, so that addresses tell which is later.
  std::sort(offers.begin(), offers.end(), [](const Offer* a, const Offer* b) {
    return std::tuple(a->section, a->place, a) < std::tuple(b->section, b->place, b);
  });
  std::string text(title);
  const Offer* previous = nullptr;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Offer* const offer = offers[i];
    if (i + 1 < offers.size() && offers[i + 1]->section == offer->section && offers[i + 1]->place == offer->place) continue;
    if (previous == nullptr || previous->section != offer->section) (text += '\n') += heading(offer->section);
    (text += '\n') += offer->text;
    previous = offer;
  }
  return text;
}

Error cannot_fit(std::uint64_t tokens_min, std::uint64_t tokens_max) {
  return {.code = ErrorCode::cannot_fit,
          .message = "a digest of these messages takes at least " + std::to_string(tokens_min) + " tokens; " +
                     std::to_string(tokens_max) + " are allowed"};
}

Result<Summary> choose(const std::vector<Offer>& offers, std::string_view title, const SummaryRequest& request) {
  const Counter counter(request);
  if (offers.empty() || counter.count(write({&offers.front()}, title)) > request.tokens_max) {
    const std::uint64_t minimum = counter.count(title);
    if (minimum > request.tokens_max) return cannot_fit(minimum, request.tokens_max);
    return Summary{.text = std::string(title)};
  }

  // Each line is counted once and alone. Tokenizers do not join lines, so their sum is what the whole has, or nearly.
  std::uint64_t tokens = counter.empty() + counter.cost(title);
  std::vector<std::uint64_t> costs;  // of the offers chosen, each with its heading where it is the first
  std::array<bool, headings.size()> headed = {};
  std::vector<std::uint64_t> request_costs;  // by place
  for (const Offer& offer : offers) {
    const std::uint64_t line = counter.cost(offer.text);
    std::uint64_t cost = line;
    if (!std::exchange(headed[static_cast<std::size_t>(offer.section)], true)) cost += counter.cost(heading(offer.section));
    if (offer.section == Section::requests) {
      request_costs.resize(std::max<std::size_t>(request_costs.size(), offer.place + 1));
      const std::uint64_t before = std::exchange(request_costs[offer.place], line);
      cost -= std::min(before, cost);
    }
    if (!costs.empty() && (cost > request.tokens_max || tokens > request.tokens_max - cost)) break;
    tokens += cost;
    costs.push_back(cost);
  }

  // The sum was nearly right at most; the whole decides. Twice as much goes at each attempt, so there are few.
  for (std::size_t drop_min = 1;; drop_min *= 2) {
    std::vector<const Offer*> chosen;
    chosen.reserve(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) chosen.push_back(&offers[i]);
    std::string text = write(std::move(chosen), title);
    const std::uint64_t total = counter.count(text);
    if (total <= request.tokens_max) return Summary{.text = std::move(text)};
    if (costs.size() <= 1) return cannot_fit(total, request.tokens_max);
    std::uint64_t dropped = 0;
    for (std::size_t count = 0; costs.size() > 1 && (count < drop_min || dropped < total - request.tokens_max); ++count) {
      dropped += costs.back();
      costs.pop_back();
    }
  }
}

class DigestSummariser final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "digest"; }
  bool is_slow() const noexcept override { return false; }

  Result<Summary> summarise(const SummaryRequest& request) const override {
    if (request.messages.empty())
      return Error{.code = ErrorCode::invalid_argument, .message = "there are no messages to summarise", .field = "messages"};
    if (request.tokens_max == 0) return cannot_fit(1, 0);
    // A line has at least one token, so more lines than tokens are never shown.
    constexpr std::uint64_t keep_max = 1u << 16;
    Findings findings(static_cast<std::size_t>(std::min(request.tokens_max, keep_max)));
    Reader reader(findings);
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      if (request.cancel.stop_requested()) return Error{.code = ErrorCode::unavailable, .message = "the summary was cancelled"};
      const bool is_summary = std::find(request.summaries.begin(), request.summaries.end(), i) != request.summaries.end();
      reader.read(request.messages[i], is_summary ? Reader::Origin::summary : Reader::Origin::original);
    }
    reader.finish();
    return choose(Order(findings).take(), title(reader.messages()), request);
  }
};

}  // namespace
}  // namespace digest

std::shared_ptr<const Summariser> digest_summariser() {
  static const std::shared_ptr<const Summariser> digest = std::make_shared<const digest::DigestSummariser>();
  return digest;
}

}  // namespace undertext
