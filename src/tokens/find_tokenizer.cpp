// From names, and files, to tokenizers. What has been loaded stays loaded.
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <undertext/tokenizer.hpp>

#include "system/mapped_file.hpp"
#include "tokens/bpe_tokenizer.hpp"
#include "tokens/estimate_tokenizer.hpp"
#include "tokens/model_table.hpp"
#include "tokens/tiktoken_file.hpp"
#include "tokens/tokenizer_json.hpp"
#include "tokens/vocabulary_folders.hpp"

namespace undertext {
namespace {

using Found = Result<std::shared_ptr<const Tokenizer>>;

Error not_found(std::string message) {
  return {.code = ErrorCode::not_found, .message = std::move(message)};
}

Found from_vocabulary(Result<std::shared_ptr<const BpeVocabulary>> vocabulary) {
  if (!vocabulary) return std::move(vocabulary.error());
  return std::shared_ptr<const Tokenizer>(std::make_shared<BpeTokenizer>(*std::move(vocabulary)));
}

Found map_vocabulary(const MappedFile& file) {
  Result<std::shared_ptr<BpeVocabulary>> vocabulary = BpeVocabulary::open(file.bytes, file.owner);
  if (!vocabulary) return std::move(vocabulary.error());
  return std::shared_ptr<const Tokenizer>(std::make_shared<BpeTokenizer>(*std::move(vocabulary)));
}

Found read_tiktoken(const MappedFile& file, std::string_view file_name) {
  Result<VocabularySource> source = read_tiktoken_file(file.bytes, file_name);
  if (!source) return std::move(source.error());
  return from_vocabulary(make_open_vocabulary(*source));
}

Found read_path(const std::string& path) {
  const Result<MappedFile> file = map_file(path);
  if (!file) return file.error();
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  Found found = name.ends_with(".tiktoken")         ? read_tiktoken(*file, name)
                : name.ends_with(vocabulary_suffix) ? map_vocabulary(*file)
                                                    : read_tokenizer_json(file->bytes, path);
  if (!found) found.error().message = path + ": " + found.error().message;
  return found;
}

Found read_installed(std::string_view name) {
  for (const std::string& folder : vocabulary_folders()) {
    std::string path = folder + "/" + std::string(name) + std::string(vocabulary_suffix);
    Found found = read_path(path);
    if (found || found.error().code != ErrorCode::not_found) return found;
  }
  return not_found("the vocabulary " + std::string(name) +
                   " is not installed: run scripts/vocabularies, or set UNDERTEXT_VOCABULARIES to "
                   "a folder that has it");
}

// Loads once. What cannot be loaded is tried again the next time.
Found load(const std::string& name) {
  // never destroyed, so that it can be used while the program ends
  static std::mutex& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::shared_ptr<const Tokenizer>>;
  const std::lock_guard lock(mutex);
  if (const auto place = loaded.find(name); place != loaded.end()) return place->second;
  Found found = name.find('/') == std::string::npos ? read_installed(name) : read_path(name);
  if (found) loaded.emplace(name, *found);
  return found;
}

bool is_vocabulary(std::string_view name) { return name == "o200k_base" || name == "cl100k_base"; }

// By the name that a row of the table has for it. A vocabulary that is not installed is estimated.
Found of_model(const Model& model) {
  constexpr std::string_view family = "estimate:";
  const std::string_view name = model.tokenizer;
  if (name.starts_with(family)) return estimate_tokenizer(name.substr(family.size()));
  if (name == "estimate") return estimate_tokenizer("");
  Found found = load(std::string(name));
  if (found || found.error().code != ErrorCode::not_found || !is_vocabulary(name)) return found;
  for (const EstimateRow& row : model_table().estimates)
    if (row.vocabulary == name) return estimate_tokenizer(row.name);
  return estimate_tokenizer("");
}

}  // namespace

Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> find_tokenizer(std::string_view name) {
  constexpr std::string_view family = "estimate:";
  if (name == "estimate") return estimate_tokenizer("");
  if (name.starts_with(family)) {
    if (std::shared_ptr<const Tokenizer> found = estimate_tokenizer(name.substr(family.size())))
      return found;
    return not_found("there is no estimate of this name: \"" + std::string(name) + "\"");
  }
  if (is_vocabulary(name)) return load(std::string(name));
  const Model model = find_model(name);
  if (name.find('/') != std::string_view::npos) {
    Found found = load(std::string(name));
    // openai/… has a slash in it too.
    if (found || !model.is_known() || found.error().code != ErrorCode::not_found) return found;
  }
  if (!model.is_known())
    return not_found("no tokenizer is called \"" + std::string(name) +
                     "\", and no model that is known");
  return of_model(model);
}

}  // namespace undertext
