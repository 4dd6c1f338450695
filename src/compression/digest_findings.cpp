#include "compression/digest_findings.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext::digest {

void FindingList::add(std::string_view text, std::string_view key, Voice voice, std::uint64_t when) {
  if (!rows_.empty() && this->key(rows_.back()) == key) {
    rows_.back().last = when;
    rows_.back().voice = std::min(rows_.back().voice, voice);
    return;
  }
  constexpr std::size_t slack = 1u << 14;  // so that a small keep_max does not mean merging all the time
  if (rows_.size() >= 2 * keep_max_ + slack) merge();
  rows_.push_back({std::hash<std::string_view>()(key), texts_.size(), static_cast<std::uint32_t>(text.size()),
                   static_cast<std::uint32_t>(key.data() - text.data()), static_cast<std::uint32_t>(key.size()), voice, when,
                   when});
  texts_ += text;
}

void FindingList::merge() {
  std::sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const int order = key(a).compare(key(b));
    return order != 0 ? order < 0 : a.first < b.first;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (kept > 0 && rows_[kept - 1].hash == rows_[i].hash && key(rows_[kept - 1]) == key(rows_[i])) {
      Row& row = rows_[kept - 1];
      row.last = std::max(row.last, rows_[i].last);
      row.voice = std::min(row.voice, rows_[i].voice);
    } else {
      rows_[kept++] = rows_[i];
    }
  }
  rows_.resize(kept);
  std::sort(rows_.begin(), rows_.end(),
            [](const Row& a, const Row& b) { return std::tie(a.voice, b.last) < std::tie(b.voice, a.last); });
  if (rows_.size() > keep_max_) rows_.resize(keep_max_);
  std::string texts;
  for (Row& row : rows_) {
    const std::size_t at = texts.size();
    texts += text(row);
    row.text_at = at;
  }
  texts_ = std::move(texts);
}

std::vector<Finding> FindingList::take() {
  merge();
  std::vector<Finding> findings;
  findings.reserve(rows_.size());
  for (const Row& row : rows_) findings.push_back({std::string(text(row)), row.voice, row.first, row.last});
  rows_ = {};
  texts_ = {};
  return findings;
}

Findings::Findings(std::size_t keep_max)
    : lists_{FindingList(keep_max), FindingList(keep_max), FindingList(keep_max), FindingList(keep_max),
             FindingList(keep_max), FindingList(keep_max), FindingList(keep_max), FindingList(keep_max)} {}

void Findings::add(Kind kind, std::string_view text, std::string_view key, Voice voice) {
  if (!key.empty()) lists_[static_cast<std::size_t>(kind)].add(text, key, voice, ++clock_);
}

void Findings::add_tool_calls(std::string_view name, std::uint64_t count) {
  const auto found = tools_.find(name);
  Calls& calls = found != tools_.end() ? found->second : tools_.emplace(name, Calls{++clock_, 0}).first->second;
  calls.count += std::min(count, ~std::uint64_t{0} - calls.count);
}

std::vector<Finding> Findings::tools() const {
  std::vector<std::pair<const std::string*, Calls>> called;
  called.reserve(tools_.size());
  for (const auto& [tool, calls] : tools_) called.emplace_back(&tool, calls);
  std::sort(called.begin(), called.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second.count, a.second.first) < std::tie(a.second.count, b.second.first);
  });
  std::vector<Finding> findings;
  findings.reserve(called.size());
  for (const auto& [tool, calls] : called)
    findings.push_back({*tool + " ×" + std::to_string(calls.count), Voice::spoken, calls.first, calls.first});
  return findings;
}

}  // namespace undertext::digest
