// The file of models: estimates, costs and models, each a list of rows. What a row does not say
// stays as it is below.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <type_traits>
#include <utility>

#include "base/json_text.hpp"
#include "tokens/estimate_tokenizer.hpp"
#include "tokens/model_table.hpp"

namespace undertext {
namespace {

// The members of an object, each of which has to be taken. The first thing wrong is thrown, as
// Failure.
class Row {
 public:
  Row(JsonValue object, std::string place, std::string_view text)
      : object_(object), place_(std::move(place)), text_(text) {
    if (!object.is(JsonType::object)) fail(object, "", "must be an object");
  }

  std::optional<JsonValue> find(std::string_view key) {
    taken_.insert(std::string(key));
    return object_.find(key);
  }
  void call(const std::string& name) { place_ += " (" + name + ")"; }

  void take(std::string_view key, std::string& to) {
    if (const std::optional<JsonValue> value = find(key)) to = string_of(*value, key);
  }
  void take(std::string_view key, std::optional<std::string>& to) {
    if (const std::optional<JsonValue> value = find(key)) to = string_of(*value, key);
  }
  void take(std::string_view key, std::optional<std::vector<std::string>>& to) {
    const std::optional<JsonValue> value = find(key);
    if (!value) return;
    if (!value->is(JsonType::array) || value->empty()) fail(*value, key, "must be a list of names");
    to.emplace();
    for (const JsonValue element : value->elements()) to->push_back(string_of(element, key));
  }
  template <class Number>
    requires std::is_integral_v<Number>
  void take(std::string_view key, Number& to) {
    const std::optional<JsonValue> value = find(key);
    if (!value) return;
    const std::optional<std::int64_t> number =
        value->is(JsonType::number) ? value->int64() : std::nullopt;
    if (!number || !std::in_range<Number>(*number)) {
      fail(*value, key,
           std::is_signed_v<Number> ? "must be a whole number"
                                    : "must be a whole number of at least 0");
    }
    to = static_cast<Number>(*number);
  }
  template <class Number>
    requires std::is_integral_v<Number>
  void take(std::string_view key, std::optional<Number>& to) {
    if (!object_.find(key)) return static_cast<void>(find(key));
    take(key, to.emplace());
  }
  void take(std::string_view key, std::optional<double>& to) {
    const std::optional<JsonValue> value = find(key);
    if (!value) return;
    const double price =
        value->is(JsonType::number) ? std::strtod(std::string(value->raw()).c_str(), nullptr) : -1;
    if (!(price >= 0 && price < 1e9)) fail(*value, key, "must be a number of at least 0");
    to = price;
  }
  void take(std::string_view key, Certainty& to) {
    const std::optional<JsonValue> value = find(key);
    if (!value) return;
    for (const Certainty one : {Certainty::exact, Certainty::fitted, Certainty::unknown})
      if (value->is(JsonType::string) && value->string_is(name(one)))
        return static_cast<void>(to = one);
    fail(*value, key, "is \"exact\", \"fitted\" or \"unknown\"");
  }
  void take(Source& to) {
    take("source", to.title);
    take("date", to.date);
  }
  template <class Read>
  void take_object(std::string_view key, Read read) {
    const std::optional<JsonValue> value = find(key);
    if (!value) return;
    Row inner(*value, place_ + ", " + std::string(key), text_);
    read(inner);
    inner.done();
  }

  void done() const {
    for (const JsonMember member : object_.members())
      if (!taken_.contains(member.key.string()))
        fail(member.value, member.key.string(), "is unknown here");
  }

  [[noreturn]] void fail(std::string_view key, std::string_view problem) const {
    fail(object_.find(key).value_or(object_), key, problem);
  }

