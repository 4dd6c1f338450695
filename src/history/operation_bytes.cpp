#include "history/operation_bytes.hpp"

#include <algorithm>
#include <utility>

namespace undertext {
namespace {

// The first byte of a stored operation. Never reused, never changed.
enum class Tag : std::uint8_t {
  append = 1,
  insert = 2,
  replace = 3,
  truncate = 4,
  clear = 5,
  filter = 6,
  del = 7,
  compress = 8,
  apply_plan = 9,
  expand = 10,
  merge = 11,
  split = 12,
  transform = 13,
  start_batch = 14,
  end_batch = 15,
  rollback = 16,
  mark = 17,
  unmark = 18,
  undo = 19,
  redo = 20,
  restore = 21,
  import_mark_map = 22,
};

// Stands for a summary, of which only that it was there is known here.
const Message& some_message() {
  static const Message message = Message::make(Role::user, "summary").value();
  return message;
}

class Out {
 public:
  explicit Out(ByteOut& out) : out_(out) {}

  void operator()(const op::Append&) { tag(Tag::append); }
  void operator()(const op::Insert& o) {
    tag(Tag::insert);
    out_.number(o.position);
  }
  void operator()(const op::Replace& o) {
    tag(Tag::replace);
    names(o.names);
  }
  void operator()(const op::Truncate& o) {
    tag(Tag::truncate);
    for (const auto& count : {o.keep_first, o.keep_last, o.remove_first, o.remove_last}) optional(count);
    out_.flag(o.range.has_value());
    if (o.range) range(*o.range);
    out_.number(o.role ? static_cast<std::uint64_t>(*o.role) + 1 : 0);
    pairs(o.pairs);
  }
  void operator()(const op::Clear& o) {
    tag(Tag::clear);
    out_.flag(o.keep_system_message);
  }
  void operator()(const op::Filter& o) {
    tag(Tag::filter);
    roles(o.roles);
    texts(o.content_contains);
    texts(o.content_excludes);
    pairs(o.pairs);
  }
  void operator()(const op::Delete& o) {
    tag(Tag::del);
    names(o.names);
    pairs(o.pairs);
  }
  void operator()(const op::Compress& o) {
    tag(Tag::compress);
    names(o.names);
    out_.flag(o.summary.has_value());
  }
  void operator()(const op::ApplyPlan& o) {
    tag(Tag::apply_plan);
    const Plan& plan = o.plan;
    out_.number(plan.base.value);
    out_.number(plan.replacements.size());
    for (const Replacement& r : plan.replacements) {
      out_.number(r.hidden.size());
      for (const Range& hidden : r.hidden) range(hidden);
      out_.flag(r.summary.has_value());
    }
    for (const std::string& text : {plan.strategy, plan.summariser, plan.model, plan.reason}) out_.text(text);
    for (const std::uint64_t n : {plan.tokens_before, plan.tokens_after, plan.prompt_tokens, plan.completion_tokens})
      out_.number(n);
  }
  void operator()(const op::CompressBy&) { throw Failure(Error{ErrorCode::internal, "a plan was to be made before"}); }
  void operator()(const op::Expand& o) {
    tag(Tag::expand);
    out_.number(o.index);
  }
  void operator()(const op::Merge& o) {
    tag(Tag::merge);
    numbers(o.indices);
    out_.text(o.separator);
  }
  void operator()(const op::Split& o) {
    tag(Tag::split);
    out_.number(o.index);
    numbers(o.at);
  }
  void operator()(const op::Transform& o) {
    tag(Tag::transform);
    out_.number(o.which.index());
    if (const Names* named = std::get_if<Names>(&o.which)) {
      names(*named);
    } else {
      roles(std::get<std::vector<Role>>(o.which));
    }
    out_.number(o.change.index());
    if (const auto* replace = std::get_if<ReplaceText>(&o.change)) {
      out_.text(replace->find);
      out_.text(replace->with);
    } else if (const auto* truncate = std::get_if<TruncateText>(&o.change)) {
      out_.number(truncate->chars_max);
      out_.number(static_cast<std::uint64_t>(truncate->keep));
      out_.text(truncate->marker);
    } else if (const auto* set = std::get_if<SetMetadata>(&o.change)) {
      out_.text(set->object_json);
    }
  }
  void operator()(const op::StartBatch& o) {
    tag(Tag::start_batch);
    optional(o.boundary);
    out_.flag(o.hide_prior);
  }
  void operator()(const op::EndBatch& o) {
    tag(Tag::end_batch);
    out_.number(o.target_batch);
    roles(o.carry);
  }
  void operator()(const op::Rollback& o) {
    tag(Tag::rollback);
    out_.number(o.target_batch_index);
  }
  void operator()(const op::Mark& o) { mark(Tag::mark, o); }
  void operator()(const op::Unmark& o) { mark(Tag::unmark, o); }
  void operator()(const op::Undo&) { tag(Tag::undo); }
  void operator()(const op::Redo&) { tag(Tag::redo); }
  void operator()(const op::Restore& o) {
    tag(Tag::restore);
    out_.number(o.version);
  }
  void operator()(const op::ImportMarkMap& o) {
    tag(Tag::import_mark_map);
    numbers(o.map.original_indices);
    for (const std::vector<std::uint64_t>& list : o.map.type_indices) numbers(list);
    numbers(o.map.batch_boundaries);
    numbers(o.map.boundary_to_batch);
    out_.number(o.map.current_batch);
  }

