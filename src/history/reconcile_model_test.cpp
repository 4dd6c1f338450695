// Random clients that keep their own list, with edits in between: after every request all laws of
// RECONCILE hold (docs/clients.md).
//
//     SEED=n   the first run          RUNS=n   how many; 10000 takes minutes
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/client_match.hpp"
#include "history/operation_bytes.hpp"
#include "history/random_client.hpp"
#include "history/replay.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

// Some answers call a tool: the client writes the arguments again, as it likes.
std::string call_of(const Remembered& message, bool anew) {
  if (message.role != "assistant" || message.text.size() % 2 != 0) return "";
  const char* const arguments =
      anew ? R"({ \"of\" : [1.0, 2e0],\"q\":\"\\u0061\"})" : R"({\"q\":\"a\",\"of\":[1,2]})";
  return R"(,"toolCalls":[{"id":"c )" + message.text + R"(","name":"f","arguments":")" + arguments +
         R"("}])";
}

std::string spelled(const Remembered& message, bool as_list) {
  const std::string head = R"({"role":")" + message.role + R"(","content":)",
                    call = call_of(message, as_list) + "}";
  if (!as_list) return head + '"' + message.text + '"' + call;
  return head + R"([{"type":"text","text":")" + message.text +
         R"(","cache_control":{"type":"ephemeral"}}])" + call;
}

std::vector<std::uint64_t> ordinals_of(const View& view) {
  std::vector<std::uint64_t> ordinals;
  for (std::uint64_t i = 0; i < view.size(); ++i) ordinals.push_back(view.ordinal(i).value);
  return ordinals;
}

std::vector<std::uint64_t> values(const std::vector<Ordinal>& ordinals) {
  std::vector<std::uint64_t> numbers;
  for (const Ordinal ordinal : ordinals) numbers.push_back(ordinal.value);
  return numbers;
}

class Story : RandomClient {
 public:
  explicit Story(std::uint64_t seed) : RandomClient(seed), client_edits_only_(one_in(3)) {}

  void run() {
    for (std::uint64_t steps = 3 + below(25); steps > 0 && !::testing::Test::HasFatalFailure();
         --steps) {
      change_list();
      if (one_in(3)) take_left_out();
      if (one_in(8)) {
        compact_by_answer();
      } else if (!client_edits_only_) {
        edit_conversation();
      } else if (one_in(2)) {
        answer_client();
      }
      send();
      while (one_in(4) && !::testing::Test::HasFatalFailure())
        if (!send_delta()) break;
    }
  }

 private:
  void edit_conversation() {
    for (std::uint64_t edits = below(3); edits > 0; --edits) {
      const std::uint64_t n = history_.view().size(), stored = history_.stats().total_messages;
      const std::uint64_t from = below(n), count = 1 + below(std::min<std::uint64_t>(n - from, 5));
      std::vector<std::uint64_t> stretch;
      for (std::uint64_t i = 0; i < count && n > 0; ++i) stretch.push_back(from + i);
      switch (below(22)) {
        case 0:
        case 1:
        case 2:
          edit(op::Compress{Names::indices(stretch),
                            Message::make(Role::user, "S" + std::to_string(next_text_++)).value()});
          break;
        case 3: edit(op::Show{{below(stored)}}); break;
        case 4: edit(op::Delete{Names::indices({from})}); break;
        case 5: edit(op::Mark{Names::ordinals({below(stored)}), one_in(2) ? "pinned" : "m"}); break;
        case 6: edit(op::Expand{from}); break;
        case 7: edit(op::Transform{Names::indices({from}), op::ReplaceText{"t", "T"}}); break;
        case 8: edit(op::Undo{}); break;
        case 9: edit(op::Rollback{below(history_.stats().total_batches)}); break;
        case 10: edit(op::Insert{from, {made_message()}}); break;
        case 11: edit(op::Replace{Names::indices({from}), {made_message()}}); break;
        case 12: edit(op::Merge{{from, from + 1}}); break;
        case 13: edit(op::Split{from, {1}}); break;
        case 14: edit(op::Truncate{.keep_last = 1 + below(8)}); break;
        case 15: edit(op::Filter{.roles = {Role::user, Role::system}}); break;
        case 16: edit(op::Clear{one_in(2)}); break;
        case 17: edit(op::Restore{below(history_.version().value + 1)}); break;
        case 18: edit(op::Redo{}); break;
        case 19: edit(op::StartBatch{.hide_prior = one_in(2)}); break;
        case 20:
          edit(op::EndBatch{below(history_.stats().total_batches), {Role::assistant}});
          break;
        default: answer_client();
      }
    }
  }

