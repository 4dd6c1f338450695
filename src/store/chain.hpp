// Digests over records, so that damage and tampering show. The chain of a version is the digest of
// its record, of its messages and of the chain before it:
// whoever knows the last one can tell whether anything before it was changed.
//
// Left out are what may rightly change: counts of tokens (another tokenizer), answers (pruned with
// their versions), and bodies of messages themselves, for which their digests stand, so that a
// chain still holds when a body was redacted. Arguments of operations are part of it: where texts
// were taken out of them (are_redacted), the link to the version before cannot be verified any
// more.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <undertext/store.hpp>

namespace undertext {

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);
// Nothing: no 64 digits as hex() writes them.
std::optional<Digest> digest_of_hex(std::string_view digits);

// What the chain of a new conversation's first version goes on from. A fork goes on from its
// origin's.
Digest first_chain(std::string_view conversation);

// What stands for a message's body: its digest, also where the body was taken out.
Digest body_digest(const MessageRecord& message);

// `messages` are those that the version stored; `digests`, where they are known, are those of their
// bodies.
Digest next_chain(const Digest& before, const VersionRecord& version,
                  std::span<const MessageRecord> messages);
Digest next_chain(const Digest& before, const VersionRecord& version,
                  std::span<const MessageRecord> messages, std::span<const Digest> digests);

}  // namespace undertext
