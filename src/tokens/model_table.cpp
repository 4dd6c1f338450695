// Finding a model, and the one table of the process.
#include "tokens/model_table.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace undertext {
namespace {

// A family's name ends with '*'. "gpt-4.1*" is not the family of gpt-4-1106-preview: a number is
// not cut in two.
bool may_end(std::string_view name, std::size_t length) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return length == 0 || length == name.size() || !is_digit(name[length - 1]) ||
         !is_digit(name[length]);
}

void lay_over(Model& model, const ModelRow& row) {
  model.row = row.name;
  if (row.tokenizer) model.tokenizer = *row.tokenizer;
  if (row.costs) model.costs = *row.costs;
  if (row.profiles) model.profiles = *row.profiles;
  if (row.tokenizer || row.costs || row.profiles) model.source = row.source;
  if (row.limits) model.limits = *row.limits;
  if (row.prices) model.prices = *row.prices;
}

std::atomic<const ModelTable*>& current() {
  static std::atomic<const ModelTable*> table = [] {
    return new ModelTable(read_model_table(models_json(), {}).value());  // a test reads it too
  }();
  return table;
}

}  // namespace

const EstimateRow* ModelTable::find_estimate(std::string_view name) const {
  const auto found = std::find_if(estimates.begin(), estimates.end(),
                                  [name](const EstimateRow& row) { return row.name == name; });
  return found == estimates.end() ? nullptr : &*found;
}

const CostProfile* ModelTable::find_costs(std::string_view name) const {
  const auto found = std::find_if(costs.begin(), costs.end(),
                                  [name](const CostProfile& row) { return row.name == name; });
  return found == costs.end() ? nullptr : &*found;
}

Model ModelTable::find(std::string_view asked) const {
  Model model{.name = std::string(asked), .row = {}};
  constexpr std::size_t name_bytes_max = 256;  // finding families is quadratic in it
  const ModelName name = model_name(asked);
  if (name.dated.size() > name_bytes_max) return model;
  for (std::size_t length = 0; length <= name.dated.size(); ++length) {
    if (!may_end(name.dated, length)) continue;
    const auto row = models.find(name.dated.substr(0, length) + "*");
    if (row != models.end()) lay_over(model, row->second);
  }
  for (const std::string& exact : {name.plain, name.dated}) {
    const auto row = models.find(exact);
    if (row != models.end()) lay_over(model, row->second);
  }
  return model;
}

const ModelTable& model_table() { return *current().load(std::memory_order_acquire); }

Model find_model(std::string_view name) { return model_table().find(name); }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& [folded, row] : model_table().models) names.push_back(row.name);
  return names;
}

Result<void> add_models(std::string_view json) {
  // never destroyed, so that it can be used while the program ends
  static std::mutex& adding = *new std::mutex;
  const std::lock_guard lock(adding);
  const ModelTable& below = model_table();
  Result<ModelTable> read = read_model_table(json, below);
  if (!read) return std::move(read.error());
  auto* table = new ModelTable(*std::move(read));
  table->below = &below;
  current().store(table, std::memory_order_release);
  return {};
}

}  // namespace undertext
