// Requests and answers over real sockets: what a proper client sees.
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

TEST(Server, AnswersARequest) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send(get("/a?b=c"));
  const std::string answer = client.read_answer();
  EXPECT_EQ(status_of(answer), 200u);
  EXPECT_EQ(body_of(answer), "GET /a?b=c ");
  EXPECT_NE(answer.find("\r\nDate: "), answer.npos);
  EXPECT_NE(answer.find("\r\nContent-Type: text/plain\r\n"), answer.npos);
}

TEST(Server, KeepsTheConnectionForTheNextRequest) {
  Server server = serve(echoing());
  RawClient client(server);
  for (int i = 0; i < 100; ++i) {
    client.send(post("/n", std::to_string(i)));
    EXPECT_EQ(body_of(client.read_answer()), "POST /n " + std::to_string(i));
  }
  EXPECT_EQ(server.counts().connections_total, 1u);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  Server server = serve(echoing());
  RawClient client(server);
  std::string requests;
  for (int i = 0; i < 1000; ++i)
    requests += i % 2 ? get("/" + std::to_string(i)) : post("/" + std::to_string(i), "x");
  client.send(requests);
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(body_of(client.read_answer()),
              i % 2 ? "GET /" + number + " " : "POST /" + number + " x");
  }
}

TEST(Server, HasOneRequestOfAConnectionUnderWayAtATime) {
  std::promise<std::unique_ptr<Exchange>> first;
  std::atomic<int> handled = 0;
  Calls calls = echoing();
  calls.handle = [&](Request request, std::unique_ptr<Exchange> exchange) {
    if (++handled == 1)
      first.set_value(std::move(exchange));
    else
      echo(std::move(request), std::move(exchange));
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/1") + get("/2"));
  std::unique_ptr<Exchange> exchange = first.get_future().get();
  RawClient other(server);  // both loops have been through their events when it is answered
  other.send(get("/other"));
  other.read_answer();
  EXPECT_EQ(handled, 2);
  exchange->answer({.body = "late"});
  EXPECT_EQ(body_of(client.read_answer()), "late");
  EXPECT_EQ(body_of(client.read_answer()), "GET /2 ");
}

TEST(Server, AnswersFromAnyThread) {
  Calls calls = echoing();
  std::vector<std::thread> threads;
  calls.handle = [&](Request request, std::unique_ptr<Exchange> exchange) {
    threads.emplace_back([request = std::move(request), exchange = std::move(exchange)]() mutable {
      echo(std::move(request), std::move(exchange));
    });
  };
  Server server = serve(calls);
  RawClient client(server);
  for (int i = 0; i < 20; ++i) {
    client.send(get("/t"));
    EXPECT_EQ(body_of(client.read_answer()), "GET /t ");
  }
  server.stop();
  for (std::thread& thread : threads) thread.join();
}

TEST(Server, ReadsABodyInChunks) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;ext=\"a "
      "b\"\r\n "
      "\r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n" +
      get("/next"));
  EXPECT_EQ(body_of(client.read_answer()), "POST / hello world");
  EXPECT_EQ(body_of(client.read_answer()), "GET /next ");
}

TEST(Server, ReadsRequestsThatComeByteByByte) {
  Server server = serve(echoing());
  RawClient client(server);
  for (char byte :
       post("/slow", "body") +
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
    client.send(std::string(1, byte));
  EXPECT_EQ(body_of(client.read_answer()), "POST /slow body");
  EXPECT_EQ(body_of(client.read_answer()), "POST / ab");
}

TEST(Server, ReadsAndWritesLargeBodies) {
  Server server = serve(echoing(64 << 20));
  RawClient client(server);
  const std::string body(20 << 20, 'x');
  std::thread sender([&] { client.send(post("/", body)); });
  const std::string answer = client.read_answer();
  sender.join();
  EXPECT_TRUE(body_of(answer) == "POST / " + body);
}

TEST(Server, SendsContinueToAClientThatWaitsForIt) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_EQ(body_of(client.read_answer()), "POST / ok");
}

TEST(Server, RefusesInsteadOfContinueWhereTheBodyIsNotWanted) {
  Server server = serve(echoing(1));
  RawClient client(server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_EQ(status_of(all), 413u);
  EXPECT_EQ(count_of(all, "HTTP/1.1"), 1u);
}

TEST(Server, AnswersHeadWithoutABody) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next"));
  EXPECT_NE(client.read_answer(true).find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_EQ(body_of(client.read_answer()), "GET /next ");
}

TEST(Server, SendsTheBodyOfARefusalThatFollowsHead) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n");
  client.read_answer(true);
  EXPECT_NE(body_of(client.read_all()), "");
}

TEST(Server, SendsNoBodyWith204And304) {
  for (unsigned status : {204u, 304u}) {
    Calls calls = echoing();
    calls.handle = [&](Request, std::unique_ptr<Exchange> exchange) {
      exchange->answer({.status = status, .body = "forgotten"});
    };
    Server server = serve(calls);
    RawClient client(server);
    client.send(get("/") + get("/", "Connection: close\r\n"));
    const std::string all = client.read_all();
    EXPECT_EQ(count_of(all, "HTTP/1.1 " + std::to_string(status)), 2u);
    EXPECT_EQ(all.find("forgotten"), all.npos);
  }
}

TEST(Server, ClosesWhereTheClientAsksForIt) {
  Server server = serve(echoing());
  for (const std::string& request :
       {get("/", "Connection: close\r\n"), get("/", "Connection: x, Close\r\n"),
        std::string("GET / HTTP/1.0\r\n\r\n"),
        std::string("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")}) {
    RawClient client(server);
    client.send(request);
    const std::string all = client.read_all();
    EXPECT_EQ(body_of(all), "GET / ") << request;
    EXPECT_NE(all.find("\r\nConnection: close\r\n"), all.npos) << request;
  }
}

