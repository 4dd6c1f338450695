// Writers that race for the versions of a few conversations, and the checker of what they left.
//
//   undertext_racing make URL CONVERSATIONS                       makes them: c0, c1, …
//   undertext_racing write URL CONVERSATIONS WRITER               commits until SIGTERM, and prints a line for each commit as soon as it was answered
//   undertext_racing check URL CONVERSATIONS FILE…                reads those lines, and what is stored; prints what is wrong, and exits 1 if anything is
//
// A line is: WHAT CONVERSATION OPERATION_ID VERSION BEGUN ENDED, with the time of one monotonic
// clock of the machine in microseconds. WHAT is
//   done       committed as this version
//   late       was answered `unavailable`, but its operation id was found afterwards
//   conflict   refused: somebody else had written this version
//   unknown    was answered `unavailable`, and its operation id is not there (or nobody could be asked): it may or may not have happened
//
// The history is one serial order of the acknowledged operations when: versions are numbered
// without gaps and their chain of digests holds; each acknowledged operation is at the version it
// was told, and at no other; nothing is there that nobody tried; each refusal was for a reason; and
// no operation that began after another had ended comes before it.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <undertext/store.hpp>

#include "store/chain.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t told_to_stop = 0;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch())
      .count();
}

std::string id_of(std::size_t conversation) { return "c" + std::to_string(conversation); }

