#include <undertext/operation.hpp>

#include "history/operation_table.hpp"

namespace undertext {

std::string_view name(const Operation& operation) { return row_of(operation).name; }

std::string_view name(ReconcileOutcome outcome) {
  return words_of<ReconcileOutcome>[static_cast<std::size_t>(outcome)];
}

std::string_view name(MergeMode mode) {
  return words_of<MergeMode>[static_cast<std::size_t>(mode)];
}

const Message& some_message() {
  static const Message message = Message::make(Role::user, "summary").value();
  return message;
}

Operation to_record(Operation operation, Pairs pairs) {
  std::visit(
      [&](auto& what) {
        if constexpr (requires { what.pairs; }) what.pairs = what.pairs.value_or(pairs);
        if constexpr (requires { what.change; }) {
          if (std::holds_alternative<op::TransformFunction>(what.change))
            what.change = op::TransformFunction();
        }
        if constexpr (requires { what.find; }) what.find = {};
      },
      operation.what);
  return operation;
}

bool needs_order(const RecordedOperation& record) {
  const std::uint8_t since = traits_of(record.operation).ordered_since;
  return since != 0 && (record.tag == 0 || record.tag >= since);
}

bool may_reorder(const Operation& operation) {
  const bool carries_nothing = std::visit(
      [](const auto& what) {
        if constexpr (requires { what.carry; }) return what.carry.empty();
        return false;
      },
      operation.what);
  return traits_of(operation).may_reorder && !carries_nothing;
}

bool is_filter_by_text(const Operation& operation) {
  const auto* filter = std::get_if<op::Filter>(&operation.what);
  return filter && (!filter->content_contains.empty() || !filter->content_excludes.empty());
}

bool mends_units(const Operation& operation) {
  return std::visit(
      [](const auto& what) {
        if constexpr (requires { what.pairs; })
          return what.pairs.value_or(Pairs::literal) != Pairs::literal;
        return false;
      },
      operation.what);
}

std::uint8_t tag_to_write(const Operation& operation) {
  const OperationRow& row = row_of(operation);
  if (const auto* apply = std::get_if<op::ApplyPlan>(&operation.what);
      apply && !apply->plan.target_tokens)
    return first_tag(row);
  if (const auto* reconciled = std::get_if<op::Reconciled>(&operation.what);
      reconciled && reconciled->reference == 0)
    return row.tags[1];
  const bool has_pairs =
      std::visit([](const auto& what) { return requires { what.pairs; }; }, operation.what);
  return has_pairs && !mends_units(operation) ? first_tag(row) : written_tag(row);
}

bool records_kept(const Operation& operation, std::uint8_t tag) {
  return is_filter_by_text(operation) ||
         (mends_units(operation) && tag != first_tag(row_of(operation)));
}

}  // namespace undertext
