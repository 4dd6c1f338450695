#include "json/kept_settings.hpp"

#include <utility>

#include "json/settings_json.hpp"

namespace undertext {

Result<Conversation> open_kept(std::shared_ptr<Store> store, std::string_view id, KeptOpen how) {
  std::optional<std::string> config = how.config;
  std::string tokenizer;
  if (!config && how.options.make != OpenOptions::Make::always) {
    Result<std::string> stored = Conversation::stored_note(*store, id);
    const bool is_new = !stored && stored.error().code == ErrorCode::not_found &&
                        how.options.make != OpenOptions::Make::never;
    if (!stored && !is_new) return std::move(stored.error());
    if (stored && !stored->empty()) config = std::move(*stored);
    if (Result<std::string> counted = Conversation::stored_tokenizer(*store, id))
      tokenizer = std::move(*counted);
  }
  Settings settings = std::move(how.own);
  if (config) {
    Result<DoorSettings> door = read_settings(*config, std::move(settings));
    if (!door) return std::move(door.error());
    settings = std::move(door->settings);
  }
  if (!tokenizer.empty()) settings.tokenizer = std::move(tokenizer);
  how.options.note = std::move(how.config);
  return Conversation::open(std::move(store), id, std::move(settings), how.options);
}

}  // namespace undertext
