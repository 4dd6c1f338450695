// A conversation in a file: appended to, closed, opened again, forked. docs/storage.md quotes this
// file and its output.
#include <filesystem>
#include <iostream>

#include <undertext/undertext.hpp>

using namespace undertext;

int main() {
  const std::string file =
      (std::filesystem::temp_directory_path() / "undertext-example.db").string();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file + suffix);
  const Result<std::shared_ptr<Store>> store = open_store("sqlite:" + file);
  if (!store) {  // built without SQLite
    std::cerr << "skipped: sqlite: " << store.error().message << "\n";
    return store.error().code == ErrorCode::unsupported ? 77 : 1;
  }
  const auto say = [](Role role, const char* text) { return Message::make(role, text).value(); };

  {
    Conversation conversation = Conversation::open(*store, "support-17").value();
    // On disk when apply() returns. Sent again with the same id, after a crash or a timeout, it is
    // answered as the first time.
    const Operation ask{op::Append{{say(Role::user, "Where is my parcel?")}},
                        {.operation_id = "turn-1"}};
    conversation.apply(ask).value();
    conversation.apply(ask).value();
    conversation.apply({op::Append{{say(Role::assistant, "It left Lyon this morning.")}}}).value();
  }

  Conversation again = Conversation::open(*store, "support-17").value();
  std::cout << again.view().size() << " messages at version " << again.version().value << "\n";

  // Two programs, one conversation: whoever expects a version that is no longer the head is told
  // so.
  Conversation other = Conversation::open(*store, "support-17").value();
  other.apply({op::Append{{say(Role::user, "Thanks.")}}}).value();
  const Result<Outcome> late =
      again.apply({op::Delete{Names::indices({0})}, {.expected_version = Version(2)}});
  std::cout << name(late.error().code) << ": " << late.error().message << "\n";

  // A fork shares every message with its origin.
  Conversation fork = again.fork(Version(1), "support-17-again").value();
  fork.apply({op::Append{{say(Role::assistant, "Let me look that up.")}}}).value();
  std::cout << fork.view()[1].text() << " / " << again.view()[1].text() << "\n";

  std::cout << check_store(**store).value().damage.size() << " records are damaged\n";
}
