#include <undertext/operation.hpp>

namespace undertext {
namespace {

struct NameOf {
  std::string_view operator()(const op::Append&) const { return "APPEND"; }
  std::string_view operator()(const op::Insert&) const { return "INSERT"; }
  std::string_view operator()(const op::Replace&) const { return "REPLACE"; }
  std::string_view operator()(const op::Truncate&) const { return "TRUNCATE"; }
  std::string_view operator()(const op::Clear&) const { return "CLEAR"; }
  std::string_view operator()(const op::Filter&) const { return "FILTER"; }
  std::string_view operator()(const op::Delete&) const { return "DELETE"; }
  std::string_view operator()(const op::Compress&) const { return "COMPRESS"; }
  std::string_view operator()(const op::ApplyPlan&) const { return "COMPRESS"; }
  std::string_view operator()(const op::CompressBy&) const { return "COMPRESS"; }
  std::string_view operator()(const op::Expand&) const { return "EXPAND"; }
  std::string_view operator()(const op::Merge&) const { return "MERGE"; }
  std::string_view operator()(const op::Split&) const { return "SPLIT"; }
  std::string_view operator()(const op::Transform&) const { return "TRANSFORM"; }
  std::string_view operator()(const op::StartBatch&) const { return "START_BATCH"; }
  std::string_view operator()(const op::EndBatch&) const { return "END_BATCH"; }
  std::string_view operator()(const op::Rollback&) const { return "ROLLBACK"; }
  std::string_view operator()(const op::Mark&) const { return "MARK"; }
  std::string_view operator()(const op::Unmark&) const { return "UNMARK"; }
  std::string_view operator()(const op::Undo&) const { return "UNDO"; }
  std::string_view operator()(const op::Redo&) const { return "REDO"; }
  std::string_view operator()(const op::Restore&) const { return "RESTORE"; }
  std::string_view operator()(const op::ImportMarkMap&) const { return "IMPORT_MARK_MAP"; }
};

}  // namespace

std::string_view name(const Operation& operation) { return std::visit(NameOf{}, operation.what); }

}  // namespace undertext
