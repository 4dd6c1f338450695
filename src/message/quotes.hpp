// Whether a text quotes one of some messages: used to find what else has to go when a message is
// redacted for good.
//
//     QuotableTexts texts;
//     texts.add(message);
//     texts.quoted_in("the card was 4242 4242");    // true where the message says so, too
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/message.hpp>

namespace undertext {

class QuotableTexts {
 public:
  // All strings of the message but its role and the types of its parts. Nothing of one that is
  // redacted.
  void add(const Message& message);

  // True: it has eight bytes in a row with a message, or a shorter one is wholly part of the other.
  // What is shorter than four bytes quotes nothing.
  bool quoted_in(std::string_view text) const;

 private:
  void add(std::string_view text);

  std::string all_;                             // the texts, with a zero byte between
  std::vector<std::string> short_;              // those of less than eight bytes
  mutable std::vector<std::uint64_t> windows_;  // eight bytes each, of all others
  mutable bool sorted_ = true;
};

}  // namespace undertext