 private:
  std::string string_of(const JsonValue& value, std::string_view key) const {
    if (!value.is(JsonType::string) || value.string_raw().empty())
      fail(value, key, "must be text that is not empty");
    return value.string();
  }
  [[noreturn]] void fail(const JsonValue& at, std::string_view key,
                         std::string_view problem) const {
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(at.offset()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Failure({.code = ErrorCode::invalid_argument,
                   .message = "line " + std::to_string(line) + ", " + place_ + ": " +
                              std::string(key) + (key.empty() ? "" : " ") + std::string(problem),
                   .field = std::string(key),
                   .byte_offset = at.offset()});
  }

  JsonValue object_;
  std::string place_;
  std::string_view text_;
  std::set<std::string> taken_;
};

template <class List>
auto* find_named(List& list, std::string_view name) {
  for (auto& row : list)
    if (row.name == name) return &row;
  return static_cast<decltype(&list.front())>(nullptr);
}

std::string name_of(Row& row) {
  std::string name;
  row.take("name", name);
  if (name.empty()) row.fail("name", "is needed");
  row.call(name);
  return name;
}

void read_estimate(Row& row, ModelTable& table) {
  const std::string name = name_of(row);
  EstimateRow* known = find_named(table.estimates, name);
  EstimateRow estimate = known != nullptr ? *known : EstimateRow();
  estimate.name = name;
  row.take("weights", estimate.weights);
  row.take("vocabulary", estimate.vocabulary);
  row.take("perMille", estimate.per_mille);
  row.take(estimate.source);
  if (!has_weights(estimate.weights))
    row.fail("weights", "is none that was measured; docs/models.md has them");
  if (estimate.per_mille == 0) row.fail("perMille", "must be more than 0");
  (known != nullptr ? *known : table.estimates.emplace_back()) = std::move(estimate);
}

void read_figure(Row& row, std::string_view key, Figure& figure) {
  row.take_object(key, [&](Row& inner) {
    inner.take("value", figure.value);
    inner.take("certainty", figure.certainty);
    inner.take("source", figure.source);
  });
}

struct FigureName {
  std::string_view name;
  Figure CostProfile::* member;
  bool divides = false;
};
constexpr FigureName figure_names[] = {
    {"request", &CostProfile::request},
    {"message", &CostProfile::message},
    {"nameField", &CostProfile::name_field},
    {"toolCall", &CostProfile::call_frame},
    {"toolResult", &CostProfile::result_frame},
    {"audioPerSecond", &CostProfile::audio_per_second},
    {"videoPerSecond", &CostProfile::video_per_second},
    {"documentPage", &CostProfile::document_page},
    {"audioBytesPerSecond", &CostProfile::audio_bytes_per_second, true},
    {"videoBytesPerSecond", &CostProfile::video_bytes_per_second, true},
    {"documentBytesPerPage", &CostProfile::document_bytes_per_page, true},
    {"fileUnseen", &CostProfile::file_unseen},
    {"encryptedBytesPerToken", &CostProfile::encrypted_bytes_per_token, true},
};

// A rule for images is said as a whole.
void read_image(Row& row, ImageRule& rule) {
  row.take_object("image", [&](Row& inner) {
    constexpr std::pair<std::string_view, ImageRule::Kind> kinds[] = {
        {"tiles", ImageRule::Kind::tiles},
        {"patches", ImageRule::Kind::patches},
        {"patches_whole", ImageRule::Kind::patches_whole},
        {"crops", ImageRule::Kind::crops},
        {"flat", ImageRule::Kind::flat}};
    rule = {};
    std::string kind;
    inner.take("kind", kind);
    bool is_known = false;
    for (const auto& [name, value] : kinds) {
      if (name != kind) continue;
      rule.kind = value;
      is_known = true;
    }
    if (!is_known) inner.fail("kind", "is tiles, patches, patches_whole, crops or flat");
    inner.take("unit", rule.unit);
    inner.take("base", rule.base);
    inner.take("each", rule.each);
    inner.take("sideMax", rule.side_max);
    inner.take("shortSide", rule.short_side);
    inner.take("small", rule.small);
    inner.take("patchesMax", rule.patches_max);
    inner.take("perMille", rule.per_mille);
    inner.take("lowDetail", rule.low_detail);
    inner.take("certainty", rule.certainty);
    inner.take("source", rule.source);
    const bool has_patches =
        rule.kind == ImageRule::Kind::patches || rule.kind == ImageRule::Kind::patches_whole;
    if (rule.unit == 0) inner.fail("unit", "must be more than 0");
    constexpr std::uint32_t patches_most = 1'000'000;
    if (has_patches && (rule.patches_max == 0 || rule.patches_max > patches_most))
      inner.fail("patchesMax", "must be 1 to 1000000");
    if (rule.kind == ImageRule::Kind::tiles && rule.short_side == 0)
      inner.fail("shortSide", "is needed");
    // Sizes are multiplied in 64 bits, and a picture may be as large as 32 bits say.
    if (rule.kind != ImageRule::Kind::flat && !has_patches && rule.side_max == 0)
      inner.fail("sideMax", "is needed");
  });
}

void read_tools(Row& row, ToolRule& rule) {
  row.take_object("tools", [&](Row& inner) {
    rule = {};
    inner.take("once", rule.once);
    inner.take("each", rule.each);
    inner.take("properties", rule.properties);
    inner.take("property", rule.property);
    inner.take("enum", rule.enumeration);
    inner.take("item", rule.item);
    inner.take("certainty", rule.certainty);
    inner.take("source", rule.source);
  });
}

void read_costs(Row& row, ModelTable& table) {
  const std::string name = name_of(row);
  CostProfile* known = find_named(table.costs, name);
  CostProfile costs = known != nullptr ? *known : CostProfile();
  std::optional<std::string> like;
  row.take("like", like);
  if (like) {
    const CostProfile* other = table.find_costs(*like);
    if (other == nullptr) row.fail("like", "names no costs that come before");
    costs = *other;
  }
  if (!like && known == nullptr && !table.costs.empty())
    row.fail("like", "is needed: the costs that these differ from");
  costs.name = name;
  row.take("for", costs.models);
  row.take("date", costs.date);
  for (const FigureName& figure : figure_names) {
    read_figure(row, figure.name, costs.*figure.member);
    if (figure.divides && (costs.*figure.member).value == 0)
      row.fail(figure.name, "must be more than 0");
  }
  read_image(row, costs.image);
  read_tools(row, costs.tools);
  row.take_object("imageUnseen", [&](Row& inner) {
    inner.take("width", costs.image_unseen.width);
    inner.take("height", costs.image_unseen.height);
  });
  (known != nullptr ? *known : table.costs.emplace_back()) = std::move(costs);
}

bool is_tokenizer(std::string_view name, const ModelTable& table) {
  constexpr std::string_view family = "estimate:";
  if (name.starts_with(family)) return table.find_estimate(name.substr(family.size())) != nullptr;
  return name == "estimate" || name == "o200k_base" || name == "cl100k_base" ||
         name.find('/') != std::string_view::npos;
}

ModelRow read_model(Row& row, const ModelTable& table) {
  ModelRow model;
  row.take("tokenizer", model.tokenizer);
  row.take("costs", model.costs);
  row.take("profiles", model.profiles);
  row.take(model.source);
  if (model.tokenizer && !is_tokenizer(*model.tokenizer, table))
    row.fail("tokenizer", "is a vocabulary, estimate, estimate:NAME, or a path with a slash in it");
  if (model.costs && table.find_costs(*model.costs) == nullptr)
    row.fail("costs", "names no costs that there are");
  row.take_object("limits", [&](Row& inner) {
    Model::Limits& limits = model.limits.emplace();
    inner.take("window", limits.window);
    inner.take("answer", limits.answer_max);
    inner.take(limits.source);
    if (limits.window && limits.answer_max && *limits.answer_max > *limits.window)
      inner.fail("answer", "must not be larger than the window");
  });
  row.take_object("prices", [&](Row& inner) {
    Model::Prices& prices = model.prices.emplace();
    inner.take("input", prices.input);
    inner.take("output", prices.output);
    inner.take("cacheRead", prices.cache_read);
    inner.take("cacheWrite", prices.cache_write);
    inner.take("cacheWriteHour", prices.cache_write_hour);
    inner.take(prices.source);
  });
  return model;
}

// A row of a name that has one already says only what is different.
void lay_over(ModelRow& row, const ModelRow& said) {
  if (said.tokenizer || said.costs || said.profiles) row.source = said.source;
  if (said.tokenizer) row.tokenizer = said.tokenizer;
  if (said.costs) row.costs = said.costs;
  if (said.profiles) row.profiles = said.profiles;
  if (said.limits) row.limits = said.limits;
  if (said.prices) row.prices = said.prices;
}

class TableReader {
 public:
  TableReader(std::string_view text, const ModelTable& below) : text_(text), table_(below) {}

