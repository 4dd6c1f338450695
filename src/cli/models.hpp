// `undertext models`: what the table has of a model, or of all.
#pragma once

#include <optional>
#include <string>

namespace undertext {

class Desk;

struct ModelsOptions {
  std::optional<std::string> name = {};    // unset: every row
  std::optional<std::string> models = {};  // a file, for add_models()
  bool json = false;
};

// Throws Failure: a file that is no good. A model that is unknown is told, with exit status 3.
int run_models(Desk& desk, const ModelsOptions& options);

}  // namespace undertext
