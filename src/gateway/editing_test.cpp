#include "gateway/editing.hpp"

#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

namespace undertext {
namespace {

// Does what a test tells it to.
class ToldEditor final : public ExchangeEditor {
 public:
  bool may_edit(const ObservedRequest&) const override { return true; }
  RequestEdit edit(const std::shared_ptr<const ObservedRequest>& request,
                   const Offer& offer) override {
    if (offers) offer(offers(*request));
    return does(*request);
  }
  RequestEdit unedited(const ObservedRequest&) const override { return {.body = simple}; }
  bool is_held_up() const override { return held_up; }

  std::function<RequestEdit(const ObservedRequest&)> offers, does;
  std::optional<std::string> simple = {};
  std::atomic<bool> held_up = false;
};

class EditingQueueTest : public ::testing::Test {
 protected:
  std::future<RequestEdit> submit(EditingQueue& queue, std::uint64_t number = 1) {
    auto promise = std::make_shared<std::promise<RequestEdit>>();
    std::future<RequestEdit> edit = promise->get_future();
    auto request = std::make_shared<ObservedRequest>();
    request->number = number;
    const bool taken = queue.submit(
        request, [promise](RequestEdit given) { promise->set_value(std::move(given)); });
    EXPECT_TRUE(taken);
    return edit;
  }
  const std::shared_ptr<ToldEditor> editor_ = std::make_shared<ToldEditor>();
};

TEST_F(EditingQueueTest, WhatTheEditorSaysIsSent) {
  editor_->does = [](const ObservedRequest& request) {
    return RequestEdit{.body = std::to_string(request.number)};
  };
  EditingQueue queue(editor_, std::chrono::minutes(1), {}, {});
  EXPECT_EQ(submit(queue, 7).get().body, "7");
  EXPECT_EQ(submit(queue, 8).get().body, "8");
  EXPECT_EQ(queue.counts().edited, 2u);
}

TEST_F(EditingQueueTest, AnEditorThatThrowsCostsNothingButTheEdit) {
  editor_->does = [](const ObservedRequest&) -> RequestEdit { throw std::runtime_error("broken"); };
  std::string told;
  EditingQueue queue(editor_, std::chrono::minutes(1), {},
                     [&](std::string_view, const std::string& detail) { told = detail; });
  EXPECT_FALSE(submit(queue).get().body.has_value());
  EXPECT_EQ(told, "broken");
  EXPECT_EQ(queue.counts().failed, 1u);
  editor_->does = [](const ObservedRequest&) { return RequestEdit{}; };
  EXPECT_FALSE(submit(queue).get().body.has_value());
  EXPECT_EQ(queue.counts().unchanged, 1u) << "and the next one is looked at";
}

TEST_F(EditingQueueTest, ARequestWaitsNoLongerThanThePatienceAlsoBehindOthers) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  editor_->does = [released](const ObservedRequest&) {
    released.wait();
    return RequestEdit{.body = "late"};
  };
  editor_->simple = "simple";
  EditingQueue queue(editor_, std::chrono::milliseconds(20), {}, {});
  std::future<RequestEdit> first = submit(queue, 1), second = submit(queue, 2);
  EXPECT_EQ(first.get().body, "simple");
  EXPECT_EQ(second.get().body, "simple");
  EXPECT_EQ(queue.counts().late, 2u);
  release.set_value();
}

TEST_F(EditingQueueTest, NoRequestWaitsForAnEditorThatIsHeldUp) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  editor_->does = [released](const ObservedRequest&) {
    released.wait();
    return RequestEdit{.body = "edited"};
  };
  editor_->simple = "simple";
  EditingQueue queue(editor_, std::chrono::minutes(1), {}, {});
  std::vector<std::future<RequestEdit>> before;
  for (std::uint64_t number = 1; number <= 8; ++number) before.push_back(submit(queue, number));
  editor_->held_up = true;
  EXPECT_EQ(submit(queue, 9).get().body, "simple") << "though all editing threads wait";
  EXPECT_EQ(submit(queue, 10).get().body, "simple");
  EXPECT_EQ(queue.counts().late, 2u);
  editor_->held_up = false;
  release.set_value();
  EXPECT_EQ(submit(queue, 11).get().body, "edited");
  for (std::future<RequestEdit>& edit : before) EXPECT_EQ(edit.get().body, "edited");
}

TEST_F(EditingQueueTest, ALongEditHoldsUpNobodyElse) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  editor_->does = [released](const ObservedRequest& request) {
    if (request.number == 1) released.wait();
    return RequestEdit{.body = std::to_string(request.number)};
  };
  EditingQueue queue(editor_, std::chrono::minutes(1), {}, {});
  std::future<RequestEdit> first = submit(queue, 1);
  EXPECT_EQ(submit(queue, 2).get().body, "2");
  EXPECT_EQ(submit(queue, 3).get().body, "3");
  release.set_value();
  EXPECT_EQ(first.get().body, "1");
}

TEST_F(EditingQueueTest, WhatWasOfferedIsSentWhereTheEditIsLateOrFailsAndOnlyWhatIsSentIsTold) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> told_of_offers = 0, told_of_edits = 0;
  editor_->offers = [&](const ObservedRequest&) {
    return RequestEdit{.body = "offered", .on_sent = [&] { ++told_of_offers; }};
  };
  editor_->does = [&, released](const ObservedRequest& request) -> RequestEdit {
    if (request.number == 1) released.wait();
    if (request.number == 2) throw std::runtime_error("broken");
    return {.body = "edited", .on_sent = [&] { ++told_of_edits; }};
  };
  {
    EditingQueue queue(editor_, std::chrono::milliseconds(20), {}, {});
    EXPECT_EQ(submit(queue, 1).get().body, "offered");
    release.set_value();
  }
  EditingQueue queue(editor_, std::chrono::minutes(1), {}, {});
  EXPECT_EQ(submit(queue, 2).get().body, "offered");
  EXPECT_EQ(told_of_offers, 2);
  EXPECT_EQ(told_of_edits, 0) << "that of the first was late";
  EXPECT_EQ(submit(queue, 3).get().body, "edited");
  EXPECT_EQ(told_of_offers, 2);
  EXPECT_EQ(told_of_edits, 1);
}

TEST_F(EditingQueueTest, StoppingSendsWhatWaitsAsItCame) {
  std::promise<void> begun, release;
  const std::shared_future<void> released = release.get_future().share();
  editor_->does = [&begun, released](const ObservedRequest& request) {
    if (request.number == 1) begun.set_value();
    released.wait();
    return RequestEdit{.body = "edited"};
  };
  EditingQueue queue(editor_, std::chrono::minutes(1), {}, {});
  std::future<RequestEdit> first = submit(queue, 1), second = submit(queue, 2);
  begun.get_future().wait();
  std::thread stopping([&] { queue.stop(); });
  EXPECT_FALSE(first.get().body.has_value());
  EXPECT_FALSE(second.get().body.has_value());
  release.set_value();
  stopping.join();
  EXPECT_FALSE(queue.submit(std::make_shared<ObservedRequest>(), {}));
}

}  // namespace
}  // namespace undertext
