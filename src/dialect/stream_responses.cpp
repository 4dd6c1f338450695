// Responses: finished items as they come. Of an item that the stream broke off in, what was said so
// far.
#include <map>

#include "dialect/stream.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

class ResponsesAssembly final : public Assembly {
 public:
  void feed(const JsonValue& event) override {
    const std::string_view type = body_of(event, "type");
    if (const std::optional<JsonValue> response = event.find("response")) take_names(*response);
    if (type == "response.output_item.done") {
      if (const std::optional<JsonValue> item = event.find("item");
          item && item->is(JsonType::object))
        done_[index_of(event)] = item->raw();
    } else if (type == "response.output_text.delta") {
      said_[index_of(event)] += body_of(event, "delta");
    } else if (type == "response.completed" || type == "response.incomplete" ||
               type == "response.failed") {
      finish_with(type, event);
    } else if (type == "error") {
      state.error_json = event.find("error") ? event.find("error")->raw() : event.raw();
    }
  }

  void build(std::string& out) const override {
    std::map<std::uint64_t, std::string> items = done_;
    for (const auto& [index, text] : said_)
      if (items.count(index) == 0)
        items[index] =
            R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":")" +
            text + R"(","annotations":[]}]})";
    if (items.empty()) return;
    const char* separator = "[";
    for (const auto& [index, item] : items) {
      out += separator;
      out += item;
      separator = ",";
    }
    out += ']';
  }

 private:
  static std::uint64_t index_of(const JsonValue& event) {
    const std::optional<JsonValue> index = event.find("output_index");
    return index ? index->uint64_saturated().value_or(0) : 0;
  }

  void finish_with(std::string_view type, const JsonValue& event) {
    state.finish_reason = type.substr(std::string_view("response.").size());
    state.complete = type != "response.failed";
    const std::optional<JsonValue> response = event.find("response");
    if (!response) return;
    if (const std::optional<JsonValue> usage = response->find("usage");
        usage && usage->is(JsonType::object))
      state.usage_json = usage->raw();
    if (const std::optional<JsonValue> output = response->find("output");
        output && output->is(JsonType::array))
      take_whole(*output);
    take_error(*response);
  }

  // A stream that was taken up again has only the events since, and its last one has all.
  void take_whole(const JsonValue& output) {
    std::uint64_t index = 0;
    for (const JsonValue item : output.elements()) {
      if (item.is(JsonType::object)) done_.try_emplace(index, item.raw());
      ++index;
    }
  }

  std::map<std::uint64_t, std::string> done_, said_;
};

}  // namespace

std::unique_ptr<Assembly> responses_assembly() { return std::make_unique<ResponsesAssembly>(); }

}  // namespace undertext