 private:
  void tag(Tag t) { out_.number(static_cast<std::uint64_t>(t)); }
  void optional(const std::optional<std::uint64_t>& n) {
    out_.flag(n.has_value());
    if (n) out_.number(*n);
  }
  void range(const Range& r) {
    out_.number(r.start);
    out_.number(r.end);
  }
  void pairs(const std::optional<Pairs>& p) { out_.number(p ? static_cast<std::uint64_t>(*p) + 1 : 0); }
  // Differences, since most rise.
  void numbers(const std::vector<std::uint64_t>& list) {
    out_.number(list.size());
    std::uint64_t before = 0;
    for (const std::uint64_t n : list) {
      out_.signed_number(static_cast<std::int64_t>(n - before));
      before = n;
    }
  }
  void names(const Names& n) {
    out_.number(static_cast<std::uint64_t>(n.by));
    numbers(n.numbers);
  }
  void roles(const std::vector<Role>& list) {
    out_.number(list.size());
    for (const Role role : list) out_.number(static_cast<std::uint64_t>(role));
  }
  void texts(const std::vector<std::string>& list) {
    out_.number(list.size());
    for (const std::string& text : list) out_.text(text);
  }
  template <class MarkOrUnmark>
  void mark(Tag t, const MarkOrUnmark& o) {
    tag(t);
    names(o.names);
    out_.text(o.mark);
  }

  ByteOut& out_;
};

class In {
 public:
  explicit In(ByteIn& in) : in_(in) {}

  Operation::What what() {
    switch (static_cast<Tag>(below(Tag::import_mark_map))) {
      case Tag::append: return op::Append{};
      case Tag::insert: return op::Insert{in_.number(), {}};
      case Tag::replace: return op::Replace{names(), {}};
      case Tag::truncate: return truncate();
      case Tag::clear: return op::Clear{in_.flag()};
      case Tag::filter: return filter();
      case Tag::del: {
        Names named = names();
        return op::Delete{std::move(named), pairs()};
      }
      case Tag::compress: {
        Names named = names();
        return op::Compress{std::move(named), summary()};
      }
      case Tag::apply_plan: return op::ApplyPlan{plan()};
      case Tag::expand: return op::Expand{in_.number()};
      case Tag::merge: {
        std::vector<std::uint64_t> indices = numbers();
        return op::Merge{std::move(indices), text()};
      }
      case Tag::split: {
        const std::uint64_t index = in_.number();
        return op::Split{index, numbers()};
      }
      case Tag::transform: return transform();
      case Tag::start_batch: {
        const std::optional<std::uint64_t> boundary = optional();
        return op::StartBatch{boundary, in_.flag()};
      }
      case Tag::end_batch: {
        const std::uint64_t target = in_.number();
        return op::EndBatch{target, roles()};
      }
      case Tag::rollback: return op::Rollback{in_.number()};
      case Tag::mark: {
        Names named = names();
        return op::Mark{std::move(named), text()};
      }
      case Tag::unmark: {
        Names named = names();
        return op::Unmark{std::move(named), text()};
      }
      case Tag::undo: return op::Undo{};
      case Tag::redo: return op::Redo{};
      case Tag::restore: return op::Restore{in_.number()};
      case Tag::import_mark_map: return op::ImportMarkMap{mark_map()};
    }
    in_.fail("there is no such operation");
  }

