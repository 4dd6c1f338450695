#include "tokens/cost_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace undertext {
namespace {

constexpr std::string_view cookbook = "OpenAI cookbook, How to count tokens with tiktoken";
constexpr std::string_view openai_vision = "OpenAI guide, Images and vision";
constexpr std::string_view openai_audio = "published by OpenAI as 1 token for 100 ms, not read again";
constexpr std::string_view gpt_tokenizer = "npm gpt-tokenizer 4.0.0";
constexpr std::string_view ai_tokenizer = "npm ai-tokenizer 1.0.6, its table of models";
constexpr std::string_view image_costs = "image-token-cost, a table of measured requests on huggingface.co";
constexpr std::string_view claude_vision = "Anthropic docs, Vision";
constexpr std::string_view claude_pdf = "published by Anthropic as 1,500 to 3,000 a page, not read again";
constexpr std::string_view gemini_tokens = "Gemini API docs, Understand and count tokens";
constexpr std::string_view gemini_documents = "published by Google, not read again";
constexpr std::string_view openai_recalled = "published by OpenAI, not read again";
constexpr std::string_view guess = "a guess of ours";

constexpr Figure guessed(std::uint32_t value) { return {value, Certainty::unknown, guess}; }

// Nothing in a message tells these, so they are the same for everybody.
constexpr Figure audio_bytes_per_second = guessed(16'000);   // 128 kbit/s
constexpr Figure video_bytes_per_second = guessed(250'000);  // 2 Mbit/s
constexpr Figure document_bytes_per_page = guessed(50'000);
constexpr Figure file_unseen = guessed(2'000);
constexpr Figure encrypted_bytes_per_token = guessed(4);
constexpr PixelSize image_unseen = {1024, 1024};

constexpr ImageRule tiles(std::uint32_t base, std::uint32_t each, std::string_view source, Certainty certainty = Certainty::exact) {
  return {.kind = ImageRule::Kind::tiles,
          .unit = 512,
          .base = base,
          .each = each,
          .side_max = 2048,
          .short_side = 768,
          .low_detail = base,
          .certainty = certainty,
          .source = source};
}

constexpr CostProfile openai(std::string_view name, std::string_view models, ImageRule image, Figure message) {
  return {.name = name,
          .models = models,
          .request = {3, Certainty::exact, cookbook},
          .message = message,
          .name_field = {1, Certainty::exact, cookbook},
          .tool_call = {3, Certainty::fitted, gpt_tokenizer},
          .tool_result = {0, Certainty::unknown, "no such part with this provider: a result is a message"},
          .image = image,
          .image_unseen = image_unseen,
          .audio_per_second = {10, Certainty::unknown, openai_audio},
          .video_per_second = {263, Certainty::unknown, "no such part with this provider: as Gemini"},
          .document_page = {1'500, Certainty::unknown, guess},
          .audio_bytes_per_second = audio_bytes_per_second,
          .video_bytes_per_second = video_bytes_per_second,
          .document_bytes_per_page = document_bytes_per_page,
          .file_unseen = file_unseen,
          .encrypted_bytes_per_token = encrypted_bytes_per_token};
}

// Three for the frame and one for the role, whose name is one token in every vocabulary of this provider.
constexpr Figure cookbook_message = {4, Certainty::exact, cookbook};

constexpr CostProfile anthropic(std::string_view name, std::string_view models, ImageRule image) {
  return {.name = name,
          .models = models,
          .request = {6, Certainty::fitted, ai_tokenizer},
          .message = {2, Certainty::fitted, ai_tokenizer},
          .name_field = {1, Certainty::unknown, guess},
          .tool_call = {8, Certainty::unknown, guess},
          .tool_result = {8, Certainty::unknown, guess},
          .image = image,
          .image_unseen = image_unseen,
          .audio_per_second = {32, Certainty::unknown, "no such part with this provider: as Gemini"},
          .video_per_second = {263, Certainty::unknown, "no such part with this provider: as Gemini"},
          .document_page = {3'000, Certainty::unknown, claude_pdf},
          .audio_bytes_per_second = audio_bytes_per_second,
          .video_bytes_per_second = video_bytes_per_second,
          .document_bytes_per_page = document_bytes_per_page,
          .file_unseen = file_unseen,
          .encrypted_bytes_per_token = encrypted_bytes_per_token};
}

constexpr CostProfile gemini(std::string_view name, std::string_view models, ImageRule image) {
  return {.name = name,
          .models = models,
          .request = {0, Certainty::fitted, ai_tokenizer},
          .message = {1, Certainty::unknown, guess},
          .name_field = {1, Certainty::unknown, guess},
          .tool_call = {8, Certainty::unknown, guess},
          .tool_result = {8, Certainty::unknown, guess},
          .image = image,
          .image_unseen = image_unseen,
          .audio_per_second = {32, Certainty::exact, gemini_tokens},
          .video_per_second = {263, Certainty::exact, gemini_tokens},
          .document_page = {258, Certainty::unknown, gemini_documents},
          .audio_bytes_per_second = audio_bytes_per_second,
          .video_bytes_per_second = video_bytes_per_second,
          .document_bytes_per_page = document_bytes_per_page,
          .file_unseen = file_unseen,
          .encrypted_bytes_per_token = encrypted_bytes_per_token};
}

constexpr ImageRule openai_patches(std::uint32_t patches_max, std::uint32_t per_mille, Certainty certainty,
                                   std::string_view source) {
  return {.kind = ImageRule::Kind::patches_whole,
          .unit = 32,
          .patches_max = patches_max,
          .per_mille = per_mille,
          .certainty = certainty,
          .source = source};
}

constexpr ImageRule anthropic_patches(std::uint32_t side_max, std::uint32_t patches_max, Certainty certainty,
                                      std::string_view source) {
  return {.kind = ImageRule::Kind::patches,
          .unit = 28,
          .side_max = side_max,
          .patches_max = patches_max,
          .certainty = certainty,
          .source = source};
}

constexpr std::array profiles = {
    openai("openai", "GPT-4o, 4.1, 4.5, and whatever is not known", tiles(85, 170, openai_vision), cookbook_message),
    openai("openai-mini", "GPT-4.1-mini, 5-mini, o4-mini and their like",
           openai_patches(1536, 1620, Certainty::exact, openai_vision), cookbook_message),
    openai("openai-4o-mini", "GPT-4o-mini", tiles(2833, 5667, openai_recalled, Certainty::unknown), cookbook_message),
    openai("openai-gpt-5", "GPT-5 to 5.4", tiles(70, 140, openai_recalled, Certainty::unknown),
           {4, Certainty::fitted, ai_tokenizer}),
    openai("openai-gpt-5.5", "GPT-5.5 and newer", openai_patches(10'000, 1200, Certainty::fitted, image_costs),
           {4, Certainty::fitted, ai_tokenizer}),
    anthropic("anthropic", "Claude 3 to 4.6", anthropic_patches(1568, 1568, Certainty::exact, claude_vision)),
    anthropic("anthropic-4.7", "Claude 4.7 and newer", anthropic_patches(2576, 4784, Certainty::fitted, image_costs)),
    gemini("gemini", "Gemini 2.0 and 2.5",
           {.kind = ImageRule::Kind::crops,
            .unit = 768,
            .base = 258,
            .each = 258,
            .side_max = 3072,
            .small = 384,
            .source = gemini_tokens}),
    gemini("gemini-3", "Gemini 3 and newer",
           {.kind = ImageRule::Kind::flat, .base = 1'100, .certainty = Certainty::fitted, .source = image_costs}),
};

std::uint64_t squares(std::uint64_t length, std::uint64_t unit) { return (length + unit - 1) / unit; }

struct Sides {
  std::uint64_t width, height;
  std::uint64_t longer() const { return std::max(width, height); }
  std::uint64_t shorter() const { return std::min(width, height); }

  // Both sides times to/from, never less than 1.
  void scale(std::uint64_t to, std::uint64_t from) {
    width = std::max<std::uint64_t>(1, width * to / from);
    height = std::max<std::uint64_t>(1, height * to / from);
  }
  std::uint64_t cover(std::uint64_t unit) const { return squares(width, unit) * squares(height, unit); }
};

// The patches of the largest copy that has at most `most`: one whose width or height is a whole number of patches.
std::uint64_t most_patches(const Sides& sides, std::uint64_t most) {
  std::uint64_t best = 1;
  // As wide as k patches, the copy is ceil(k · height / width) patches high, and so for the other side.
  for (const auto& [one, other] : {std::pair(sides.width, sides.height), std::pair(sides.height, sides.width)}) {
    std::uint64_t low = 1, high = most;
    while (low < high) {  // the product grows with k
      const std::uint64_t k = (low + high + 1) / 2;
      (k * squares(k * other, one) <= most ? low : high) = k * squares(k * other, one) <= most ? k : k - 1;
    }
    const std::uint64_t patches = low * squares(low * other, one);
    if (patches <= most) best = std::max(best, patches);
  }
  return best;
}

// The copy has about `most` patches by its area, and is then made a little smaller until whole patches fill one side.
std::uint64_t whole_patches(const Sides& sides, std::uint64_t unit, std::uint64_t most) {
  const auto width = static_cast<double>(sides.width), height = static_cast<double>(sides.height), side = static_cast<double>(unit);
  const double ratio = std::sqrt(static_cast<double>(most) * side * side / (width * height));
  const double wide = width * ratio / side, high = height * ratio / side;
  const double fitted = std::min(std::floor(wide) / wide, std::floor(high) / high);
  // A hair is taken off so that a side that is a whole number of patches is not taken for one more.
  const auto up = [](double patches) { return std::max(1.0, std::ceil(patches - 1e-6)); };
  return static_cast<std::uint64_t>(std::min(up(wide * fitted) * up(high * fitted), static_cast<double>(most)));
}

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// The version in "claude-opus-4-7-20260101", "claude-3.5-sonnet", "gpt-5.5", "gemini-3-pro": the first number of at most two digits, in tenths.
unsigned version_of(std::string_view model) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](std::size_t at) {
    std::size_t end = at;
    while (end < model.size() && is_digit(model[end])) ++end;
    return model.substr(at, end - at);
  };
  const auto value = [](std::string_view digits) {
    unsigned sum = 0;
    for (const char c : digits) sum = sum * 10 + static_cast<unsigned>(c - '0');
    return sum;
  };
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (!is_digit(model[i])) continue;
    const std::string_view major = number_at(i);
    i += major.size();
    if (major.size() > 2) continue;
    const bool has_minor = i + 1 < model.size() && (model[i] == '.' || model[i] == '-') && is_digit(model[i + 1]);
    const std::string_view minor = has_minor ? number_at(i + 1) : std::string_view();
    return value(major) * 10 + (minor.size() == 1 ? value(minor) : 0);
  }
  return 0;
}

}  // namespace

std::string_view name(Certainty certainty) {
  switch (certainty) {
    case Certainty::exact: return "exact";
    case Certainty::fitted: return "fitted";
    case Certainty::unknown: return "unknown";
  }
  return "unknown";
}

std::uint32_t ImageRule::tokens(PixelSize size, ImageDetail detail) const {
  if (detail == ImageDetail::low && low_detail) return *low_detail;
  Sides sides = {std::max(size.width, 1u), std::max(size.height, 1u)};
  if (side_max != 0 && sides.longer() > side_max) sides.scale(side_max, sides.longer());
  std::uint64_t tokens = base;
  switch (kind) {
    case Kind::tiles:
      if (sides.shorter() > short_side) sides.scale(short_side, sides.shorter());
      tokens += each * sides.cover(unit);
      break;
    case Kind::patches:
    case Kind::patches_whole: {
      std::uint64_t patches = sides.cover(unit);
      if (patches > patches_max)
        patches = kind == Kind::patches ? most_patches(sides, patches_max) : whole_patches(sides, unit, patches_max);
      tokens += (patches * per_mille + 500) / 1000;
      break;
    }
    case Kind::crops:
      if (std::max(size.width, size.height) > small) tokens = each * sides.cover(unit);
      break;
    case Kind::flat: break;
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tokens, 1, std::numeric_limits<std::uint32_t>::max()));
}

std::span<const CostProfile> cost_profiles() { return profiles; }

const CostProfile* find_cost_profile(std::string_view name) {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [name](const CostProfile& p) { return p.name == name; });
  return found == profiles.end() ? nullptr : &*found;
}

const CostProfile& default_cost_profile() { return profiles.front(); }

const CostProfile& cost_profile_for_model(std::string_view model) {
  const unsigned version = version_of(model);
  const auto named = [](std::string_view name) -> const CostProfile& { return *find_cost_profile(name); };
  if (contains(model, "claude") || contains(model, "anthropic")) return named(version >= 47 ? "anthropic-4.7" : "anthropic");
  if (contains(model, "gemini") || contains(model, "gemma"))
    return named(contains(model, "gemini") && version >= 30 ? "gemini-3" : "gemini");
  if (contains(model, "4o-mini")) return named("openai-4o-mini");
  const bool is_small = contains(model, "mini") || contains(model, "nano");
  if (is_small && (contains(model, "gpt-4.1") || contains(model, "gpt-5") || contains(model, "o4"))) return named("openai-mini");
  if (contains(model, "gpt-") && version >= 55) return named("openai-gpt-5.5");
  if (contains(model, "gpt-5")) return named("openai-gpt-5");
  return default_cost_profile();
}

}  // namespace undertext
