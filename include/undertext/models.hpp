// What is known of a model by its name: one table, src/tokens/models.json, is the only place where models are named.
//
//     Model model = find_model("us.anthropic.Claude-Opus-4-7-20260416-v1:0");
//     model.tokenizer;                 // "estimate:claude-4.7", for find_tokenizer()
//     model.limits.window;             // 1000000
//     model.prices.input;              // 5: US dollars for a million tokens
//     add_models(file_contents);       // rows of the program's own, over those that are there
//     count_tools(tools_json, "gpt-4o").value().tokens;
//
// Upper and lower case are one, and so are '.', '_' and '-'. What is put before a name ("openai/", "models/", "us.anthropic.", "ft:") and behind it
// (":free", "-v1:0", "@20250514", "-2025-04-14", "-20250514", "-latest") is looked past. docs/models.md says how a name finds its rows.
//
// The table is shared by the whole process. Any thread may call any of this; a Model is a copy, and stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

// Where figures come from, and of which day (YYYY-MM-DD) they are. Rows of a program's own may leave them empty.
struct Source {
  std::string title = {};
  std::string date = {};
};

// What is unknown is absent: unset, or empty.
struct Model {
  std::string name;  // as it was asked for
  std::string
      row;  // the most specific name in the table that fits it, such as "gpt-4o" or "claude-opus-4-7*"; empty: the model is unknown

  std::string tokenizer = "estimate";  // as find_tokenizer() takes it
  std::string costs = "openai";        // what is no text: see docs/tokens.md
  std::vector<std::string> profiles =
      {};              // as find_profile() takes them; the first is the default, the others are for their dialects
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

// Lays rows over those that are there, in the format of src/tokens/models.json (docs/models.md). A conversation that is open counts as before.
// invalid_argument: the file is no good; the message has the row and the field, and nothing has changed.
UNDERTEXT_API Result<void> add_models(std::string_view json);

struct ToolsCount {
  std::uint64_t tokens = 0;
  std::uint64_t tools = 0;
  bool exact = false;  // the provider publishes the rule for tools like these, and the tokenizer is exact
};

// What a request's `tools` cost: the `overhead` of a Budget. A JSON array, in the form of any provider. `counting` is a model's name, or what a conversation's
// `tokenizer` may be. invalid_argument: no array of objects. not_found: as find_tokenizer().
UNDERTEXT_API Result<ToolsCount> count_tools(std::string_view tools_json, std::string_view counting);

}  // namespace undertext
