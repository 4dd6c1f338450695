// Facts about a model by its name. One table, src/tokens/models.json, has all names of models.
//
//     Model model = find_model("us.anthropic.Claude-Opus-4-7-20260416-v1:0");
//     model.tokenizer;                 // "estimate:claude-4.7", for find_tokenizer()
//     model.limits.window;             // 1000000
//     model.prices.input;              // 5: US dollars for a million tokens
//     add_models(file_contents);       // custom rows override those of the table
//     count_tools(tools_json, "gpt-4o").value().tokens;
//
// Names are case-insensitive, and '.', '_' and '-' are equal. Prefixes ("openai/", "models/",
// "us.anthropic.", "ft:") and suffixes (":free", "-v1:0", "@20250514", "-2025-04-14", "-20250514",
// "-latest") are ignored. docs/models.md says how a name finds its rows.
//
// The table is shared by the whole process. Any thread may call any of this; a Model is a copy that
// does not change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

// The source of figures, and its date (YYYY-MM-DD). Custom rows may leave them empty.
struct Source {
  std::string title = {};
  std::string date = {};
};

// What is unknown is absent: unset, or empty.
struct Model {
  std::string name;  // as it was asked for
  // the most specific matching row, such as "gpt-4o" or "claude-opus-4-7*"; empty: the model is
  // unknown
  std::string row;

  std::string tokenizer = "estimate";  // as find_tokenizer() takes it
  std::string costs = "openai";        // of content other than text: see docs/tokens.md
  // As find_profile() takes them. The first is the default, the others are for their dialects.
  std::vector<std::string> profiles = {};
  Source source = {};  // of these three

  struct Limits {
    std::optional<std::uint64_t> window = {};      // the most tokens that a request may have
    std::optional<std::uint64_t> answer_max = {};  // the most that an answer may have
    Source source = {};
  } limits = {};

  struct Prices {  // US dollars for a million tokens
    std::optional<double> input = {}, output = {}, cache_read = {}, cache_write = {};
    std::optional<double> cache_write_hour = {};  // of what the cache keeps for an hour
    Source source = {};
  } prices = {};

  bool is_known() const { return !row.empty(); }
};

// Never fails: of an unknown model, the estimate and the default costs.
UNDERTEXT_API Model find_model(std::string_view name);

// The rows of the table, by their names as they are written there. Rows of families end with '*'.
UNDERTEXT_API std::vector<std::string> model_names();

// Overrides rows of the table, in the format of src/tokens/models.json (docs/models.md). Open
// conversations count as before.
// invalid_argument: the file has an error; the message names the row and the field, and nothing has
// changed.
UNDERTEXT_API Result<void> add_models(std::string_view json);

struct ToolsCount {
  std::uint64_t tokens = 0;
  std::uint64_t tools = 0;
  // the provider publishes the rule for tools like these, and the tokenizer is exact
  bool exact = false;
};

// Counts the tokens of a request's `tools`, a JSON array in the form of any provider: the
// `overhead` of a Budget. `counting` is a model's name, or a value of Settings::tokenizer.
// invalid_argument: no array of objects. not_found: as find_tokenizer().
UNDERTEXT_API Result<ToolsCount> count_tools(std::string_view tools_json,
                                             std::string_view counting);

}  // namespace undertext
