#include "json/recorded_operation.hpp"

#include <utility>

#include "json/answer_json.hpp"

namespace undertext {
namespace {

// Both directions are said once, in describe(): `io` is an Out or an In, with the same functions.
//
//     need(name, value)    always there
//     take(name, value)    there when it is set, not empty, or true

class Out {
 public:
  explicit Out(std::string& out) : out_(out) {}
  static constexpr bool writes = true;

  void need(std::string_view name, const std::uint64_t& value) { key(name) += std::to_string(value); }
  void need(std::string_view name, const bool& value) { key(name) += value ? "true" : "false"; }
  void need(std::string_view name, const std::string& value) { append_json_string(key(name), value); }
  void need(std::string_view name, const std::vector<std::uint64_t>& value) { append_json(key(name), value); }
  void need(std::string_view role_or_word, const Role& value) { append_json_string(key(role_or_word), name(value)); }
  void need(std::string_view name, const Pairs& value) {
    constexpr std::string_view words[] = {"literal", "shrink", "grow"};
    append_json_string(key(name), words[static_cast<std::size_t>(value)]);
  }
  void need(std::string_view name, const TruncateText::Keep& value) {
    constexpr std::string_view words[] = {"head", "tail", "both"};
    append_json_string(key(name), words[static_cast<std::size_t>(value)]);
  }
  void need(std::string_view name, const RawObject& value) { key(name) += value.json; }

  void take(std::string_view name, const bool& value) {
    if (value) need(name, value);
  }
  void take(std::string_view name, const std::string& value) {
    if (!value.empty()) need(name, value);
  }
  void take(std::string_view name, const std::uint64_t& value) {
    if (value != 0) need(name, value);
  }
  template <class T>
  void take(std::string_view name, const std::optional<T>& value) {
    if (value) need(name, *value);
  }
  void take(std::string_view list, const std::vector<Role>& value) {
    take_list(list, value, [&](Role role) { append_json_string(out_, name(role)); });
  }
  void take(std::string_view list, const std::vector<std::string>& value) {
    take_list(list, value, [&](const std::string& text) { append_json_string(out_, text); });
  }
  void take(std::string_view list, const std::vector<std::uint64_t>& value) {
    if (!value.empty()) need(list, value);
  }

  template <class Describe>
  void object(std::string_view name, Describe describe) {
    key(name) += '{';
    first_ = true;
    describe(*this);
    out_ += '}';
    first_ = false;
  }
  template <class T, class Describe>
  void objects(std::string_view name, std::vector<T>& list, Describe describe) {
    key(name) += '[';
    const char* separator = "";
    for (T& element : list) {
      out_ += std::exchange(separator, ",");
      out_ += '{';
      first_ = true;
      describe(*this, element);
      out_ += '}';
    }
    out_ += ']';
    first_ = false;
  }
  bool has(std::string_view) const { return false; }

 private:
  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    return out_ += ':';
  }
  template <class T, class Write>
  void take_list(std::string_view name, const std::vector<T>& list, Write write) {
    if (list.empty()) return;
    key(name) += '[';
    const char* separator = "";
    for (const T& element : list) {
      out_ += std::exchange(separator, ",");
      write(element);
    }
    out_ += ']';
  }

  std::string& out_;
  bool first_ = false;  // of an object
};

class In {
 public:
  explicit In(Fields& fields) : fields_(fields) {}
  static constexpr bool writes = false;

  template <class T>
  void need(std::string_view name, T& value) {
    fields_.need(name, value);
  }
  template <class T>
  void take(std::string_view name, T& value) {
    fields_.take(name, value);
  }
  template <class Describe>
  void object(std::string_view name, Describe describe) {
    fields_.need_object(name, [&](Fields& inner) {
      In in(inner);
      describe(in);
    });
  }
  template <class T, class Describe>
  void objects(std::string_view name, std::vector<T>& list, Describe describe) {
    if (!fields_.has(name)) fields_.missing(name);
    fields_.take_objects(name, [&](Fields& inner) {
      In in(inner);
      describe(in, list.emplace_back());
    });
  }
  bool has(std::string_view name) const { return fields_.has(name); }

