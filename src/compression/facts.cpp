#include "compression/facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "compression/digest_findings.hpp"
#include "compression/digest_form.hpp"
#include "compression/digest_read.hpp"
#include "compression/digest_text.hpp"
#include "compression/fact_search.hpp"
#include "compression/originals.hpp"
#include "history/state.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

constexpr std::size_t facts_max = 1u << 14;  // of one kind

void go_on(const Work* work) {
  if (work != nullptr) work->go_on();
}

void add_strings(const JsonValue& value, std::string& out, unsigned depth) {
  constexpr unsigned said_depth_max = 32;
  if (depth > said_depth_max) return;
  if (value.is(JsonType::string)) {
    const std::string text = value.string();
    JsonText json;
    const std::string_view body = digest::trim(text);
    if ((body.starts_with('{') || body.starts_with('[')) &&
        !json.read(body, {.depth = said_depth_max}))
      return add_strings(json.root(), out, depth + 1);
    (out += digest::one_line(digest::clean(text))) += '\n';
  }
  if (value.is(JsonType::array))
    for (const JsonValue element : value.elements()) add_strings(element, out, depth + 1);
  if (value.is(JsonType::object))
    for (const JsonMember member : value.members()) add_strings(member.value, out, depth + 1);
}

void add_said(const Message& message, std::string& out) {
  const MessageReading reading(message);
  const auto add_text = [&out](std::string_view body) {
    (out += digest::one_line(digest::clean(decoded(body)))) += '\n';
    return true;
  };
  for (const Block& block : reading.turn().blocks) {
    visit_texts(block, add_text);
    if (block.kind != BlockKind::call && (block.kind != BlockKind::result || block.is_list))
      continue;
    JsonText json;
    if (!block.json.empty() &&
        !json.read(block.json, {.depth = std::numeric_limits<std::uint32_t>::max()}))
      add_strings(json.root(), out, 0);
  }
}

digest::Section section_of(FactKind kind) {
  switch (kind) {
    case FactKind::constraints: return digest::Section::constraints;
    case FactKind::request: return digest::Section::request;
    case FactKind::plan: return digest::Section::plan;
    case FactKind::changed_files: return digest::Section::changes;
    case FactKind::results: return digest::Section::results;
    case FactKind::errors: return digest::Section::errors;
    case FactKind::attempts: return digest::Section::attempts;
    case FactKind::next_step: return digest::Section::next_step;
    case FactKind::paths: return digest::Section::files;
    case FactKind::commands: return digest::Section::commands;
    case FactKind::urls: return digest::Section::urls;
  }
  return digest::Section::files;
}

// A summary quotes, and a quotation binds nobody: its facts are those of what it stands for, as far
// as the view says them. What a summary left out was lost before.
Facts facts_shown(const View& view) {
  std::vector<Message> messages;
  Originals originals(view.rep().log);
  bool has_summary = false;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    const auto ordinal = static_cast<std::uint32_t>(view.ordinal(i).value);
    has_summary = has_summary || view.rep().log.originals(ordinal) != nullptr;
    messages.push_back(view[i]);
    originals.add(ordinal);
  }
  const Work* const work = view.rep().log.work.get();
  const Facts plain = facts_of(messages, {}, work);
  if (!has_summary) return plain;
  Facts facts = facts_of(originals.take(), {}, work);
  const std::string said = all_said(view, work);
  for (std::size_t kind = 0; kind < facts.size(); ++kind) {
    const std::set<std::string_view> is_plain(plain[kind].begin(), plain[kind].end());
    const std::vector<bool> in_view = are_said(facts[kind], said, work);
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < facts[kind].size(); ++i)
      if (in_view[i] || is_plain.contains(facts[kind][i]))
        shown.push_back(std::move(facts[kind][i]));
    facts[kind] = std::move(shown);
  }
  return facts;
}

Survival::Count count_of(std::span<const std::string> facts, std::string_view flat_text,
                         const Work* work) {
  const std::vector<bool> said = are_said(facts, flat_text, work);
  Survival::Count count;
  count.facts = facts.size();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (said[i]) {
      ++count.kept;
    } else {
      count.lost.push_back(facts[i]);
    }
  }
  return count;
}

std::vector<std::string> texts_of(std::vector<digest::Finding> findings) {
  std::sort(findings.begin(), findings.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> texts;
  for (digest::Finding& finding : findings) texts.push_back(std::move(finding.text));
  return texts;
}

}  // namespace

std::string_view name(FactKind kind) {
  switch (kind) {
    case FactKind::constraints: return "constraints";
    case FactKind::request: return "request";
    case FactKind::plan: return "plan";
    case FactKind::changed_files: return "changedFiles";
    case FactKind::results: return "results";
    case FactKind::errors: return "errors";
    case FactKind::attempts: return "attempts";
    case FactKind::next_step: return "nextStep";
    case FactKind::paths: return "paths";
    case FactKind::commands: return "commands";
    case FactKind::urls: return "urls";
  }
  return "";
}

bool SurvivalPolicy::asks_for_something() const {
  return std::any_of(least.begin(), least.end(), [](double part) { return part > 0; });
}

