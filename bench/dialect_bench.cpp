// Requests for providers: a conversation of 10,000 messages as one, and with one more turn each
// time. The baseline is a copy of the same bytes.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

namespace {

using namespace undertext;

constexpr std::uint64_t messages_count = 10'000;
const std::string lorem(900, 'x');

// Turns of a question, a tool call, its result and an answer, about a kilobyte each.
std::string body(Dialect dialect) {
  std::string list;
  for (std::uint64_t turn = 0; turn < messages_count / 4; ++turn) {
    const std::string n = std::to_string(turn), text = "turn " + n + " " + lorem;
    if (turn > 0) list += ',';
    switch (dialect) {
      case Dialect::openai_chat:
        list += R"({"role":"user","content":")" + text +
                R"("},{"role":"assistant","content":null,"tool_calls":[{"id":"call_)" + n +
                R"(","type":"function","function":{"name":"read","arguments":"{\"path\":\")" +
                text + R"(\"}"}}]},{"role":"tool","tool_call_id":"call_)" + n + R"(","content":")" +
                text + R"("},{"role":"assistant","content":")" + text + "\"}";
        break;
      case Dialect::anthropic:
        list += R"({"role":"user","content":")" + text +
                R"("},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_)" + n +
                R"(","name":"read","input":{"path":")" + text +
                R"("}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_)" +
                n + R"(","content":")" + text +
                R"("}]},{"role":"assistant","content":[{"type":"text","text":")" + text + "\"}]}";
        break;
      case Dialect::openai_responses:
        list += R"({"role":"user","content":")" + text +
                R"("},{"type":"function_call","call_id":"call_)" + n +
                R"(","name":"read","arguments":"{\"path\":\")" + text +
                R"(\"}"},{"type":"function_call_output","call_id":"call_)" + n + R"(","output":")" +
                text + R"("},{"type":"message","role":"assistant","id":"msg_)" + n +
                R"(","content":[{"type":"output_text","text":")" + text +
                R"(","annotations":[]}]})";
        break;
      case Dialect::gemini:
        list += R"({"role":"user","parts":[{"text":")" + text +
                R"("}]},{"role":"model","parts":[{"functionCall":{"id":"c)" + n +
                R"(","name":"read","args":{"path":")" + text +
                R"("}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c)" + n +
                R"(","name":"read","response":{"output":")" + text +
                R"("}}}]},{"role":"model","parts":[{"text":")" + text + "\"}]}";
        break;
    }
  }
  return '[' + list + ']';
}

const History& conversation(Dialect dialect) {
  static std::vector<History> made;
  if (made.empty()) {
    for (const Dialect each :
         {Dialect::openai_chat, Dialect::openai_responses, Dialect::anthropic, Dialect::gemini})
      made.push_back(
          History()
              .apply({op::Append{import_messages(each, body(each)).value().messages}}, {})
              .value()
              .history);
  }
  return made[static_cast<std::size_t>(dialect)];
}

// A question at the end, so that every provider takes it.
History asked(const History& history, std::uint64_t n) {
  return history
      .apply({op::Append{{Message::make(Role::user, "and now " + std::to_string(n)).value()}}}, {})
      .value()
      .history;
}

void BM_RenderUntouched(benchmark::State& state) {
  const auto dialect = static_cast<Dialect>(state.range(0));
  const History history = asked(conversation(dialect), 0);
  const Profile profile = default_profile(dialect);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Rendering rendering = render(history.view(), profile).value();
    bytes += rendering.json.size();
    benchmark::DoNotOptimize(rendering.json.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetLabel(std::string(name(dialect)));
}

void BM_RenderInto(benchmark::State& state) {  // from Chat to the others
  const auto dialect = static_cast<Dialect>(state.range(0));
  const History history = asked(conversation(Dialect::openai_chat), 0);
  const Profile profile = default_profile(dialect);
  std::size_t bytes = 0;
  for (auto _ : state) bytes += render(history.view(), profile).value().json.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetLabel(std::string(name(dialect)));
}

void BM_CopyTheSameBytes(benchmark::State& state) {
  const View view = conversation(Dialect::openai_chat).view();
  std::size_t bytes = 0;
  for (auto _ : state) {
    std::string out;
    for (const Message& message : view) {
      out += message.json();
      out += ',';
    }
    bytes += out.size();
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void BM_OneMoreTurn(benchmark::State& state) {
  const auto dialect = static_cast<Dialect>(state.range(0));
  const Profile profile = default_profile(dialect);
  Renderer renderer(profile);
  History history = asked(conversation(dialect), 0);
  benchmark::DoNotOptimize(renderer.render(history.view()).value());
  std::uint64_t n = 1;
  for (auto _ : state) {
    state.PauseTiming();
    history = asked(history.apply({op::Append{{Message::make(Role::assistant, lorem).value()}}}, {})
                        .value()
                        .history,
                    n++);
    const View view = history.view();
    state.ResumeTiming();
    benchmark::DoNotOptimize(renderer.render(view).value()->json.data());
  }
  state.SetLabel(std::string(name(dialect)));
}

BENCHMARK(BM_RenderUntouched)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RenderInto)->DenseRange(1, 3)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CopyTheSameBytes)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_OneMoreTurn)->DenseRange(0, 3)->Unit(benchmark::kMillisecond)->Iterations(200);

}  // namespace
