// Several tenants over one store.
#include "store/tenant.hpp"

#include <algorithm>

#include "kinds.hpp"
#include "store/chain.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::Writing;

class Tenants : public test::OfEveryStore {
 protected:
  std::shared_ptr<Store> of(std::string_view tenant) {
    return store_of_tenant(shared(), tenant).value();
  }
  // Names that no other run has used: a PostgreSQL database outlives a test.
  const std::string run_ = std::to_string(std::random_device()());
  const std::string acme_ = "acme-" + run_, zeta_ = "zeta-" + run_;
};

std::vector<std::string> ids(Store& store, std::uint32_t limit = 1000) {
  std::vector<std::string> found;
  ListOptions options{.limit = limit};
  for (;;) {
    const auto some = store.list(options).value();
    for (const ConversationRecord& record : some) found.push_back(record.id);
    if (some.size() < limit) return found;
    options.after = some.back().id;
  }
}

TEST_P(Tenants, TheSameIdIsAnotherConversationForEach) {
  const auto acme = of(acme_), zeta = of(zeta_);
  Writing one("same"), two("same");
  ASSERT_TRUE(one.create_in(*acme));
  ASSERT_TRUE(two.create_in(*zeta));
  ASSERT_TRUE(one.append_to(*acme, {body(1)}));
  EXPECT_EQ(acme->find("same").value().version, 1u);
  EXPECT_EQ(zeta->find("same").value().version, 0u);
  EXPECT_EQ(acme->messages("same", 0, 9).value().size(), 1u);
  EXPECT_TRUE(zeta->messages("same", 0, 9).value().empty());
  EXPECT_CODE(store().find("same").error(), ErrorCode::not_found);
  ASSERT_TRUE(acme->purge("same", {"me", 1, "why"}));
  EXPECT_EQ(acme->removals("same").value().at(0).conversation, "same");
  EXPECT_TRUE(zeta->removals("same").value().empty());
  EXPECT_TRUE(zeta->find("same"));
}

TEST_P(Tenants, NoSpellingOfAnIdReachesAnotherTenant) {
  const auto acme = of(acme_), zeta = of(zeta_);
  ASSERT_TRUE(Writing("secret").create_in(*acme));
  const std::string stored = acme_ + "/secret";
  for (Store* other : {zeta.get(), &store(), acme.get()}) {
    EXPECT_CODE(other->find(stored).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(other->messages(stored, 0, 1).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(other->commit(Writing(stored).append({body(0)})).error(),
                ErrorCode::invalid_argument);
    EXPECT_CODE(other->purge(stored, {"me", 1, "why"}).error(), ErrorCode::invalid_argument);
    NewConversation fork = Writing("fork").creation();
    fork.origin = Origin{.conversation = stored};
    EXPECT_CODE(other->create(fork).error(), ErrorCode::invalid_argument);
  }
  NewConversation fork = Writing("fork").creation();
  fork.origin = Origin{.conversation = "secret"};
  EXPECT_CODE(zeta->create(fork).error(), ErrorCode::not_found);
}

TEST_P(Tenants, ListsHoldTheirOwnInOrderWhateverLiesBetween) {
  const auto acme = of(acme_), other = of(acme_ + "0"), zeta = of(zeta_);
  std::vector<std::string> mine;
  for (int i = 0; i < 9; ++i) mine.push_back("c" + std::to_string(i));
  for (const std::string& id : mine)
    for (Store* one : {acme.get(), other.get(), zeta.get(), &store()})
      ASSERT_TRUE(Writing(id).create_in(*one));
  ASSERT_TRUE(Writing("zz").create_in(store()));
  for (const std::uint32_t limit : {1u, 2u, 3u, 9u, 1000u}) {
    EXPECT_EQ(ids(*acme, limit), mine) << limit;
    EXPECT_EQ(ids(*zeta, limit), mine) << limit;
    std::vector<std::string> operators = mine;
    operators.emplace_back("zz");
    EXPECT_EQ(ids(store(), limit), operators) << limit;
  }
}

TEST_P(Tenants, ForksStayWithinTheirTenant) {
  const auto acme = of(acme_);
  Writing origin("origin");
  ASSERT_TRUE(origin.create_in(*acme));
  ASSERT_TRUE(origin.append_to(*acme, {body(0), body(1)}));
  NewConversation fork = Writing("fork").creation();
  fork.chain = origin.chain();
  fork.origin = Origin{.conversation = "origin", .version = 1, .log_length = 2};
  EXPECT_EQ(acme->create(fork).value().origin, fork.origin);
  EXPECT_EQ(acme->find("origin").value().forks, std::vector<std::string>{"fork"});
  EXPECT_EQ(acme->find("fork").value().origin->conversation, "origin");
  EXPECT_CODE(acme->purge("origin", {"me", 1, "why"}).error(), ErrorCode::conflict);
  const CheckReport report = check_store(*acme).value();
  EXPECT_TRUE(report.damage.empty());
  EXPECT_EQ(report.conversations, 2u);
}

TEST_P(Tenants, NoErrorTellsUnderWhatNameTheStoreKeepsAConversation) {
  const auto acme = of(acme_);
  Writing writing("known");
  ASSERT_TRUE(writing.create_in(*acme));
  ASSERT_TRUE(writing.append_to(*acme, {body(0)}));
  NewConversation fork = Writing("fork").creation();
  fork.origin = Origin{.conversation = "known", .version = 7};
  const std::vector<Error> errors = {
      acme->find("unknown").error(),
      acme->messages("unknown", 0, 1).error(),
      acme->removals("unknown").error(),
      acme->create(Writing("known").creation()).error(),
      acme->create(fork).error(),
      acme->commit(Writing("known").append({body(0)})).error(),
      acme->commit(Writing("unknown").append({body(0)})).error(),
      acme->purge("unknown", {"me", 1, "why"}).error(),
      acme->prune({.conversation = "unknown"}).error(),
  };
  for (const Error& error : errors)
    EXPECT_EQ(error.message.find(acme_), std::string::npos) << error.message;
}

TEST_P(Tenants, OnlyTheOperatorCopiesTheWholeStore) {
  EXPECT_CODE(of(acme_)->backup(folder_.file("copy")).error(), ErrorCode::unsupported);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("copy")));
}

TEST_P(Tenants, TheOperatorHasTwoNamesAndOthersHaveGoodOnes) {
  if (GetParam() == "postgres")
    GTEST_SKIP() << "inapplicable: its default tenant may hold anything";
  const auto operators = of("");
  ASSERT_TRUE(Writing("mine").create_in(*operators));
  EXPECT_EQ(ids(*of("default")), std::vector<std::string>{"mine"});
  for (const std::string& name :
       {std::string("a/b"), std::string("a.b"), std::string("a b"), std::string(65, 'a'),
        std::string("é"), std::string("a\0b", 3), std::string("a'")})
    EXPECT_CODE(store_of_tenant(shared(), name).error(), ErrorCode::invalid_argument) << name;
  EXPECT_TRUE(store_of_tenant(shared(), std::string(64, 'a')));
}

UNDERTEXT_OF_EVERY_STORE(Tenants);

}  // namespace
}  // namespace undertext
