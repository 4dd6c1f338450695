// A conversation that outgrows its model: ask what would fit, compress, look at the receipt, bring
// everything back; and a strategy of one's own.
#include <iostream>
#include <string>

#include <undertext/undertext.hpp>

using namespace undertext;

namespace {

// Hides every message of an assistant but the last.
class OnlyRequests : public Strategy {
 public:
  std::string_view name() const noexcept override { return "only_requests"; }

  Result<Plan> plan(const History& history, const Aim&) const override {
    const View view = history.view();
    Plan plan;
    plan.base = history.version();
    plan.strategy = name();
    plan.tokens_before = plan.tokens_after = view.sums().tokens();
    Replacement hidden;
    const std::uint64_t answers = view.count(Role::assistant, 0, view.size());
    for (std::uint64_t k = 0; k + 1 < answers; ++k) {
      const std::uint64_t index = *view.index_of_role(Role::assistant, k);
      hidden.hidden.push_back({index, index + 1});
      plan.tokens_after -= view.tokens(index);
    }
    if (!hidden.hidden.empty()) plan.replacements.push_back(hidden);
    return plan;
  }
};

}  // namespace

int main() {
  Conversation conversation;
  const auto say = [&](Role role, const std::string& text) {
    conversation.apply({op::Append{{Message::make(role, text).value()}}}).value();
  };
  say(Role::system, "You fix bugs.");
  for (int i = 1; i <= 20; ++i) {
    say(Role::user, "Please look at src/file" + std::to_string(i) +
                        ".cpp, the build says: error: expected ';'");
    say(Role::assistant,
        "Fixed: a semicolon was missing in line " + std::to_string(10 * i) + " of that file.");
  }
  const std::uint64_t tokens = conversation.stats().tokens;

  // Would it fit a small model? Asking changes nothing.
  const Budget small{.window = 600, .reserve = 200};
  const Fit fit = conversation.fit(small, *sliding_window()).value();
  std::cout << name(fit.outcome) << ": " << fit.plan->tokens_after << " of " << fit.tokens_max
            << " tokens would be used\n";

  // A digest of what is old, made without a model, in the room there is.
  const Outcome outcome =
      conversation.compress(*smart_summary(), {.tokens_max = small.tokens_max()}).value();
  std::cout << outcome.receipt->hidden.size() << " messages behind a "
            << outcome.receipt->summariser << ", "
            << (outcome.stats.tokens <= small.tokens_max() ? "within" : "over") << " the budget\n";

  // Nothing is lost.
  conversation.apply({op::Expand{1}}).value();
  std::cout << (conversation.stats().tokens == tokens ? "everything is back"
                                                      : "something is missing")
            << "\n";

  conversation.compress(OnlyRequests()).value();
  std::cout << conversation.view().count(Role::assistant, 0, conversation.view().size())
            << " answer left\n";
}
