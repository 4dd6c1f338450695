// The requests of a conversation: rows of a store, or of its own where there is none, with their
// texts packed and rebuilt.
//
// A text refers to one earlier request, its base, and to the bodies of messages that are newer.
// Several requests share a base; where what differs from it has grown, the next one refers to the
// request before, and becomes the base. So rebuilding takes few steps (depth_max), and storing
// costs what is new.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/history.hpp>
#include <undertext/request_record.hpp>
#include <undertext/store.hpp>

#include "engine/request_bytes.hpp"
#include "history/client_list_at.hpp"

namespace undertext {

class Durable;

// Where the rows are. Of a conversation in memory: here. Any thread may read; what fails is thrown.
class RequestRows {
 public:
  explicit RequestRows(Durable* durable) : durable_(durable) {}
  std::vector<RequestRow> read(std::uint64_t first, std::uint64_t end, RequestBytes bytes) const;
  std::uint64_t last() const;
  Result<void> put(RequestRow row);  // conflict: another one came first

 private:
  Durable* const durable_;  // null: in memory
  mutable std::mutex lock_;
  std::vector<RequestRow> rows_;  // guarded by lock_
};

// Texts of requests that were rebuilt or recorded last.
class RecentTexts {
 public:
  std::optional<std::string> find(std::uint64_t number) const;
  void keep(std::uint64_t number, std::string_view text);
  void clear();

 private:
  static constexpr std::size_t texts_max = 2, bytes_max = 8u << 20;
  struct Kept {
    std::uint64_t number;
    std::string text;
  };
  mutable std::mutex lock_;
  std::vector<Kept> kept_;  // guarded by lock_; the newest last
};

class RequestTexts {
 public:
  RequestTexts(const RequestRows& rows, const History& history, RecentTexts& recent)
      : rows_(rows), history_(history), recent_(recent) {}

  // Throws Failure: not_found, corrupt.
  std::string request(std::uint64_t number) const;
  std::string answer(std::uint64_t number) const;

  void check() const;  // rebuilds all texts; throws what is wrong

  // `version`: what the request saw. `answer_version`: 0: none.
  PackedText pack_request(std::string_view text, Version version) const;
  PackedText pack_answer(std::string_view text, Version version, Version answer_version) const;

  // Rows from `first_version` on, and the newest, whose texts refer to rows or messages that go,
  // packed again.
  std::vector<RequestRow> without(Version first_version,
                                  const std::function<bool(std::uint64_t)>& goes) const;

 private:
  RequestRow row(std::uint64_t number, RequestBytes bytes = RequestBytes::with) const;
  std::string unpacked(const PackedText& text) const;
  std::string bodies(const std::vector<PackedText::Run>& runs) const;
  std::string reference(std::uint64_t base, const std::vector<PackedText::Run>& runs) const;
  PackedText packed(std::string_view text, std::uint64_t base, std::uint64_t depth,
                    const std::vector<std::uint64_t>& ordinals) const;
  // The request, against `base` and the messages of the client's list since.
  PackedText packed_since(std::string_view text, Version version, const RequestRow& base,
                          std::uint64_t base_depth) const;
  std::optional<RequestRow> newest_with_text() const;
  std::uint64_t log_length(Version version) const;
  std::vector<std::uint64_t> list_at(Version version, std::uint64_t first_ordinal) const;

  const RequestRows& rows_;
  const History& history_;
  RecentTexts& recent_;
};

}  // namespace undertext