TEST(Server, ClosesWhereTheReplyAsksForIt) {
  Calls calls = echoing();
  calls.handle = [](Request, std::unique_ptr<Exchange> exchange) {
    exchange->answer({.body = "bye", .close = true});
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/") + get("/"));
  EXPECT_EQ(count_of(client.read_all(), "bye"), 1u);
}

TEST(Server, AnswersAClientThatHasStoppedSending) {
  Server server = serve(echoing());
  RawClient client(server);
  client.send(get("/1") + get("/2"));
  client.end_sending();
  const std::string all = client.read_all();
  EXPECT_EQ(count_of(all, "GET /1 "), 1u);
  EXPECT_EQ(count_of(all, "GET /2 "), 1u);
}

TEST(Server, SendsTheFieldsOfAReplyButNoneThatWouldBreakItsLines) {
  Calls calls = echoing();
  calls.handle = [](Request, std::unique_ptr<Exchange> exchange) {
    exchange->answer(
        {.fields = {{"ETag", "\"7\""}, {"X-Bad", "a\r\nSet-Cookie: b"}, {"Bad Name", "c"}}});
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/"));
  const std::string answer = client.read_answer();
  EXPECT_NE(answer.find("\r\nETag: \"7\"\r\n"), answer.npos);
  EXPECT_EQ(answer.find("Set-Cookie"), answer.npos);
  EXPECT_EQ(answer.find("Bad"), answer.npos);
}

TEST(Server, Answers500WhenNobodyAnswers) {
  Calls calls = echoing();
  calls.handle = [](Request request, std::unique_ptr<Exchange>) {
    if (request.target == "/throw") throw std::runtime_error("a bug");
  };
  Server server = serve(calls);
  for (const char* target : {"/", "/throw"}) {
    RawClient client(server);
    client.send(get(target));
    EXPECT_EQ(status_of(client.read_answer()), 500u);
  }
}

TEST(Server, Answers500WhenAdmitThrows) {
  Calls calls = echoing();
  calls.admit = [](const Head&) -> std::variant<Admission, Reply> {
    throw std::runtime_error("a bug");
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(status_of(client.read_answer()), 500u);
}

TEST(Server, LetsTheOwnerWordItsRefusals) {
  Calls calls = echoing();
  calls.refusal = [](const Refused& refused) {
    return Reply{.status = refused.status, .body = "no: " + std::string(refused.why)};
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send("nonsense\r\n\r\n");
  const std::string answer = client.read_answer();
  EXPECT_EQ(status_of(answer), 400u);
  EXPECT_TRUE(body_of(answer).starts_with("no: "));
}

TEST(Admit, SeesTheHeadAndMayRefuseBeforeTheBody) {
  Calls calls = echoing();
  std::atomic<int> handled = 0;
  calls.admit = [](const Head& head) -> std::variant<Admission, Reply> {
    if (head.find("authorization") == nullptr) return Reply{.status = 401, .body = head.peer};
    return Admission{10};
  };
  calls.handle = [&](Request request, std::unique_ptr<Exchange> exchange) {
    ++handled;
    echo(std::move(request), std::move(exchange));
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(body_of(client.read_answer()), "127.0.0.1");
  client.send(get("/", "Authorization: x\r\n"));  // a refusal without a body costs no connection
  EXPECT_EQ(status_of(client.read_answer()), 200u);
  client.send(post("/", "a small body that nobody reads"));
  const std::string all = client.read_all();
  EXPECT_EQ(status_of(all), 401u);
  EXPECT_EQ(handled, 1);
}

TEST(Admit, IsAskedOnceAndWhatItKnowsComesWithTheRequestAndItsRefusal) {
  Calls calls = echoing();
  std::atomic<int> asked = 0;
  calls.admit = [&](const Head& head) -> std::variant<Admission, Reply> {
    ++asked;
    return Admission{.body_bytes_max = 10, .known = "known: " + head.target};
  };
  calls.handle = [](Request request, std::unique_ptr<Exchange> exchange) {
    exchange->answer({.body = std::any_cast<std::string>(request.admitted)});
  };
  calls.refusal = [](const Refused& refused) {
    return Reply{.status = refused.status,
                 .body = std::any_cast<std::string>(refused.head->admitted)};
  };
  Server server = serve(calls);
  RawClient client(server);
  client.send(post("/a", "small"));
  EXPECT_EQ(body_of(client.read_answer()), "known: /a");
  client.send(post("/b", "larger than it may be"));
  const std::string refused = client.read_all();
  EXPECT_EQ(status_of(refused), 413u);
  EXPECT_EQ(body_of(refused), "known: /b");
  EXPECT_EQ(asked, 2);
}

TEST(Address, NamesThePortThatWasFree) {
  Server server = serve(echoing());
  EXPECT_TRUE(server.address().starts_with("http://127.0.0.1:"));
  EXPECT_NE(port_of(server), 0);
}

TEST(Listen, SaysWhatIsWrong) {
  Server server = serve(echoing());
  EXPECT_EQ(Server::listen({.port = port_of(server)}, echoing()).error().code,
            ErrorCode::unavailable);
  EXPECT_EQ(Server::listen({.address = "nowhere"}, echoing()).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(Server::listen({.tls = Tls{"/no/certificate", "/no/key"}}, echoing()).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace undertext::http
