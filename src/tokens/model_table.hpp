// The table of models: models.json, and what programs lay over it. undertext/models.hpp is its
// public face.
//
// A table is never changed once it is there, and never destroyed: a CostProfile may be kept for
// ever.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/models.hpp>

#include "tokens/cost_profile.hpp"

namespace undertext {

// An estimate of the tokens of a family of models: the weights of a vocabulary that was measured
// (estimate_weights.hpp), times a ratio.
struct EstimateRow {
  std::string name;
  std::string weights;
  std::string vocabulary;  // what it stands in for where that is not installed; empty: none
  std::uint32_t per_mille = 1000;
  Source source;
};

// What one row says; the others follow from rows that fit a name less closely.
struct ModelRow {
  std::string name;  // as it is written
  std::optional<std::string> tokenizer;
  std::optional<std::string> costs;
  std::optional<std::vector<std::string>> profiles;
  Source source;
  std::optional<Model::Limits> limits;
  std::optional<Model::Prices> prices;
};

struct ModelTable {
  std::vector<EstimateRow> estimates;
  std::vector<CostProfile> costs;  // the first is the default
  // by folded_name(), with the '*' of families
  std::map<std::string, ModelRow, std::less<>> models;
  const ModelTable* below = nullptr;  // the one that this one took the place of

  const EstimateRow* find_estimate(std::string_view name) const;
  const CostProfile* find_costs(std::string_view name) const;
  Model find(std::string_view name) const;
};

const ModelTable& model_table();

// The file as it is compiled in.
std::string models_json();

// `below` with the rows of a file laid over it. invalid_argument: names line, row and field.
Result<ModelTable> read_model_table(std::string_view json, const ModelTable& below);

// How names are compared: in lower case, with '.' and '_' as '-'.
std::string folded_name(std::string_view name);

// A name without what is put before and behind it by those who serve the model:
// "us.anthropic.claude-opus-4-20250514-v1:0" is claude-opus-4-20250514, and claude-opus-4 without
// its date. Folded.
struct ModelName {
  std::string dated;
  std::string plain;
};
ModelName model_name(std::string_view name);

}  // namespace undertext