  // An answer that the client left out turns up where it was given, unless what the client has
  // behind that stands before the answer: older messages came back, or one took another answer's place.
  void take_left_out() {
    if (left_out_.empty()) return;
    const std::size_t which = below(left_out_.size());
    const auto [before, answer] = left_out_[which];
    left_out_.erase(left_out_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto found = std::find(list_.begin(), list_.end(), before);
    if (found == list_.end()) return;
    const View log = history_.log();
    const LogOrder& order = history_.rep().log.order;
    const auto ordinal_of = [&](const Remembered& message) {
      std::uint32_t ordinal = 0;
      while (ordinal < log.size() && log[ordinal].text() != message.text) ++ordinal;
      return ordinal;
    };
    const std::uint32_t answered = ordinal_of(answer);
    if (std::any_of(found + 1, list_.end(), [&](const Remembered& each) {
          return ordinal_of(each) < log.size() && !order.before(answered, ordinal_of(each));
        }))
      return;
    for (std::uint64_t o = 0; o < log.size(); ++o)  // its other form, or a summary
      for (const Ordinal original : history_.stands_for(Ordinal(o)))
        if (original.value == answered) return;
    list_.insert(found + 1, answer);
  }

  // What a provider answers is no edit: without edits the view is the client's list.
  void answer_client() {
    if (!history_.client_list().empty()) append(answer(last_list_));
  }
  void append(const Remembered& answer) {
    const Message message = Message::parse(spelled(answer, one_in(2))).value();
    history_ = history_.apply({op::Append{{message}}}, {}).value().history;
  }

  // The provider summarises what the client sent last, which comes back behind what that keeps.
  void compact_by_answer() {
    list_ = last_list_;
    if (list_.size() < 4) return;
    const Remembered summary{"assistant", "summary " + std::to_string(next_text_++), true};
    append(summary);
    compact(summary, list_.size());
    if (one_in(2)) list_.push_back(fresh());
  }

  Message made_message() {
    return Message::make(Role::user, "made " + std::to_string(next_text_++)).value();
  }

  void edit(Operation::What what) {
    Result<Step> step = history_.apply({std::move(what)}, {});
    if (!step) return;
    history_ = step->history;
    edited_ = true;
  }

  op::Reconcile request(bool spells_lists) const {
    op::Reconcile sent;
    for (const Remembered& message : list_) {
      const Message made = Message::parse(spelled(message, spells_lists)).value();
      sent.list.push_back({made, identity(made), message.is_summary});
    }
    return sent;
  }

  void send() {
    const History before = history_;
    op::Reconcile sent = request(spells_lists_);
    // As a gateway makes it of a delta whose answer it knows.
    if (one_in(4)) sent.reference = ++last_reference_;
    Result<Step> step = before.apply({sent}, {.now_ms = 7});
    ASSERT_TRUE(step) << step.error().message;
    history_ = step->history;
    ASSERT_TRUE(step->applied.reconciliation);
    check_list(before, sent);
    check_outcome(before, *step);
    check_view(before, *step);
    check_same_again();
    if (step->applied.reconciliation->outcome == ReconcileOutcome::same) return;
    check_undo(before);
    check_replay(before);
    if (step->applied.reconciliation->outcome == ReconcileOutcome::compacted) check_expand(before);
    last_list_ = list_;
    seen_.emplace_back(list_, values(history_.client_list()));
  }

  // Law 9: a request that holds only what is new appends, and drops nothing; the list goes on with
  // it. False: none was sent, since what others appended would be part of what the client goes on
  // with, or since nothing tells words that are said again from a request that is sent again.
  bool send_delta() {
    const bool refers = !is_unique_ || one_in(2);
    if (!is_unique_ && newest_reference(history_.rep()) == 0) return false;
    const ClientList sent = list_;
    if (!client_edits_only_) edit_conversation();
    const History before = history_;
    for (std::uint64_t o = before.rep().client().log_length; o < before.stats().total_messages; ++o)
      if (before.stands_for(Ordinal(o)).empty()) return false;
    list_.clear();
    // Instructions stand in each delta, and are new once.
    const Remembered instructions{"system", one_in(2) ? "be good" : "be brief"};
    const bool are_known = std::find(sent.begin(), sent.end(), instructions) != sent.end();
    const View log = before.log();
    const bool were_dropped =
        !are_known && std::any_of(log.begin(), log.end(), [&](const Message& each) {
          return each.text() == instructions.text;
        });  // and would come back
    const bool has_instructions = !were_dropped && one_in(2);
    if (has_instructions) list_.push_back(instructions);
    for (std::uint64_t more = 1 + below(3); more > 0; --more) list_.push_back(fresh());
    op::Reconcile delta = request(one_in(2));
    delta.is_delta = true;
    if (refers) delta.reference = ++last_reference_;
    const ClientList fresh(list_.begin() + (has_instructions && are_known ? 1 : 0), list_.end());
    list_ = sent;
    list_.insert(list_.end(), fresh.begin(), fresh.end());
    check_delta(before, delta, fresh.size());
    last_list_ = list_;
    return true;
  }

  void check_delta(const History& before, const op::Reconcile& delta, std::uint64_t fresh) {
    Result<Step> step = before.apply({delta}, {.now_ms = 7});
    ASSERT_TRUE(step) << step.error().message;
    history_ = step->history;
    std::vector<std::uint64_t> view = ordinals_of(before.view()),
                               list = values(before.client_list());
    for (std::uint64_t i = 0; i < fresh; ++i) {
      view.push_back(before.stats().total_messages + i);
      list.push_back(before.stats().total_messages + i);
    }
    ASSERT_EQ(step->applied.reconciliation,
              (Reconciliation{ReconcileOutcome::appended, before.client_list().size(), fresh, 0}));
    ASSERT_EQ(ordinals_of(history_.view()), view);
    ASSERT_EQ(values(history_.client_list()), list);
    ASSERT_EQ(history_.stats().total_messages, before.stats().total_messages + fresh);
    ASSERT_FALSE(step->applied.opened_batch);
    ASSERT_EQ(marks(history_), marks(before));
    const Result<Step> again = history_.apply({delta}, {});
    ASSERT_TRUE(again);
    ASSERT_EQ(again->applied.reconciliation->outcome, ReconcileOutcome::same);
    if (delta.reference != 0) check_same_after_answer(delta);
    check_same_again();
    check_undo(before);
    check_replay(before);
  }

  void check_same_after_answer(const op::Reconcile& delta) const {
    const Message answer = Message::make(Role::assistant, "an answer").value();
    const Result<Step> answered = history_.apply({op::Append{{answer}}}, {});
    ASSERT_TRUE(answered);
    const Result<Step> again = answered->history.apply({delta}, {});
    ASSERT_TRUE(again);
    ASSERT_EQ(again->applied.reconciliation->outcome, ReconcileOutcome::same);
  }

  // Laws 3 and 4: the list holds what was sent, each message once; kept ones keep their ordinals.
  void check_list(const History& before, const op::Reconcile& sent) {
    const std::vector<std::uint64_t> now = values(history_.client_list()),
                                     then = values(before.client_list());
    ASSERT_EQ(now.size(), list_.size());
    const std::set<std::uint64_t> distinct(now.begin(), now.end());
    ASSERT_EQ(distinct.size(), now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      const View log = history_.log();
      ASSERT_EQ(identity(log[now[i]]), sent.list[i].identity) << "place " << i;
    }
    for (std::size_t i = 0; i < std::min(now.size(), then.size()) && i < last_list_.size() &&
                            same(last_list_[i], list_[i]);
         ++i)
      ASSERT_EQ(now[i], then[i]) << "place " << i;
    // What was stored is not stored again.
    if (is_unique_) {
      std::set<std::string> stored;
      for (const Message& message : before.log()) stored.insert(message.text());
      std::uint64_t fresh = 0;
      for (const Remembered& message : list_) fresh += !stored.contains(message.text);
      ASSERT_EQ(history_.stats().total_messages - before.stats().total_messages, fresh)
          << described(before) << described(history_);
    }
    // What comes back as it was is not stored again.
    for (const auto& [list, ordinals] : seen_) {
      if (list != list_ || !is_unique_) continue;
      ASSERT_EQ(history_.stats().total_messages, before.stats().total_messages);
    }
  }
  static std::string described(const History& history) {
    std::string text = "\nlog ";
    for (std::uint64_t o = 0; o < history.stats().total_messages; ++o) {
      (text += "\n  " + std::to_string(o) + " ") += history.log()[o].text();
      for (const Ordinal original : history.stands_for(Ordinal(o)))
        text += " <" + std::to_string(original.value);
    }
    text += "\nlist";
    for (const Ordinal ordinal : history.client_list()) text += " " + std::to_string(ordinal.value);
    text += "\nview";
    for (const std::uint64_t ordinal : ordinals_of(history.view()))
      text += " " + std::to_string(ordinal);
    return text + "\n";
  }
  static bool same(const Remembered& a, const Remembered& b) {
    return a.role == b.role && a.text == b.text;
  }

  void check_outcome(const History& before, const Step& step) {
    const Reconciliation& found = *step.applied.reconciliation;
    const std::vector<std::uint64_t> now = values(history_.client_list()),
                                     then = values(before.client_list());
    const std::set<std::uint64_t> in_then(then.begin(), then.end());
    std::uint64_t common = 0;
    for (const std::uint64_t ordinal : now) common += in_then.count(ordinal);
    ASSERT_EQ(found.common, common);
    ASSERT_EQ(found.added, now.size() - common);
    ASSERT_EQ(found.removed, then.size() - common);
    ASSERT_LE(history_.stats().total_messages - before.stats().total_messages, found.added);
    const bool is_same = found.outcome == ReconcileOutcome::same;
    if (is_same) {
      ASSERT_EQ(now, then);
    } else if (now == then) {
      ASSERT_NE(ordinals_of(history_.view()), ordinals_of(before.view())) << "an answer went";
    }
    ASSERT_EQ(history_.version().value, before.version().value + (is_same ? 0 : 1));
    const bool appends = found.outcome == ReconcileOutcome::appended;
    ASSERT_EQ(step.applied.opened_batch, !is_same && !appends);
    if (!appends) return;
    // Law 6.
    std::vector<std::uint64_t> view = ordinals_of(before.view());
    for (std::uint64_t o = before.stats().total_messages; o < history_.stats().total_messages; ++o)
      view.push_back(o);
    ASSERT_EQ(ordinals_of(history_.view()), view);
  }

  // Laws 1, 3, 5 and the order.
  void check_view(const History& before, const Step& step) {
    const std::vector<std::uint64_t> view = ordinals_of(history_.view()),
                                     list = values(history_.client_list());
    if (!edited_) {
      ASSERT_EQ(view, list);
    }
    const std::set<std::uint64_t> visible(view.begin(), view.end()),
        listed(list.begin(), list.end());
    const std::vector<std::uint64_t> view_then = ordinals_of(before.view()),
                                     list_then = values(before.client_list());
    const std::set<std::uint64_t> visible_then(view_then.begin(), view_then.end()),
        listed_then(list_then.begin(), list_then.end());
    std::set<std::uint64_t> dropped;
    for (const std::uint64_t ordinal : list_then)
      if (!listed.contains(ordinal)) dropped.insert(ordinal);
    for (const std::uint64_t ordinal : dropped) ASSERT_FALSE(visible.contains(ordinal)) << ordinal;
    if (step.applied.reconciliation->outcome == ReconcileOutcome::same) {
      ASSERT_EQ(view, view_then);
      return;
    }
    // New messages are visible.
    for (std::uint64_t o = before.stats().total_messages; o < history_.stats().total_messages; ++o)
      ASSERT_TRUE(visible.contains(o));
    // What others made stays, unless it stands for something that was dropped.
    std::set<std::uint64_t> left_out;  // answers that were not sent before, and are not now
    for (std::uint64_t o = before.rep().client().log_length; o < before.stats().total_messages; ++o)
      if (!listed.contains(o)) left_out.insert(o);
    const auto stands_for_left_out = [&](auto&& self, std::uint64_t ordinal) -> bool {
      for (const Ordinal original : before.stands_for(Ordinal(ordinal)))
        if (left_out.contains(original.value) || self(self, original.value)) return true;
      return false;
    };
    const auto stands_for_dropped = [&](auto&& self, std::uint64_t ordinal) -> bool {
      for (const Ordinal original : before.stands_for(Ordinal(ordinal))) {
        if (dropped.contains(original.value)) return true;
        if (!listed.contains(original.value) && self(self, original.value)) return true;
      }
      return false;
    };
    std::set<std::uint64_t> under_expanded;
    const auto add_below = [&](auto&& self, std::uint64_t ordinal) -> void {
      for (const Ordinal original : before.stands_for(Ordinal(ordinal))) {
        under_expanded.insert(original.value);
        self(self, original.value);
      }
    };
    for (const std::uint64_t ordinal : view_then) {
      if (listed_then.contains(ordinal) || listed.contains(ordinal)) continue;
      const bool expands = stands_for_dropped(stands_for_dropped, ordinal);
      if (expands) add_below(add_below, ordinal);
      if (!expands && stands_for_left_out(stands_for_left_out, ordinal)) {
        if (!visible.contains(ordinal)) add_below(add_below, ordinal);
        continue;
      }
      const bool is_answer = before.log()[ordinal].role() == Role::assistant;
      if (expands) {
        ASSERT_FALSE(visible.contains(ordinal)) << ordinal;
      } else if (!is_answer) {
        ASSERT_TRUE(visible.contains(ordinal))
            << ordinal << described(before) << described(history_);
      }
    }
    // What the client kept is as visible as it was.
    for (const std::uint64_t ordinal : list) {
      if (!listed_then.contains(ordinal) || under_expanded.contains(ordinal)) continue;
      ASSERT_EQ(visible.contains(ordinal), visible_then.contains(ordinal)) << ordinal;
    }
    // An expanded summary leaves nothing untold.
    const auto is_told = [&](auto&& self, std::uint64_t ordinal) -> bool {
      if (visible.contains(ordinal)) return true;
      for (const std::uint64_t other : view) {
        for (const Ordinal original : history_.stands_for(Ordinal(other)))
          if (original.value == ordinal) return true;
      }
      for (std::uint64_t maker = 0; maker < history_.stats().total_messages; ++maker) {
        for (const Ordinal original : history_.stands_for(Ordinal(maker)))
          if (original.value == ordinal && self(self, maker)) return true;
      }
      return false;
    };
    for (const std::uint64_t ordinal : view_then) {
      if (listed_then.contains(ordinal) || visible.contains(ordinal)) continue;
      for (const Ordinal original : before.stands_for(Ordinal(ordinal)))
        if (!dropped.contains(original.value) && !left_out.contains(original.value) &&
            !stands_for_left_out(stands_for_left_out, original.value) &&
            !stands_for_dropped(stands_for_dropped, original.value)) {
          ASSERT_TRUE(is_told(is_told, original.value)) << original.value;
        }
    }
    ASSERT_EQ(marks(history_), marks(before));
    if (history_.rep().log.order.departed()) return;
    // The view has the client's messages in the client's order.
    std::vector<std::uint64_t> of_client;
    for (const std::uint64_t ordinal : view)
      if (listed.contains(ordinal)) of_client.push_back(ordinal);
    std::vector<std::uint64_t> in_order;
    for (const std::uint64_t ordinal : list)
      if (visible.contains(ordinal)) in_order.push_back(ordinal);
    ASSERT_EQ(of_client, in_order);
  }
  static std::vector<std::vector<std::uint64_t>> marks(const History& history) {
    return {history.marked("pinned"), history.marked("m")};
  }

  // Laws 2 and 4: the same in any spelling changes nothing.
  void check_same_again() {
    for (const bool spells_lists : {false, true}) {
      const Result<Step> again = history_.apply({request(spells_lists)}, {});
      ASSERT_TRUE(again);
      ASSERT_EQ(again->applied.reconciliation->outcome, ReconcileOutcome::same);
      ASSERT_EQ(again->history.version(), history_.version());
    }
  }

  void check_undo(const History& before) {
    const Result<Step> undone = history_.apply({op::Undo{}}, {});
    ASSERT_TRUE(undone);
    ASSERT_EQ(ordinals_of(undone->history.view()), ordinals_of(before.view()));
    ASSERT_EQ(undone->history.client_list(), history_.client_list());
  }

  // The record alone makes the same version, and has no message in it.
  void check_replay(const History& before) {
    const History::Rep& rep = history_.rep();
    const VersionRow& row = rep.versions[rep.head_number()];
    ASSERT_TRUE(row.operation);
    ByteOut out;
    write_record(out, *row.operation, KeptPart::present);
    ByteIn in(out.bytes, "a record");
    RecordedOperation record = read_record(in, KeptPart::present);
    std::vector<StoredMessage> given;
    for (std::uint64_t o = before.stats().total_messages; o < rep.log.size(); ++o)
      given.push_back(rep.log.stored[o]);
    const Result<Step> again = replay(before, std::move(record), row.at_ms, given);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(ordinals_of(again->history.view()), ordinals_of(history_.view()));
    ASSERT_EQ(again->history.client_list(), history_.client_list());
    ASSERT_EQ(newest_reference(again->history.rep()), newest_reference(rep));
    ASSERT_EQ(again->history.stats().total_batches, history_.stats().total_batches);
    for (std::uint64_t o = 0; o < rep.log.size(); ++o)
      ASSERT_EQ(again->history.stands_for(Ordinal(o)), history_.stands_for(Ordinal(o)));
  }

  // Law 5: what the client's summary stands for can be had back.
  void check_expand(const History& before) {
    std::optional<std::uint64_t> index;
    const View view = history_.view();
    for (std::uint64_t i = 0; i < view.size(); ++i)
      if ((view.ordinal(i).value >= before.stats().total_messages ||
           before.stands_for(view.ordinal(i)).empty()) &&
          view[i].text().starts_with("summary ") && !history_.stands_for(view.ordinal(i)).empty())
        index = i;
    if (!index && edited_) return;  // it is hidden
    ASSERT_TRUE(index) << described(before) << described(history_);
    const std::vector<Ordinal> stands_for = history_.stands_for(view.ordinal(*index));
    ASSERT_FALSE(stands_for.empty());
    const Result<Step> expanded = history_.apply({op::Expand{*index}}, {});
    if (!expanded && are_said_otherwise(stands_for, *index)) return;
    ASSERT_TRUE(expanded) << expanded.error().message;
    const std::vector<std::uint64_t> after = ordinals_of(expanded->history.view());
    for (const Ordinal ordinal : stands_for)
      ASSERT_TRUE(std::find(after.begin(), after.end(), ordinal.value) != after.end());
  }

  // Each of them stands for something visible, or something visible but the message at `index`
  // stands for it.
  bool are_said_otherwise(const std::vector<Ordinal>& ordinals, std::uint64_t index) const {
    const View view = history_.view();
    const auto reaches = [&](auto&& self, Ordinal maker, auto&& is_wanted) -> bool {
      for (const Ordinal original : history_.stands_for(maker))
        if (is_wanted(original) || self(self, original, is_wanted)) return true;
      return false;
    };
    return std::all_of(ordinals.begin(), ordinals.end(), [&](Ordinal ordinal) {
      if (reaches(reaches, ordinal, [&](Ordinal each) { return view.index_of(each).has_value(); }))
        return true;
      for (std::uint64_t i = 0; i < view.size(); ++i)
        if (i != index &&
            reaches(reaches, view.ordinal(i), [&](Ordinal each) { return each == ordinal; }))
          return true;
      return false;
    });
  }

  const bool client_edits_only_;
  History history_;
  ClientList last_list_;
  std::vector<std::pair<ClientList, std::vector<std::uint64_t>>> seen_;
  bool edited_ = false;
  std::uint64_t last_reference_ = 0;
};

TEST(ReconcileModel, EveryLawHoldsForRandomClients) {
  const std::uint64_t seed = from_environment("SEED", std::random_device{}()),
                      runs = from_environment("RUNS", 120);
  std::printf("SEED=%llu RUNS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(runs));
  for (std::uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed + run));
    Story(seed + run).run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace undertext
