#include "cli/models.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/models.hpp>

#include "cli/desk.hpp"
#include "json/models_json.hpp"

namespace undertext {
namespace {

std::string spelled(const std::optional<std::uint64_t>& count) {
  return count ? std::to_string(*count) : "–";
}

std::string spelled(const std::optional<double>& price) {
  if (!price) return "–";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", *price);
  return digits;
}

void print_field(Desk& desk, std::string_view name, std::string_view value, const Source& source) {
  constexpr std::size_t value_at = 14;
  Line line;
  line.add(name, quiet).pad_to(value_at).add(printable(value));
  if (!source.title.empty())
    line.add("  (" + printable(source.title) + ", " + printable(source.date) + ")", quiet);
  desk.screen().print(line);
}

void print_model(Desk& desk, const Model& model) {
  std::string profiles;
  for (const std::string& profile : model.profiles)
    profiles += (profiles.empty() ? "" : ", ") + profile;
  print_field(desk, "model", model.is_known() ? model.row : "unknown: estimated", {});
  print_field(desk, "tokenizer", model.tokenizer, model.source);
  print_field(desk, "costs", model.costs, model.source);
  print_field(desk, "profiles", profiles.empty() ? "–" : profiles, model.source);
  print_field(desk, "window", spelled(model.limits.window), model.limits.source);
  print_field(desk, "answer", spelled(model.limits.answer_max), model.limits.source);
  print_field(desk, "input", spelled(model.prices.input), model.prices.source);
  print_field(desk, "output", spelled(model.prices.output), model.prices.source);
  print_field(desk, "cache read", spelled(model.prices.cache_read), model.prices.source);
  print_field(desk, "cache write", spelled(model.prices.cache_write), model.prices.source);
  if (model.prices.cache_write_hour)
    print_field(desk, "write, 1 h", spelled(model.prices.cache_write_hour), model.prices.source);
}

void print_table(Desk& desk, const std::vector<std::string>& names) {
  constexpr std::string_view heads[] = {"MODEL",  "TOKENIZER", "COSTS", "WINDOW",
                                        "ANSWER", "INPUT",     "OUTPUT"};
  std::size_t widest = heads[0].size();
  for (const std::string& name : names) widest = std::max(widest, name.size());
  const auto print = [&](const std::vector<std::string>& cells, Style style) {
    Line line;
    line.add(printable(cells[0]), style)
        .pad_to(widest + 2)
        .add(printable(cells[1]))
        .pad_to(widest + 24)
        .add(printable(cells[2]));
    std::size_t end = widest + 40;
    for (std::size_t i = 3; i < cells.size(); ++i) line.add_right(cells[i], end += 10);
    desk.screen().print(line);
  };
  print({std::begin(heads), std::end(heads)}, quiet);
  for (const std::string& name : names) {
    const Model model = find_model(name);
    print({name, model.tokenizer, model.costs, spelled(model.limits.window),
           spelled(model.limits.answer_max), spelled(model.prices.input),
           spelled(model.prices.output)},
          {.bold = true});
  }
}

}  // namespace

int run_models(Desk& desk, const ModelsOptions& options) {
  add_models_of(options.models);
  const std::vector<std::string> names = options.name ? std::vector{*options.name} : model_names();
  if (options.json) {
    for (const std::string& name : names) {
      std::string out;
      append_json(out, find_model(name));
      desk.put_json(out);
    }
  } else if (options.name) {
    print_model(desk, find_model(*options.name));
  } else {
    print_table(desk, names);
  }
  return !options.name || find_model(*options.name).is_known() ? 0
                                                               : exit_status(ErrorCode::not_found);
}

}  // namespace undertext