 private:
  Fields& fields_;
};

// Stands for a summary: what it was is among the messages that were stored.
const Message& some_message() {
  static const Message message = Message::make(Role::user, "summary").value();
  return message;
}

template <class Io>
void describe_summary(Io& io, std::optional<Message>& summary) {
  bool there = summary.has_value();
  io.take("summary", there);
  if (there && !summary) summary = some_message();
}

template <class Io>
void describe(Io& io, Names& names) {
  if (!Io::writes) names.by = io.has("ordinals") ? Names::By::ordinal : Names::By::index;
  io.need(names.by == Names::By::ordinal ? "ordinals" : "indices", names.numbers);
}

template <class Io>
void describe(Io& io, Range& range) {
  io.need("start", range.start);
  io.need("end", range.end);
}

template <class Io>
void describe(Io&, op::Append&) {}
template <class Io>
void describe(Io& io, op::Insert& o) {
  io.need("position", o.position);
}
template <class Io>
void describe(Io& io, op::Replace& o) {
  const bool one = Io::writes ? o.names.by == Names::By::index && o.names.numbers.size() == 1 : io.has("index");
  if (!one) return describe(io, o.names);
  if (!Io::writes) o.names = Names::indices({0});
  io.need("index", o.names.numbers[0]);
}
template <class Io>
void describe(Io& io, op::Truncate& o) {
  io.take("keepFirst", o.keep_first);
  io.take("keepLast", o.keep_last);
  io.take("removeFirst", o.remove_first);
  io.take("removeLast", o.remove_last);
  if (o.range || io.has("range")) {
    if (!o.range) o.range.emplace();
    io.object("range", [&](Io& inner) { describe(inner, *o.range); });
  }
  io.take("role", o.role);
  io.take("pairs", o.pairs);
}
template <class Io>
void describe(Io& io, op::Clear& o) {
  io.need("keepSystemMessage", o.keep_system_message);
}
template <class Io>
void describe(Io& io, op::Filter& o) {
  io.take("roles", o.roles);
  io.take("contentContains", o.content_contains);
  io.take("contentExcludes", o.content_excludes);
  io.take("pairs", o.pairs);
}
template <class Io>
void describe(Io& io, op::Delete& o) {
  describe(io, o.names);
  io.take("pairs", o.pairs);
}
template <class Io>
void describe(Io& io, op::Compress& o) {
  describe(io, o.names);
  describe_summary(io, o.summary);
}
template <class Io>
void describe(Io& io, op::ApplyPlan& o) {
  io.object("plan", [&](Io& inner) {
    Plan& plan = o.plan;
    inner.need("base", plan.base.value);
    inner.objects("replacements", plan.replacements, [](Io& each, Replacement& replacement) {
      each.objects("hidden", replacement.hidden, [](Io& stretch, Range& range) { describe(stretch, range); });
      describe_summary(each, replacement.summary);
    });
    inner.take("strategy", plan.strategy);
    inner.take("summariser", plan.summariser);
    inner.take("model", plan.model);
    inner.take("reason", plan.reason);
    inner.need("tokensBefore", plan.tokens_before);
    inner.need("tokensAfter", plan.tokens_after);
    inner.take("promptTokens", plan.prompt_tokens);
    inner.take("completionTokens", plan.completion_tokens);
  });
}
template <class Io>
void describe(Io& io, op::Expand& o) {
  io.need("index", o.index);
}
template <class Io>
void describe(Io& io, op::Merge& o) {
  io.need("indices", o.indices);
  io.need("separator", o.separator);
}
template <class Io>
void describe(Io& io, op::Split& o) {
  io.need("index", o.index);
  io.need("at", o.at);
}

template <class Change>
bool is_change(const op::Transform& o) {
  return std::holds_alternative<Change>(o.change);
}
template <class Io>
void describe(Io& io, op::Transform& o) {
  if (Io::writes ? std::holds_alternative<std::vector<Role>>(o.which) : io.has("roles")) {
    if (!Io::writes) o.which.emplace<std::vector<Role>>();
    io.take("roles", std::get<std::vector<Role>>(o.which));
  } else {
    describe(io, std::get<Names>(o.which));
  }
  if (Io::writes ? is_change<TruncateText>(o) : io.has("truncateText")) {
    if (!Io::writes) o.change.emplace<TruncateText>();
    io.object("truncateText", [&](Io& inner) {
      TruncateText& change = std::get<TruncateText>(o.change);
      inner.need("maxChars", change.chars_max);
      inner.need("keep", change.keep);
      inner.need("marker", change.marker);
    });
  } else if (Io::writes ? is_change<SetMetadata>(o) : io.has("setMetadata")) {
    RawObject object;
    if (Io::writes) object.json = std::get<SetMetadata>(o.change).object_json;
    io.need("setMetadata", object);
    if (!Io::writes) o.change = SetMetadata{std::move(object.json)};
  } else if (Io::writes ? is_change<ReplaceText>(o) : io.has("replaceText")) {
    io.object("replaceText", [&](Io& inner) {
      ReplaceText& change = std::get<ReplaceText>(o.change);
      inner.need("find", change.find);
      inner.need("with", change.with);
    });
  } else {
    bool function = true;
    io.need("function", function);
    if (!Io::writes) o.change = op::TransformFunction();
  }
}
template <class Io>
void describe(Io& io, op::StartBatch& o) {
  io.take("boundary", o.boundary);
  io.take("hidePrior", o.hide_prior);
}
template <class Io>
void describe(Io& io, op::EndBatch& o) {
  io.need("targetBatch", o.target_batch);
  io.take("carry", o.carry);
}
template <class Io>
void describe(Io& io, op::Rollback& o) {
  io.need("targetBatchIndex", o.target_batch_index);
}
template <class Io>
void describe(Io& io, op::Mark& o) {
  describe(io, o.names);
  io.need("mark", o.mark);
}
template <class Io>
void describe(Io& io, op::Unmark& o) {
  describe(io, o.names);
  io.need("mark", o.mark);
}
template <class Io>
void describe(Io&, op::Undo&) {}
template <class Io>
void describe(Io&, op::Redo&) {}
template <class Io>
void describe(Io& io, op::Restore& o) {
  io.need("restoredVersion", o.version);  // "version" is the one it made
}
template <class Io>
void describe(Io& io, op::ImportMarkMap& o) {
  io.object("markMap", [&](Io& inner) {
    inner.need("originalIndices", o.map.original_indices);
    inner.object("typeIndices", [&](Io& types) {
      for (std::size_t role = 0; role < role_count; ++role) types.take(name(static_cast<Role>(role)), o.map.type_indices[role]);
    });
    inner.need("batchBoundaries", o.map.batch_boundaries);
    inner.need("boundaryToBatch", o.map.boundary_to_batch);
    inner.need("currentBatch", o.map.current_batch);
  });
}
template <class Io>
void describe(Io&, op::CompressBy&) {}

// The alternative of Operation::What with this name. Of those that share one, the first; COMPRESS by a plan is told by its plan.
template <std::size_t index = 0>
std::optional<Operation::What> made_by_name(std::string_view wanted) {
  if constexpr (index == std::variant_size_v<Operation::What>) {
    return {};
  } else {
    Operation operation{Operation::What(std::in_place_index<index>)};
    if (name(operation) == wanted) return std::move(operation.what);
    return made_by_name<index + 1>(wanted);
  }
}

}  // namespace

void append_recorded_arguments(std::string& out, Operation operation) {
  Out io(out);
  std::visit([&](auto& what) { describe(io, what); }, operation.what);
}

Operation::What take_recorded_arguments(Fields& fields, std::string_view operation) {
  std::optional<Operation::What> what = made_by_name(operation);
  if (!what) {
    fields.fail("operation", "\"" + clipped(operation) + "\" is unknown");
    return op::Append{};
  }
  if (std::holds_alternative<op::Compress>(*what) && fields.has("plan")) *what = op::ApplyPlan{};
  In io(fields);
  std::visit([&](auto& each) { describe(io, each); }, *what);
  return std::move(*what);
}

}  // namespace undertext
