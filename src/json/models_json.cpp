#include "json/models_json.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// The members of an object, of which those that are absent are left out.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  ~Members() { out_ += '}'; }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  std::string& key(std::string_view name) {
    out_ += separator_;
    separator_ = ",";
    append_json_string(out_, name);
    return out_ += ':';
  }
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) append_json_string(key(name), value);
  }
  void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  template <class Number>
  void number(std::string_view name, const std::optional<Number>& value) {
    if (!value) return;
    char digits[32];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, *value);
    if (end.ec == std::errc()) key(name).append(digits, end.ptr);
  }
  void source(const Source& source) {
    text("source", source.title);
    text("date", source.date);
  }

 private:
  std::string& out_;
  const char* separator_ = "";
};

void append_profiles(std::string& out, const std::vector<std::string>& profiles) {
  const char* separator = "";
  out += '[';
  for (const std::string& profile : profiles) {
    append_json_string(out += separator, profile);
    separator = ",";
  }
  out += ']';
}

void append_limits(std::string& out, const Model::Limits& limits) {
  Members members(out);
  members.number("window", limits.window);
  members.number("answer", limits.answer_max);
  members.source(limits.source);
}

void append_prices(std::string& out, const Model::Prices& prices) {
  Members members(out);
  members.number("input", prices.input);
  members.number("output", prices.output);
  members.number("cacheRead", prices.cache_read);
  members.number("cacheWrite", prices.cache_write);
  members.number("cacheWriteHour", prices.cache_write_hour);
  members.source(prices.source);
}

}  // namespace

Model settled_model(const Settings& settings, std::string_view counting) {
  Model model = find_model(settings.model);
  if (const Result<Counting> by = counting_by(counting)) {
    model.tokenizer = by->tokenizer->name();
    model.costs = by->costs->name;
  }
  if (!settings.profile.empty()) {
    std::erase(model.profiles, settings.profile);
    model.profiles.insert(model.profiles.begin(), settings.profile);
  }
  if (settings.window) model.limits = {.window = settings.window};
  return model;
}

bool counts_exactly(const Counting& counting, const View& view) {
  if (!counting.is_exact()) return false;
  for (std::uint64_t i = 0; i < view.size(); ++i)
    if (!counting.is_exact(view[i])) return false;
  return true;
}

void append_json(std::string& out, const Model& model) {
  Members members(out);
  append_json_string(members.key("name"), model.name);
  members.flag("known", model.is_known());
  members.text("row", model.row);
  members.text("tokenizer", model.tokenizer);
  members.text("costs", model.costs);
  append_profiles(members.key("profiles"), model.profiles);
  members.source(model.source);
  const Model::Limits& limits = model.limits;
  if (limits.window || limits.answer_max) append_limits(members.key("limits"), limits);
  const Model::Prices& prices = model.prices;
  if (prices.input || prices.output || prices.cache_read || prices.cache_write)
    append_prices(members.key("prices"), prices);
}

void append_json(std::string& out, const ToolsCount& count) {
  Members members(out);
  members.number("tokens", std::optional(count.tokens));
  members.number("tools", std::optional(count.tools));
  members.flag("exact", count.exact);
}

}  // namespace undertext
