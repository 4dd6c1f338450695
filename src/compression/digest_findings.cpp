#include "compression/digest_findings.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext::digest {

void FindingList::add(std::string_view text, std::string_view key, Voice voice,
                      std::uint64_t when) {
  if (!rows_.empty() && this->key(rows_.back()) == key) {
    rows_.back().last = when;
    rows_.back().voice = std::min(rows_.back().voice, voice);
    return;
  }
  // so that a small keep_max does not mean merging all the time
  constexpr std::size_t slack = 1u << 14;
  if (rows_.size() >= 2 * keep_max_ + slack) merge();
  rows_.push_back({std::hash<std::string_view>()(key), texts_.size(),
                   static_cast<std::uint32_t>(text.size()),
                   static_cast<std::uint32_t>(key.data() - text.data()),
                   static_cast<std::uint32_t>(key.size()), voice, when, when});
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
    if (kept > 0 && rows_[kept - 1].hash == rows_[i].hash &&
        key(rows_[kept - 1]) == key(rows_[i])) {
      Row& row = rows_[kept - 1];
      row.last = std::max(row.last, rows_[i].last);
      row.voice = std::min(row.voice, rows_[i].voice);
    } else {
      rows_[kept++] = rows_[i];
    }
  }
  rows_.resize(kept);
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::tie(a.voice, b.last) < std::tie(b.voice, a.last);
  });
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
  for (const Row& row : rows_)
    findings.push_back({std::string(text(row)), row.voice, row.first, row.last});
  rows_ = {};
  texts_ = {};
  return findings;
}

Findings::Findings(std::size_t keep_max)
    : lists_{FindingList(keep_max), FindingList(keep_max), FindingList(keep_max),
             FindingList(keep_max), FindingList(keep_max), FindingList(keep_max),
             FindingList(keep_max), FindingList(keep_max), FindingList(keep_max),
             FindingList(keep_max), FindingList(keep_max)} {}

void Findings::add(Kind kind, std::string_view text, std::string_view key, Voice voice) {
  if (key.empty()) return;
  if (kind == Kind::error && sink_ != nullptr) {
    constexpr std::size_t errors_of_one_max = 64;
    if (sink_->size() >= errors_of_one_max) sink_->erase(sink_->begin() + errors_of_one_max / 2);
    sink_->push_back(
        {std::string(text), static_cast<std::size_t>(key.data() - text.data()), tick()});
    return;
  }
  add_at(kind, text, key, voice, tick());
}

void Findings::add_at(Kind kind, std::string_view text, std::string_view key, Voice voice,
                      std::uint64_t when) {
  if (!key.empty()) lists_[static_cast<std::size_t>(kind)].add(text, key, voice, when);
}

bool ends_with_path(std::string_view path, std::string_view end) {
  if (end.empty() || !path.ends_with(end)) return false;
  if (path.size() == end.size()) return true;
  const char before = path[path.size() - end.size() - 1];
  return before == '/' || before == '\\';
}

void Findings::add_change(const FileChange& change, std::uint64_t count) {
  constexpr std::size_t files_max = 4096;
  const std::string path = one_line(clean(change.path));
  if (path.empty() || path.find(".git/") != std::string::npos) return;
  const std::uint64_t now = tick();
  FileChangeKind kind = change.kind;
  std::string from;
  if (kind == FileChangeKind::renamed) {
    from = one_line(clean(change.from));
    if (const auto old = changed_.find(from); old != changed_.end()) {
      if (old->second.kind == FileChangeKind::created) kind = FileChangeKind::created;
      if (old->second.kind == FileChangeKind::renamed) from = old->second.from;
      changed_.erase(old);
    }
    if (kind == FileChangeKind::created) from.clear();
  }
  auto found = changed_.find(path);
  // Git is given paths from where it runs, an editor often absolute ones.
  if (found == changed_.end() && kind == FileChangeKind::restored)
    found = std::find_if(changed_.begin(), changed_.end(),
                         [&](const auto& known) { return ends_with_path(known.first, path); });
  if (found == changed_.end()) {
    if (changed_.size() >= files_max) return;
    changed_.emplace(path, ChangedFile{path, kind, std::move(from), count, now, now});
    return;
  }
  ChangedFile& file = found->second;
  file.last = now;
  file.count += count;
  if (kind == FileChangeKind::deleted || kind == FileChangeKind::restored ||
      file.kind == FileChangeKind::deleted || file.kind == FileChangeKind::formatted ||
      file.kind == FileChangeKind::restored) {
    file.kind = kind;
  } else if (kind == FileChangeKind::created && file.kind == FileChangeKind::edited) {
    // Written whole, but it was there before.
  } else if (kind == FileChangeKind::renamed) {
    file.kind = kind;
    file.from = std::move(from);
  }
}

std::vector<ChangedFile> Findings::changes() const {
  std::vector<ChangedFile> files;
  files.reserve(changed_.size());
  for (const auto& [path, file] : changed_) files.push_back(file);
  // The longest path first, so that "src/a.c" finds "/repo/src/a.c" before it; by base name, so
  // that few are compared.
  std::sort(files.begin(), files.end(), [](const ChangedFile& a, const ChangedFile& b) {
    const int names = base_name(a.path).compare(base_name(b.path));
    return names != 0 ? names < 0
                      : std::tuple(b.path.size(), a.path) < std::tuple(a.path.size(), b.path);
  });
  std::vector<ChangedFile> merged;
  std::size_t group = 0;  // where the files of this name begin
  for (ChangedFile& file : files) {
    if (merged.empty() || base_name(merged.back().path) != base_name(file.path))
      group = merged.size();
    const auto same = std::find_if(
        merged.begin() + static_cast<std::ptrdiff_t>(group), merged.end(),
        [&](const ChangedFile& longer) { return ends_with_path(longer.path, file.path); });
    if (same == merged.end()) {
      merged.push_back(std::move(file));
      continue;
    }
    if (file.last > same->last && file.kind != FileChangeKind::formatted &&
        !(same->kind == FileChangeKind::created && file.kind == FileChangeKind::edited)) {
      same->kind = file.kind;
      same->from = file.from;
    }
    same->count += file.count;
    same->first = std::min(same->first, file.first);
    same->last = std::max(same->last, file.last);
  }
  std::sort(merged.begin(), merged.end(),
            [](const ChangedFile& a, const ChangedFile& b) { return a.last > b.last; });
  return merged;
}

void Findings::add_tool_calls(std::string_view name, std::uint64_t count) {
  const auto found = tools_.find(name);
  Calls& calls = found != tools_.end() ? found->second
                                       : tools_.emplace(name, Calls{++clock_, 0}).first->second;
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
    findings.push_back(
        {*tool + " ×" + std::to_string(calls.count), Voice::spoken, calls.first, calls.first});
  return findings;
}

}  // namespace undertext::digest
