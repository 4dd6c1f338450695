#include "history/derived.hpp"

#include <algorithm>
#include <map>

#include "history/merged.hpp"
#include "history/operation_table.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

class TextFields {
 public:
  explicit TextFields(const std::function<void(std::string&)>& edit) : edit_(edit) {}

  void need(FieldName name, auto& value) { visit(name, value); }
  void take(FieldName name, auto& value) { visit(name, value); }
  void preset(FieldName name, auto& value) { visit(name, value); }
  void filled(FieldName name, auto& value) { visit(name, value); }
  void since(std::uint8_t, FieldName, auto&) {}
  void messages(FieldName, std::vector<Message>&) {}
  void message(FieldName, std::vector<Message>&) {}
  void summary(FieldName, std::optional<Message>&) {}
  void names(Names&) {}
  void index_or_names(Names&) {}
  template <class... T>
  void choice(std::variant<T...>& chosen, const WordsOf<T...>&) {
    std::visit([&](auto& alternative) { visit("", alternative); }, chosen);
  }

 private:
  static bool is_name(FieldName name) {
    return name.request == "mark" || name.request == "strategy" || name.request == "summariser" ||
           name.request == "model" || name.request == "from";
  }
  void visit(FieldName name, std::string& text) {
    if (!is_name(name)) edit_(text);
  }
  void visit(FieldName name, std::vector<std::string>& texts) {
    for (std::string& text : texts) visit(name, text);
  }
  void visit(FieldName, SetMetadata& change) {
    std::string object = change.object_json;
    edit_(object);
    if (object != change.object_json) change.object_json = "{}";
  }
  void visit(FieldName, auto& value) {
    if constexpr (Described<std::remove_reference_t<decltype(value)>>) describe(*this, value);
  }

  const std::function<void(std::string&)>& edit_;
};

}  // namespace

namespace {

// By ordinal, the messages of RECALL that quote it.
std::multimap<std::uint32_t, std::uint32_t> quoting_messages(const History::Rep& rep) {
  std::multimap<std::uint32_t, std::uint32_t> found;
  for (std::uint64_t version = 0; version <= rep.head_number(); ++version) {
    const VersionRow row = rep.versions[version];
    const auto* recalled =
        row.operation ? std::get_if<op::Recalled>(&row.operation->operation.what) : nullptr;
    if (!recalled || row.log_length == 0) continue;
    for (const std::uint64_t quoted : recalled->quoted)
      if (quoted < rep.log.size())
        found.emplace(static_cast<std::uint32_t>(quoted), row.log_length - 1);
  }
  return found;
}

}  // namespace

std::vector<std::uint32_t> derived_from(const History::Rep& rep,
                                        const std::vector<std::uint32_t>& ordinals) {
  const Log& log = rep.log;
  const std::multimap<std::uint32_t, std::uint32_t> quoting = quoting_messages(rep);
  std::vector<bool> seen(log.size(), false);
  std::vector<std::uint32_t> next = ordinals, derived;
  for (const std::uint32_t ordinal : ordinals) seen[ordinal] = true;
  // A fork's messages are in place of its summary, but were not made from it.
  for (const TakenFromFork& taken : taken_from_forks(rep))
    for (std::size_t i = 0; i < taken.ordinals.size(); ++i) seen[taken.first + i] = true;
  while (!next.empty()) {
    const std::uint32_t original = next.back();
    next.pop_back();
    std::vector<std::uint32_t> all = log.stand_ins_of(original);
    for (auto [at, end] = quoting.equal_range(original); at != end; ++at) all.push_back(at->second);
    for (const std::uint32_t made : all) {
      if (seen[made]) continue;
      seen[made] = true;
      next.push_back(made);
      derived.push_back(made);
    }
  }
  std::sort(derived.begin(), derived.end());
  return derived;
}

void edit_texts(RecordedOperation& record, const std::function<void(std::string&)>& edit) {
  std::visit([io = TextFields(edit)](auto& what) mutable { describe(io, what); },
             record.operation.what);
  if (!record.operation.options.description.empty()) edit(record.operation.options.description);
}

QuotingOperations::QuotingOperations(const QuotableTexts& texts, const History& history,
                                     const std::vector<std::uint32_t>& derived)
    : texts_(texts) {
  const History::Rep& rep = history.rep();
  for (const std::uint32_t ordinal : derived)
    makers_.push_back(static_cast<std::uint32_t>(rep.version_that_stored(ordinal)));
  makers_.erase(std::unique(makers_.begin(), makers_.end()), makers_.end());
  for (std::uint64_t version = 0; version <= rep.head_number(); ++version) {
    const VersionRow row = rep.versions[version];
    if (!row.operation) continue;
    RecordedOperation record = *row.operation;
    if (redact(record, version)) versions_.push_back(static_cast<std::uint32_t>(version));
  }
}

bool QuotingOperations::redact(RecordedOperation& record, std::uint64_t version) const {
  constexpr std::size_t bytes_min = 4;  // less tells nothing of a message
  const bool made_it = traits_of(record.operation).may_quote &&
                       std::binary_search(makers_.begin(), makers_.end(), version);
  bool found = false;
  edit_texts(record, [&](std::string& text) {
    if (text == redacted_text || !((made_it && text.size() >= bytes_min) || texts_.quoted_in(text)))
      return;
    text = redacted_text;
    found = true;
  });
  return found;
}

History QuotingOperations::redacted(const History& history) const {
  auto made = std::make_shared<History::Rep>(history.rep());
  for (const std::uint32_t version : versions_) {
    VersionRow row = made->versions[version];
    LinkedOperation operation = *row.operation;
    redact(operation, version);
    row.operation = Shared<LinkedOperation>::make(std::move(operation));
    made->versions.splice(version, 1, {&row, 1});
  }
  return History(std::move(made));
}

}  // namespace undertext
