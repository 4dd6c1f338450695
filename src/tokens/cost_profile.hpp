// What providers charge for what is no text: each number with where it comes from and how far it
// can be trusted.
//
// The numbers are rows of models.json. docs/tokens.md shows them as a table; a test compares the
// two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace undertext {

enum class Certainty : std::uint8_t {
  exact,    // the provider publishes the rule
  fitted,   // measured from outside, by somebody who compared requests with what was charged
  unknown,  // a cautious guess of ours, or something that was published once and not checked since
};

std::string_view name(Certainty certainty);

struct Figure {
  std::uint32_t value = 0;
  Certainty certainty = Certainty::unknown;
  std::string source = {};
};

// "auto", "original" and anything else count as high
enum class ImageDetail : std::uint8_t { high, low };

struct PixelSize {
  std::uint32_t width;
  std::uint32_t height;
};

struct ImageRule {
  enum class Kind : std::uint8_t {
    // fit a square of `side_max`, then the shorter side to `short_side`; `base`, and `each` for
    // every square of `unit`
    tiles,
    // the largest size within `side_max` and `patches_max` squares of `unit`; each square is one
    patches,
    // the same, but a picture that is made smaller is made so that whole squares fill one side
    patches_whole,
    // `base` when no side is over `small`; else, fitted to a square of `side_max`, `each` for every
    // square of `unit`
    crops,
    flat,  // `base`
  };
  Kind kind = Kind::flat;
  std::uint32_t unit = 1;
  std::uint32_t base = 0;
  std::uint32_t each = 0;
  std::uint32_t side_max = 0;  // 0: any
  std::uint32_t short_side = 0;
  std::uint32_t small = 0;
  std::uint32_t patches_max = 0;
  std::uint32_t per_mille = 1000;  // of a token, for a patch
  // what detail "low" costs, where there is such a thing
  std::optional<std::uint32_t> low_detail = {};
  Certainty certainty = Certainty::unknown;
  std::string source = {};

  // Any size will do; one of 0 counts as 1. At least 1.
  std::uint32_t tokens(PixelSize size, ImageDetail detail) const;
};

// What the definitions of tools cost, beside the tokens of "name:description" of each and
// "name:type:description" of its properties.
struct ToolRule {
  std::uint32_t once = 0;        // a request that has any
  std::uint32_t each = 0;        // a tool
  std::uint32_t properties = 0;  // a tool that has any
  std::uint32_t property = 0;
  std::int32_t enumeration = 0;  // a property that lists its values
  std::uint32_t item = 0;        // a value of such a list
  Certainty certainty = Certainty::unknown;
  std::string source = {};
};

struct CostProfile {
  std::string name = {};
  std::string models = {};  // for people: whom it is for
  std::string date = {};    // when its figures were looked up

  Figure request;       // once a request; no part of any message
  Figure message;       // around each message, its role included
  Figure name_field;    // beside the tokens of a `name`
  Figure call_frame;    // around a call's name and arguments
  Figure result_frame;  // around a result that is a part of a message

  ToolRule tools;

  ImageRule image;
  // taken for an image whose size is not to be seen: a URL, a file id, an unknown format
  PixelSize image_unseen = {1024, 1024};

  Figure audio_per_second;
  Figure video_per_second;
  Figure document_page;

  // Lengths that nothing tells are guessed from the bytes.
  Figure audio_bytes_per_second;
  Figure video_bytes_per_second;
  Figure document_bytes_per_page;
  // audio, video or a document of which only a URL or an id is there
  Figure file_unseen;
  Figure encrypted_bytes_per_token;  // redacted thinking, encrypted reasoning
};

// All there are; the default one is the first. They live as long as the process.
std::span<const CostProfile> cost_profiles();

// Null for a name that none of them has.
const CostProfile* find_cost_profile(std::string_view name);

// The one whose message overhead is published.
const CostProfile& default_cost_profile();

// The default one for a model nobody knows.
const CostProfile& cost_profile_for_model(std::string_view model);

}  // namespace undertext