 private:
  // A number up to and with `last`, of an enumeration.
  template <class Enum>
  std::uint64_t below(Enum last) {
    const std::uint64_t n = in_.number();
    if (n > static_cast<std::uint64_t>(last)) in_.fail("a choice is out of range");
    return n;
  }
  std::string text() { return std::string(in_.text()); }
  std::optional<std::uint64_t> optional() {
    if (!in_.flag()) return {};
    return in_.number();
  }
  Range range() {
    const std::uint64_t start = in_.number();
    return {start, in_.number()};
  }
  std::optional<Pairs> pairs() {
    const std::uint64_t n = in_.number();
    if (n > static_cast<std::uint64_t>(Pairs::grow) + 1) in_.fail("a choice is out of range");
    if (n == 0) return {};
    return static_cast<Pairs>(n - 1);
  }
  std::optional<Message> summary() {
    if (!in_.flag()) return {};
    return some_message();
  }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> list(in_.count());
    std::uint64_t before = 0;
    for (std::uint64_t& n : list) n = before += static_cast<std::uint64_t>(in_.signed_number());
    return list;
  }
  Names names() {
    const auto by = static_cast<Names::By>(below(Names::By::ordinal));
    return {by, numbers()};
  }
  std::vector<Role> roles() {
    std::vector<Role> list(in_.count());
    for (Role& role : list) role = static_cast<Role>(below(Role::tool));
    return list;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list(in_.count());
    for (std::string& t : list) t = text();
    return list;
  }
  op::Truncate truncate() {
    op::Truncate o;
    for (auto* count : {&o.keep_first, &o.keep_last, &o.remove_first, &o.remove_last}) *count = optional();
    if (in_.flag()) o.range = range();
    const std::uint64_t role = in_.number();
    if (role > role_count) in_.fail("a choice is out of range");
    if (role > 0) o.role = static_cast<Role>(role - 1);
    o.pairs = pairs();
    return o;
  }
  op::Filter filter() {
    op::Filter o;
    o.roles = roles();
    o.content_contains = texts();
    o.content_excludes = texts();
    o.pairs = pairs();
    return o;
  }
  Plan plan() {
    Plan plan;
    plan.base = Version(in_.number());
    plan.replacements.resize(in_.count());
    for (Replacement& r : plan.replacements) {
      r.hidden.resize(in_.count());
      for (Range& hidden : r.hidden) hidden = range();
      r.summary = summary();
    }
    for (std::string* t : {&plan.strategy, &plan.summariser, &plan.model, &plan.reason}) *t = text();
    for (std::uint64_t* n : {&plan.tokens_before, &plan.tokens_after, &plan.prompt_tokens, &plan.completion_tokens})
      *n = in_.number();
    return plan;
  }
  op::Transform transform() {
    op::Transform o;
    if (in_.number() == 0) {
      o.which = names();
    } else {
      o.which = roles();
    }
    switch (in_.number()) {
      case 0: {
        ReplaceText replace;
        replace.find = text();
        replace.with = text();
        o.change = std::move(replace);
        break;
      }
      case 1: {
        TruncateText truncate;
        truncate.chars_max = in_.number();
        truncate.keep = static_cast<TruncateText::Keep>(below(TruncateText::Keep::both));
        truncate.marker = text();
        o.change = std::move(truncate);
        break;
      }
      case 2: o.change = SetMetadata{text()}; break;
      default: o.change = op::TransformFunction(); break;
    }
    return o;
  }
  MarkMap mark_map() {
    MarkMap map;
    map.original_indices = numbers();
    for (std::vector<std::uint64_t>& list : map.type_indices) list = numbers();
    map.batch_boundaries = numbers();
    map.boundary_to_batch = numbers();
    map.current_batch = in_.number();
    return map;
  }

  ByteIn& in_;
};

}  // namespace

void write_stretches(ByteOut& out, const Stretches& stretches) {
  out.number(stretches.size());
  std::uint64_t end = 0;
  for (const Range& r : stretches) {
    out.number(r.start - end);
    out.number(r.end - r.start);
    end = r.end;
  }
}

Stretches read_stretches(ByteIn& in) {
  Stretches stretches(in.count());
  std::uint64_t end = 0;
  for (Range& r : stretches) {
    r.start = end + in.number();
    r.end = end = r.start + in.number();
  }
  return stretches;
}

void write_operation(ByteOut& out, const Operation& operation) {
  std::visit(Out(out), operation.what);
  out.text(operation.options.description);
}

Operation read_operation(ByteIn& in) {
  Operation operation{In(in).what(), {}};
  operation.options.description = std::string(in.text());
  return operation;
}

}  // namespace undertext
