// A conversation and those it was forked from: which of them has a record. A fork's numbers go on
// where its origin's were, so the number tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <undertext/store.hpp>

namespace undertext {

class Lineage {
 public:
  static Result<Lineage> of(Store& store, const ConversationRecord& record);

  // Who has a record, and from which number on it is his.
  struct Owner {
    const std::string& id;
    std::uint64_t first;
    std::uint64_t end;  // of the next younger one; no end for the conversation itself
  };
  Owner of_page(std::uint64_t number) const { return owner(number, &Part::first_page); }
  Owner of_message(std::uint64_t ordinal) const { return owner(ordinal, &Part::first_message); }
  bool has(const std::string& id) const;  // the conversation itself, or one that it was forked from
  const std::string& oldest() const { return parts_.back().id; }
  Owner of_version(std::uint64_t version) const { return owner(version, &Part::first_version); }

 private:
  struct Part {
    std::string id;
    std::uint64_t first_page = 0, first_message = 0, first_version = 0;
  };
  Owner owner(std::uint64_t number, std::uint64_t Part::* first) const;

  std::vector<Part> parts_;  // the conversation itself, its origin, and so on
};

}  // namespace undertext