std::shared_ptr<Store> open_patiently(const std::string& url) {
  for (int tries = 0;; ++tries) {
    Result<std::shared_ptr<Store>> store =
        open_store(url, {.patience = std::chrono::seconds(20), .connections_max = 2});
    if (store || tries == 20) return std::move(store).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int make(const std::string& url, std::size_t conversations) {
  const auto store = open_patiently(url);
  for (std::size_t i = 0; i < conversations; ++i)
    store->create({.id = id_of(i), .created_at_ms = 1, .chain = first_chain(id_of(i))}).value();
  return 0;
}

// One or two messages, so that nothing of a commit can be there by half without being seen.
Commit next(const ConversationRecord& head, const std::string& operation_id, std::size_t messages) {
  Commit commit{.conversation = head.id, .expected_version = head.version};
  for (std::size_t i = 0; i < messages; ++i) {
    MessageRecord message;
    message.ordinal = head.log_length + i;
    message.body = R"({"role":"user","content":")" + operation_id + "/" + std::to_string(i) + "\"}";
    commit.messages.push_back(std::move(message));
  }
  VersionRecord version;
  version.version = head.version + 1;
  version.log_length = head.log_length + messages;
  version.operation = "append";
  version.operation_id = operation_id;
  version.chain = next_chain(head.chain, version, commit.messages);
  commit.versions.push_back(std::move(version));
  return commit;
}

void take(ConversationRecord& head, const Commit& commit) {
  head.version = commit.versions.back().version;
  head.log_length = commit.versions.back().log_length;
  head.chain = commit.versions.back().chain;
}

int write(const std::string& url, std::size_t conversations, const std::string& writer) {
  std::signal(SIGTERM, [](int) { told_to_stop = 1; });
  const auto store = open_patiently(url);
  std::vector<ConversationRecord> heads(conversations);
  std::mt19937 random(static_cast<std::uint32_t>(std::hash<std::string>()(writer)));
  for (std::uint64_t n = 0; told_to_stop == 0; ++n) {
    ConversationRecord& head = heads[random() % conversations];
    const std::string id = id_of(static_cast<std::size_t>(&head - heads.data()));
    if (head.id.empty() || random() % 8 == 0) {
      const Result<ConversationRecord> found = store->find(id);
      if (!found) continue;
      head = *found;
    }
    const std::string operation_id = writer + "-" + std::to_string(n);
    const Commit commit = next(head, operation_id, 1 + random() % 2);
    const std::int64_t begun = now_us();
    const Result<void> done = store->commit(commit);
    std::string what = "done";
    std::uint64_t version = head.version + 1;
    if (done) {
      take(head, commit);
    } else if (done.error().code == ErrorCode::conflict) {
      what = "conflict";
      head.id.clear();
    } else if (done.error().code == ErrorCode::unavailable) {
      const Result<std::optional<VersionRecord>> found = store->find_operation(id, operation_id);
      what = found && *found ? "late" : "unknown";
      if (found && *found) version = (*found)->version;
      head.id.clear();
    } else {
      std::cerr << writer << ": " << done.error().message << '\n';
      return 1;
    }
    std::cout << what << ' ' << id << ' ' << operation_id << ' ' << version << ' ' << begun << ' '
              << now_us() << std::endl;
  }
  return 0;
}

struct Line {
  std::string what, conversation, operation_id;
  std::uint64_t version = 0;
  std::int64_t begun = 0, ended = 0;
};

class Checker {
 public:
  int check(const std::string& url, std::size_t conversations,
            const std::vector<std::string>& files) {
    for (const std::string& file : files) read(file);
    const auto store = open_patiently(url);
    for (std::size_t i = 0; i < conversations; ++i) check_conversation(*store, id_of(i));
    for (const auto& [operation_id, line] : lines_)
      if ((line.what == "done" || line.what == "late") && !seen_.contains(operation_id))
        fault(operation_id + " was acknowledged and is lost");
    const CheckReport report = check_store(*store).value();
    for (const Damage& damage : report.damage) fault(damage.conversation + ": " + damage.what);
    std::cout << counts_["done"] << " acknowledged, " << counts_["late"] << " found afterwards, "
              << counts_["conflict"] << " refused, " << counts_["unknown"] << " unknown ("
              << unknown_there_ << " of them there); " << seen_.size() << " stored; longest gap "
              << longest_gap() / 1000 << " ms; " << faults_ << " faults\n";
    return faults_ == 0 ? 0 : 1;
  }

 private:
  void fault(const std::string& what) {
    if (++faults_ <= 20) std::cout << what << '\n';
  }

  void read(const std::string& file) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
      Line line;
      std::istringstream words(text);
      if (!(words >> line.what >> line.conversation >> line.operation_id >> line.version >>
            line.begun >> line.ended)) {
        fault(file + ": not a line: " + text);
        continue;
      }
      ++counts_[line.what];
      if (!lines_.emplace(line.operation_id, line).second)
        fault(line.operation_id + " is reported twice");
    }
  }

  void check_conversation(Store& store, const std::string& id) {
    const ConversationRecord record = store.find(id).value();
    Digest chain = first_chain(id);
    std::uint64_t log_length = 0;
    std::int64_t latest_begun = 0;
    std::string latest;
    for (std::uint64_t version = 0; version < record.version;) {
      const auto some = store.versions(id, version + 1, record.version + 1).value();
      if (some.empty())
        return fault(id + ": version " + std::to_string(version + 1) + " is missing");
      for (const VersionRecord& stored : some) {
        if (stored.version != ++version)
          return fault(id + ": version " + std::to_string(version) + " is missing");
        const auto messages = store.messages(id, log_length, stored.log_length).value();
        if (log_length + messages.size() != stored.log_length)
          return fault(id + ": messages of version " + std::to_string(version) + " are missing");
        for (std::size_t i = 0; i < messages.size(); ++i)
          if (messages[i].body.find('"' + stored.operation_id + "/" + std::to_string(i) + '"') ==
              std::string::npos)
            fault(id + ": version " + std::to_string(version) +
                  " has a message of another operation");
        chain = next_chain(chain, stored, messages);
        if (chain != stored.chain)
          return fault(id + ": the chain breaks at version " + std::to_string(version));
        log_length = stored.log_length;
        if (!seen_.insert(stored.operation_id).second)
          fault(stored.operation_id + " is there twice");
        const auto line = lines_.find(stored.operation_id);
        // The last line of a writer that was killed is not there; nobody kills them here.
        if (line == lines_.end() || line->second.conversation != id) {
          fault(stored.operation_id + " is there, and nobody tried it");
          continue;
        }
        if (line->second.what == "conflict")
          fault(stored.operation_id + " was refused and is there");
        if (line->second.what == "unknown") ++unknown_there_;
        if (line->second.version != version)
          fault(stored.operation_id + " was told version " + std::to_string(line->second.version) +
                " and is " + std::to_string(version));
        // Whoever comes before must have begun before this one ended.
        if (latest_begun > line->second.ended && line->second.what != "unknown")
          fault(latest + " began after " + stored.operation_id + " had ended, and comes before it");
        if (line->second.begun > latest_begun) {
          latest_begun = line->second.begun;
          latest = stored.operation_id;
        }
      }
    }
    for (const auto& [operation_id, line] : lines_)
      if (line.what == "conflict" && line.conversation == id && line.version > record.version)
        fault(operation_id + " was refused though nobody else has written version " +
              std::to_string(line.version));
  }

  // Without any acknowledgement, by all writers together.
  std::int64_t longest_gap() const {
    std::vector<std::int64_t> ends;
    for (const auto& [operation_id, line] : lines_)
      if (line.what == "done" || line.what == "late") ends.push_back(line.ended);
    std::sort(ends.begin(), ends.end());
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < ends.size(); ++i)
      longest = std::max(longest, ends[i] - ends[i - 1]);
    return longest;
  }

  std::map<std::string, Line> lines_;
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> seen_;
  std::uint64_t unknown_there_ = 0, faults_ = 0;
};

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) return 2;
  const std::size_t conversations = std::stoul(words[2]);
  if (words[0] == "make") return make(words[1], conversations);
  if (words[0] == "write" && words.size() == 4) return write(words[1], conversations, words[3]);
  if (words[0] == "check")
    return Checker().check(words[1], conversations, {words.begin() + 3, words.end()});
  return 2;
}

}  // namespace
}  // namespace undertext

int main(int count, char** words) {
  try {
    const int status = undertext::run({words + 1, words + count});
    if (status == 2)
      std::cerr << "undertext_racing make|write|check URL CONVERSATIONS …: see its source\n";
    return status;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