Facts facts_of(std::span<const Message> messages, std::span<const Message> after,
               const Work* work) {
  digest::Findings findings(facts_max);
  digest::Reader reader(findings);
  for (const Message& message : messages) {
    go_on(work);
    reader.read(message);
  }
  for (const Message& message : after) {
    go_on(work);
    reader.read_after(message, digest::Reader::Results::shown);
  }
  reader.finish();
  Facts facts;
  const auto of = [&facts](FactKind kind) -> std::vector<std::string>& {
    return facts[static_cast<std::size_t>(kind)];
  };
  of(FactKind::constraints) = texts_of(findings.take(digest::Kind::constraint));
  if (!findings.requests().empty()) of(FactKind::request).push_back(findings.requests().back());
  for (const PlanItem& item : findings.plan()) of(FactKind::plan).push_back(item.text);
  for (const digest::ChangedFile& file : findings.changes())
    of(FactKind::changed_files).push_back(file.path);
  for (const digest::Run* run : findings.runs().last_checks())
    of(FactKind::results).push_back(run->outcome);
  of(FactKind::errors) = texts_of(findings.take(digest::Kind::error));
  of(FactKind::attempts) = texts_of(findings.take(digest::Kind::attempt));
  if (!findings.next_step().empty()) of(FactKind::next_step).push_back(findings.next_step());
  of(FactKind::paths) = texts_of(findings.take(digest::Kind::file));
  of(FactKind::commands) = texts_of(findings.take(digest::Kind::command));
  of(FactKind::urls) = texts_of(findings.take(digest::Kind::url));
  return facts;
}

std::string all_said(std::span<const Message> messages, const Work* work) {
  std::string out;
  for (const Message& message : messages) {
    go_on(work);
    add_said(message, out);
  }
  return out;
}

std::string all_said(const View& view, const Work* work) {
  std::string out;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    go_on(work);
    add_said(view[i], out);
  }
  return out;
}

Survival survival_in(const Facts& facts, std::string_view flat_text, const Work* work) {
  Survival survived;
  for (std::size_t i = 0; i < facts.size(); ++i)
    survived.kinds[i] = count_of(facts[i], flat_text, work);
  return survived;
}

std::optional<Error> refused_by(const SurvivalPolicy& policy, const Survival& survived) {
  for (std::size_t i = 0; i < fact_kind_count; ++i) {
    const Survival::Count& count = survived.kinds[i];
    if (count.part() >= policy.least[i]) continue;
    return Error{ErrorCode::cannot_fit,
                 "the plan would keep " + std::to_string(count.kept) + " of " +
                     std::to_string(count.facts) + " " +
                     std::string(name(static_cast<FactKind>(i))) +
                     ", which is less than the survival policy asks for",
                 "survival"};
  }
  return {};
}

std::string missing_sections(const Facts& facts, std::string_view text, std::string_view kept,
                             const SurvivalPolicy& policy, std::uint64_t tokens_max,
                             const std::function<std::uint64_t(std::string_view)>& count,
                             const Work* work) {
  std::string flat;
  digest::for_each_line(text,
                        [&](std::string_view line) { (flat += digest::one_line(line)) += '\n'; });
  (flat += digest::one_line(text)) += '\n';
  flat += kept;
  std::string sections;
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const FactKind kind = static_cast<FactKind>(i);
    const bool is_wanted = kind == FactKind::constraints || kind == FactKind::changed_files;
    const double least = std::max(policy.least[i], is_wanted ? 1.0 : 0.0);
    if (least <= 0) continue;
    std::vector<std::string_view> missing;
    const std::vector<bool> said = are_said(facts[i], flat, work);
    for (std::size_t k = 0; k < facts[i].size(); ++k)
      if (!said[k]) missing.push_back(facts[i][k]);
    const std::size_t wanted =
        static_cast<std::size_t>(std::ceil(least * static_cast<double>(facts[i].size())));
    const std::size_t there = facts[i].size() - missing.size();
    std::size_t needed = wanted > there ? wanted - there : 0;
    std::size_t first = missing.size();  // of those that are added: the newest
    for (; first > 0 && needed > 0; --first, --needed) {
      go_on(work);
      const std::uint64_t heading =
          first == missing.size() ? count(digest::heading(section_of(kind))) : 0;
      const std::uint64_t cost = count("\n- " + std::string(missing[first - 1])) + heading;
      if (used + cost > tokens_max) break;
      used += cost;
    }
    if (first == missing.size()) continue;
    (sections += sections.empty() ? "" : "\n") += digest::heading(section_of(kind));
    for (; first < missing.size(); ++first) (sections += "\n- ") += missing[first];
  }
  return sections;
}

Survival survival(const History& before, const History& after) {
  const View view = before.view();
  const Work* const work = view.rep().log.work.get();
  return survival_in(facts_shown(view), all_said(after.view(), work), work);
}

Survival::Count survival_of(std::span<const std::string> facts, const History& after) {
  const View view = after.view();
  const Work* const work = view.rep().log.work.get();
  return count_of(facts, all_said(view, work), work);
}

}  // namespace undertext
