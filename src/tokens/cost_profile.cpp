#include "tokens/cost_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tokens/model_table.hpp"

namespace undertext {
namespace {

std::uint64_t squares(std::uint64_t length, std::uint64_t unit) {
  return (length + unit - 1) / unit;
}

struct Sides {
  std::uint64_t width, height;
  std::uint64_t longer() const { return std::max(width, height); }
  std::uint64_t shorter() const { return std::min(width, height); }

  // Both sides times to/from, never less than 1.
  void scale(std::uint64_t to, std::uint64_t from) {
    width = std::max<std::uint64_t>(1, width * to / from);
    height = std::max<std::uint64_t>(1, height * to / from);
  }
  std::uint64_t cover(std::uint64_t unit) const {
    return squares(width, unit) * squares(height, unit);
  }
};

// The patches of the largest copy that has at most `most`: one whose width or height is a whole
// number of patches.
std::uint64_t most_patches(const Sides& sides, std::uint64_t most) {
  std::uint64_t best = 1;
  // As wide as k patches, the copy is ceil(k · height / width) patches high, and so for the other
  // side.
  for (const auto& [one, other] :
       {std::pair(sides.width, sides.height), std::pair(sides.height, sides.width)}) {
    std::uint64_t low = 1, high = most;
    while (low < high) {  // the product grows with k
      const std::uint64_t k = (low + high + 1) / 2;
      (k * squares(k * other, one) <= most ? low : high) =
          k * squares(k * other, one) <= most ? k : k - 1;
    }
    const std::uint64_t patches = low * squares(low * other, one);
    if (patches <= most) best = std::max(best, patches);
  }
  return best;
}

// The copy has about `most` patches by its area, and is then made a little smaller until whole
// patches fill one side.
std::uint64_t whole_patches(const Sides& sides, std::uint64_t unit, std::uint64_t most) {
  const auto width = static_cast<double>(sides.width), height = static_cast<double>(sides.height),
             side = static_cast<double>(unit);
  const double ratio = std::sqrt(static_cast<double>(most) * side * side / (width * height));
  const double wide = width * ratio / side, high = height * ratio / side;
  const double fitted = std::min(std::floor(wide) / wide, std::floor(high) / high);
  // A hair is taken off so that a side that is a whole number of patches is not taken for one more.
  const auto up = [](double patches) { return std::max(1.0, std::ceil(patches - 1e-6)); };
  return static_cast<std::uint64_t>(
      std::min(up(wide * fitted) * up(high * fitted), static_cast<double>(most)));
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
        patches = kind == Kind::patches ? most_patches(sides, patches_max)
                                        : whole_patches(sides, unit, patches_max);
      tokens += (patches * per_mille + 500) / 1000;
      break;
    }
    case Kind::crops:
      if (std::max(size.width, size.height) > small) tokens = each * sides.cover(unit);
      break;
    case Kind::flat: break;
  }
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(tokens, 1, std::numeric_limits<std::uint32_t>::max()));
}

std::span<const CostProfile> cost_profiles() { return model_table().costs; }

const CostProfile* find_cost_profile(std::string_view name) {
  return model_table().find_costs(name);
}

const CostProfile& default_cost_profile() { return model_table().costs.front(); }

const CostProfile& cost_profile_for_model(std::string_view model) {
  const ModelTable& table = model_table();
  const CostProfile* costs = table.find_costs(table.find(model).costs);
  return costs != nullptr ? *costs : table.costs.front();
}

}  // namespace undertext
