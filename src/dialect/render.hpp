// The steps of render(), for those who keep some of their results.
#pragma once

#include <string>
#include <vector>

#include <undertext/dialect.hpp>

#include "dialect/rules.hpp"

namespace undertext {

std::vector<Turn> read_view(const View& view, Arena& arena);
RequestDraft adapted(const std::vector<Turn>& turns, const Profile& profile, Arena& arena);
Result<Rendering> render_draft(RequestDraft draft, const Profile& profile,
                               const RenderOptions& options, Arena& arena, const View* view);

std::vector<Finding> public_findings(const std::vector<Fault>& found, const RequestDraft& draft,
                                     Dialect dialect, const View* view);
std::vector<Loss> public_losses(const std::vector<Lost>& lost, const View* view);
std::string path_of(Dialect dialect, std::size_t turn, std::size_t block,
                    const RequestDraft& draft);

}  // namespace undertext
