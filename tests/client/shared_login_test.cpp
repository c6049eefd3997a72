// One login of several transports.
#include "client/shared_login.hpp"

#include <deque>
#include <optional>

#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::client;

namespace {

// What the one source that is shared is asked, and answers when the test says so.
struct Asked {
  int made = 0;
  int fetches = 0;
  bool refused = false;
  std::function<void(Result<Login>)> done;
  void give(Result<Login> login) {
    const auto callback = std::exchange(done, nullptr);
    REQUIRE(callback);
    callback(std::move(login));
  }
};

struct FakeSource : LoginSource {
  explicit FakeSource(Asked& told) : asked(told) { ++asked.made; }
  ~FakeSource() override { asked.done = nullptr; }
  FakeSource(const FakeSource&) = delete;
  FakeSource& operator=(const FakeSource&) = delete;
  void fetch(bool was_refused, std::function<void(Result<Login>)> callback) override {
    ++asked.fetches;
    asked.refused = was_refused;
    asked.done = std::move(callback);
  }
  Asked& asked;
};

struct Transports {
  explicit Transports(std::size_t number) : given(number) {
    for (std::size_t i = 0; i < number; ++i) sources.push_back(share("me"));
  }
  std::unique_ptr<LoginSource> share(const std::string& key) {
    auto made = share_login_source(loop, key, [this]() -> Result<std::unique_ptr<LoginSource>> {
      return std::unique_ptr<LoginSource>(std::make_unique<FakeSource>(asked));
    });
    REQUIRE(made.ok());
    return std::move(*made);
  }
  void fetch(std::size_t who, bool refused = false) {
    given[who].reset();
    sources[who]->fetch(refused,
                        [this, who](Result<Login> login) { given[who].emplace(std::move(login)); });
    CHECK_FALSE(given[who].has_value());
  }
  // Without another fetch.
  std::string is_given(std::size_t who) {
    const int before = asked.fetches;
    loop.run_until([&] { return given[who].has_value(); }, kLimit);
    CHECK(asked.fetches == before);
    return given[who] && given[who]->ok() ? (*given[who])->token : "";
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  Asked asked;
  std::vector<std::optional<Result<Login>>> given;
  std::vector<std::unique_ptr<LoginSource>> sources;
};

Login token(const std::string& text, std::optional<WallTime> expires = {}) {
  Login out;
  out.token = text;
  out.expires = expires;
  return out;
}

}  // namespace

TEST_CASE("one login is for all who log in as the same, at the same time or later") {
  Transports t(3);
  CHECK(t.asked.made == 1);
  t.fetch(0);
  t.fetch(1);
  CHECK(t.asked.fetches == 1);
  t.asked.give(token("one"));
  CHECK(t.is_given(0) == "one");
  CHECK(t.is_given(1) == "one");
  t.fetch(2);
  CHECK(t.is_given(2) == "one");
}

TEST_CASE("others have a login of their own") {
  Transports t(1);
  const auto other = t.share("somebody else");
  CHECK(t.asked.made == 2);
  Transports elsewhere(1);
  CHECK(elsewhere.asked.made == 1);
}

TEST_CASE("what one is refused all replace, by one further login") {
  Transports t(3);
  for (std::size_t i = 0; i < 3; ++i) t.fetch(i);
  t.asked.give(token("one"));
  t.fetch(0, true);
  CHECK(t.asked.fetches == 2);
  CHECK(t.asked.refused);
  t.fetch(1, true);
  t.asked.give(token("two"));
  CHECK(t.is_given(0) == "two");
  CHECK(t.is_given(1) == "two");
  // Who was refused the old one later is not worth another.
  t.fetch(2, true);
  CHECK(t.is_given(2) == "two");
  t.fetch(2, true);
  CHECK(t.asked.fetches == 3);
}

TEST_CASE("a source that has no other login does not run for each who is refused") {
  Transports t(2);
  t.fetch(0);
  t.fetch(1);
  t.asked.give(token("one"));
  t.fetch(0, true);
  t.asked.give(token("one"));
  CHECK(t.is_given(0) == "one");
  t.fetch(1, true);
  CHECK(t.is_given(1) == "one");
  bool later = false;
  const auto timer = t.loop.after(Duration{20000}, [&] { later = true; });
  REQUIRE(t.loop.run_until([&] { return later; }, kLimit));
  t.fetch(1, true);
  CHECK(t.asked.fetches == 3);
}

TEST_CASE("an expired login is replaced once") {
  Transports t(2);
  t.fetch(0);
  t.asked.give(token("one", t.loop.wall() + std::chrono::seconds(3)));
  t.fetch(0);
  t.fetch(1);
  CHECK(t.asked.fetches == 2);
  CHECK_FALSE(t.asked.refused);
  t.asked.give(token("two", t.loop.wall() + std::chrono::hours(1)));
  CHECK(t.is_given(0) == "two");
  CHECK(t.is_given(1) == "two");
}

TEST_CASE("a login that fails fails for those who wait, and is tried again for the next") {
  Transports t(2);
  t.fetch(0);
  t.fetch(1);
  t.asked.give(Error(ErrorKind::unauthorized, "no luck"));
  REQUIRE(t.given[0].has_value());
  CHECK(t.given[0]->error().message() == "no luck");
  REQUIRE(t.given[1].has_value());
  CHECK_FALSE(t.given[1]->ok());
  t.fetch(1);
  CHECK(t.asked.fetches == 2);
}

TEST_CASE("who goes is told nothing any more, and the last one takes the login along") {
  Transports t(3);
  t.fetch(0);
  t.fetch(1);
  t.sources[0].reset();
  REQUIRE(t.asked.done);
  t.asked.give(token("one"));
  CHECK_FALSE(t.given[0].has_value());
  CHECK(t.is_given(1) == "one");
  t.fetch(2);
  t.sources[2].reset();
  t.sources[1].reset();
  CHECK_FALSE(t.loop.run_until([&] { return t.given[2].has_value(); }, Duration{1000}));
  t.sources[0] = t.share("me");
  CHECK(t.asked.made == 2);
  t.fetch(0);
  CHECK(t.asked.fetches == 2);
  t.sources.clear();
  CHECK_FALSE(t.asked.done);
}

TEST_CASE("the last one may go when it is told") {
  Transports t(1);
  bool told = false;
  t.sources[0]->fetch(false, [&](const Result<Login>&) {
    told = true;
    t.sources.clear();
  });
  t.asked.give(token("one"));
  CHECK(told);
}