  ModelTable read(JsonValue root) {
    Row file(root, "the file", text_);
    const std::optional<JsonValue> estimates = file.find("estimates"), costs = file.find("costs"),
                                   models = file.find("models");
    file.done();
    each(file, "estimates", estimates, [&](Row& row) { read_estimate(row, table_); });
    each(file, "costs", costs, [&](Row& row) { read_costs(row, table_); });
    each(file, "models", models, [&](Row& row) { add_model(row); });
    return std::move(table_);
  }

 private:
  template <class Read>
  void each(const Row& file, std::string_view name, const std::optional<JsonValue>& list,
            Read read) {
    if (!list) return;
    if (!list->is(JsonType::array)) file.fail(name, "must be a list");
    std::size_t index = 0;
    for (const JsonValue element : list->elements()) {
      Row row(element, std::string(name) + "[" + std::to_string(index++) + "]", text_);
      read(row);
      row.done();
    }
  }

  void add_model(Row& row) {
    std::optional<std::vector<std::string>> names;
    row.take("names", names);
    if (!names) row.fail("names", "is needed");
    row.call(names->front());
    ModelRow said = read_model(row, table_);
    for (const std::string& name : *names) {
      const std::string folded = folded_name(name);
      if (folded.find('*') < folded.size() - 1)
        row.fail("names", "\"" + name + "\" may have a * at its end only");
      if (!seen_.insert(folded).second) row.fail("names", "\"" + name + "\" is there twice");
      ModelRow& place = table_.models[folded];
      lay_over(place, said);
      place.name = name;
    }
  }

  std::string_view text_;
  ModelTable table_;
  std::set<std::string> seen_;
};

}  // namespace

Result<ModelTable> read_model_table(std::string_view json, const ModelTable& below) {
  const Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return text.error();
  try {
    return TableReader(json, below).read(text->root());
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace undertext
