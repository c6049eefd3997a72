#include "runtime/watcher.hpp"

#include "core/status.hpp"
#include "runtime/watcher_script.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using runtime::ListSemantics;
using runtime::ListStrategy;
using runtime::WatcherOptions;
using runtime::WatcherState;

namespace {

WatcherOptions with(ListStrategy strategy, ListSemantics semantics = ListSemantics::recent,
                    std::string selector = "") {
  WatcherOptions options;
  options.strategy = strategy;
  options.semantics = semantics;
  options.label_selector = std::move(selector);
  return options;
}

const Error kUnavailable = http_error(ErrorKind::unavailable, 503);
const Error kCut(ErrorKind::unreachable, "connection reset");

}  // namespace

TEST_CASE("the first request fits strategy, semantics and selector") {
  struct Row {
    ListStrategy strategy;
    ListSemantics semantics;
    std::string selector;
    std::string first;
  };
  const std::vector<Row> rows = {
      {ListStrategy::automatic, ListSemantics::recent, "", "list"},
      {ListStrategy::automatic, ListSemantics::any, "", "list resourceVersion=0"},
      {ListStrategy::automatic, ListSemantics::not_older_than, "", "list resourceVersion=0"},
      {ListStrategy::automatic, ListSemantics::recent, "a=b", "list labelSelector=a%3Db"},
      {ListStrategy::automatic, ListSemantics::any, "a=b",
       "list labelSelector=a%3Db&resourceVersion=0"},
      {ListStrategy::paged, ListSemantics::recent, "", "list limit=500"},
      {ListStrategy::paged, ListSemantics::recent, "a=b", "list labelSelector=a%3Db&limit=500"},
      {ListStrategy::unpaged, ListSemantics::recent, "a=b", "list labelSelector=a%3Db"},
      {ListStrategy::unpaged, ListSemantics::any, "", "list resourceVersion=0"},
      {ListStrategy::streaming, ListSemantics::recent, "", "watch rv= initial"},
      {ListStrategy::streaming, ListSemantics::any, "", "watch rv=0 initial"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first, static_cast<int>(row.strategy), row.selector);
    Script script(with(row.strategy, row.semantics, row.selector));
    CHECK(script.start().at(0) == row.first);
  }
}

TEST_CASE("an unpaged list is followed by a watch from its resourceVersion") {
  Script s;
  CHECK(s.start() == Lines{"list"});
  CHECK(s.page("10", 3) == Lines{"Init", "Page 3", "InitDone 10", "watch rv=10", "timer 30000"});
  CHECK(s.open() == Lines{"timer 240000"});
  CHECK(s.watcher.state() == WatcherState::watching);
  CHECK(s.added("11") == Lines{"Apply"});
  CHECK(s.modified("12") == Lines{"Apply"});
  CHECK(s.deleted("13") == Lines{"Delete"});
  CHECK(s.bookmark("20") == Lines{"Bookmark 20"});
  CHECK(s.watcher.resource_version() == "20");
}

TEST_CASE("pages are asked for by their continue tokens") {
  Script s(with(ListStrategy::paged));
  s.start();
  CHECK(s.page("10", 500, "t1") == Lines{"Init", "Page 500", "list continue=t1&limit=500"});
  CHECK(s.page("10", 500, "t2") == Lines{"Page 500", "list continue=t2&limit=500"});
  CHECK(s.page("10", 7) == Lines{"Page 7", "InitDone 10", "watch rv=10", "timer 30000"});
}

TEST_CASE("an empty collection is a state as well") {
  Script s;
  s.start();
  CHECK(s.page("10", 0) == Lines{"Init", "InitDone 10", "watch rv=10", "timer 30000"});
}

TEST_CASE("an expired continue token leads to one whole list of the newest state") {
  Script s(with(ListStrategy::paged, ListSemantics::any));
  CHECK(s.start() == Lines{"list limit=500&resourceVersion=0"});
  s.page("10", 500, "t1");
  CHECK(s.list_error(gone()) == Lines{"Failure initial list +0", "list"});
  CHECK(s.page("30", 800) ==
        Lines{"Init", "Page 800", "InitDone 30", "watch rv=30", "timer 30000"});
}

TEST_CASE("a page that fails for another reason is asked for again with the same token") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t1");
  CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +800", "timer 800"});
  CHECK(s.after(800).timer() == Lines{"list continue=t1&limit=500"});
  // A token that the server does not understand is not asked for for ever.
  CHECK(s.list_error(http_error(ErrorKind::invalid, 400)) ==
        Lines{"Failure initial list +800", "timer 800"});
  CHECK(s.after(800).timer() == Lines{"list limit=500"});
}

// Schedule 1826 of the model: the new history had just the version of the pages before.
TEST_CASE("a list whose server was away for long begins anew: it may have been restored") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t1");
  s.list_error(kUnavailable);
  CHECK(s.after(800).timer() == Lines{"list continue=t1&limit=500"});
  s.list_error(kUnavailable);
  CHECK(s.after(1600).timer() == Lines{"list continue=t1&limit=500"});
  s.list_error(kUnavailable);
  CHECK(s.after(3200).timer() == Lines{"list limit=500"});
  CHECK(s.page("10", 500, "t2").at(0) == "Init");
  SECTION("what came in between starts the time anew") {
    s.list_error(kUnavailable);
    CHECK(s.after(2000).timer() == Lines{"list continue=t2&limit=500"});
    s.page("10", 500, "t3");
    s.list_error(kUnavailable);
    CHECK(s.after(4000).timer() == Lines{"list continue=t3&limit=500"});
  }
  SECTION("nor is an answer that something in between held back of a certain past") {
    s.list_error(kUnavailable);
    CHECK(s.after(1000).timer() == Lines{"list continue=t2&limit=500"});
    CHECK(s.after(25000).page("10", 500, "t3") == Lines{"Page 500", "list"});
    CHECK(s.page("10", 900) ==
          Lines{"Init", "Page 900", "InitDone 10", "watch rv=10", "timer 30000"});
  }
  SECTION("for ever it does not begin anew: one answer is of one past") {
    s.list_error(kUnavailable);
    CHECK(s.after(6000).timer() == Lines{"list"});
    SECTION("and afterwards it is asked for pages again") {
      s.page("10", 900);
      s.open();
      s.error_event(gone());
      CHECK(s.timer() == Lines{"list limit=500"});
    }
    SECTION("a server that pages unasked is asked less and less often") {
      s.page("10", 500, "t4");
      s.list_error(kUnavailable);
      CHECK(s.after(6000).timer() == Lines{"Failure initial list +800", "timer 800"});
      CHECK(s.after(800).timer() == Lines{"list"});
      s.page("10", 500, "t5");
      s.list_error(kUnavailable);
      CHECK(s.after(800).timer() == Lines{"list continue=t5"});
      CHECK(s.after(25000).page("10", 500, "t6") ==
            Lines{"Page 500", "Failure initial list +1600", "timer 1600"});
    }
  }
  SECTION("a server that says it has too much to do was there all the time") {
    s.list_error(http_error(ErrorKind::rate_limited, 429));
    CHECK(s.after(12800).timer() == Lines{"list continue=t2&limit=500"});
  }
}

// Else the delay of a long list's single failures grows until each of them begins the list anew.
TEST_CASE("the pages of a list have a backoff of their own, which each that comes starts afresh") {
  Script s(with(ListStrategy::paged));
  s.start();
  CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +800", "timer 800"});
  s.timer();
  s.page("10", 500, "t0");
  CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +800", "timer 800"});
  s.timer();
  CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +1600", "timer 1600"});
  s.timer();
  for (int i = 1; i < 200; ++i) {
    const std::string token = "t" + std::to_string(i);
    s.page("10", 500, token);
    CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list continue=" + token + "&limit=500"});
  }
  // A list that has to begin anew goes on where the list before it was.
  CHECK(s.list_error(http_error(ErrorKind::invalid, 400)) ==
        Lines{"Failure initial list +1600", "timer 1600"});
}

TEST_CASE("pages of different resourceVersions are not mixed") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t1");
  CHECK(s.page("12", 500, "t2") == Lines{"Page 500", "list"});
  CHECK(s.page("13", 900).at(0) == "Init");
}

TEST_CASE("continue tokens that lead nowhere: all is asked for at once, then in backoff") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t1");
  CHECK(s.page("10", 500, "t1") == Lines{"Page 500", "Failure initial list +0", "list"});
  SECTION("a server that selects after it has cut the pages") {
    CHECK(s.page("11", 1) == Lines{"Init", "Page 1", "InitDone 11", "watch rv=11", "timer 30000"});
  }
  SECTION("one that pages unasked") {
    for (const char* token : {"t1", "t2"}) s.page("10", 0, token);
    CHECK(s.page("10", 0, "t3") == Lines{"Failure initial list +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
  }
}

TEST_CASE("many empty pages in a row are asked for at once") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 0, "t1");
  s.page("10", 0, "t2");
  CHECK(s.page("10", 0, "t3") == Lines{"Failure initial list +0", "list"});
}

TEST_CASE("a server that pages unasked is not asked again and again when its tokens expire") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t1");
  CHECK(s.list_error(gone()) == Lines{"Failure initial list +0", "list"});
  s.page("20", 500, "t2");
  CHECK(s.list_error(gone()) == Lines{"Failure initial list +800", "timer 800"});
  CHECK(s.after(800).timer() == Lines{"list"});
  s.page("30", 500, "t3");
  CHECK(s.list_error(gone()) == Lines{"Failure initial list +1600", "timer 1600"});
}

TEST_CASE("pages of different versions that cannot be had otherwise are watched from the first") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("20", 1, "t1");
  CHECK(s.page("22", 1, "t2") == Lines{"Page 1", "list"});
  s.page("30", 1, "t3");
  CHECK(s.page("40", 1) == Lines{"Page 1", "InitDone 30", "watch rv=30", "timer 30000"});
}

TEST_CASE("pages that only repeat what was listed end in backoff, whatever their tokens are") {
  Script s(with(ListStrategy::paged));
  const auto repeated = [&](const std::string& token) {
    s.list_item();
    s.watcher.on_repeated_item();
    return s.page_end("10", token);
  };
  s.start();
  s.page("10", 1, "t1");
  CHECK(repeated("t2") == Lines{"list continue=t2&limit=500"});
  SECTION("three in a row") {
    repeated("t3");
    CHECK(repeated("t4") == Lines{"Failure initial list +0", "list"});
  }
  SECTION("not when something new comes between, nor for a page that broke off before") {
    s.page("10", 1, "t3");
    repeated("t4");
    s.list_item();
    s.list_error(kUnavailable);
    s.after(800).timer();
    CHECK(repeated("t5") == Lines{"list continue=t5&limit=500"});
    CHECK(repeated("t6") == Lines{"list continue=t6&limit=500"});
    CHECK(repeated("t7") == Lines{"Failure initial list +0", "list"});
  }
}

TEST_CASE(
    "a whole list that is too much for one answer is read in pages by the automatic strategy") {
  Script s;
  s.start();
  CHECK(s.list_error(Error(ErrorKind::too_large, "512 MiB")) ==
        Lines{"Failure initial list +0", "list limit=500"});
  Script fixed(with(ListStrategy::unpaged));
  fixed.start();
  CHECK(fixed.list_error(Error(ErrorKind::too_large, "512 MiB")) ==
        Lines{"Failure initial list +800", "timer 800"});
}

TEST_CASE("a failing initial list backs off exponentially and without Init") {
  Script s;
  s.start();
  std::int64_t expected = 800;
  for (int i = 0; i < 8; ++i) {
    CHECK(s.list_error(kUnavailable) == Lines{fmt::format("Failure initial list +{}", expected),
                                              fmt::format("timer {}", expected)});
    CHECK(s.after(expected).timer() == Lines{"list"});
    expected = std::min<std::int64_t>(expected * 2, 30000);
  }
  CHECK(s.watcher.failures() == 8);
}

TEST_CASE("jitter spreads the retries of many watchers") {
  std::vector<std::string> delays;
  Script s({}, 0.5);
  for (int i = 0; i < 5; ++i) {
    Script other({}, 0.5);
    other.random = base::Random(static_cast<std::uint64_t>(i));
    other.start();
    delays.push_back(other.list_error(kUnavailable).at(1));
  }
  std::sort(delays.begin(), delays.end());
  CHECK(std::unique(delays.begin(), delays.end()) - delays.begin() >= 4);
}

TEST_CASE("Retry-After is respected where it is longer than the backoff, within reason") {
  Script s;
  s.start();
  const auto slow = s.list_error(http_error(ErrorKind::rate_limited, 429, 7));
  const auto delay = std::stoll(slow.at(1).substr(6));
  CHECK(delay >= 7000);
  CHECK(delay <= 7700);
  s.after(delay).timer();
  const auto absurd = s.list_error(http_error(ErrorKind::rate_limited, 429, 2000000000));
  CHECK(absurd.at(1) == "timer 300000");
}

TEST_CASE("a list without resourceVersion is a failure, not a place to watch from") {
  for (const char* rv : {"", "0"}) {
    Script s;
    s.start();
    CHECK(s.page(rv, 2) == Lines{"Init", "Page 2", "Failure no resourceVersion +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
    // A new Init: what the first try delivered is void.
    CHECK(s.page("5", 1).at(0) == "Init");
  }
}

TEST_CASE("a watch that the server ends is resumed where it stood, without any event") {
  Script s;
  s.sync();
  s.added("11");
  s.bookmark("50");
  CHECK(s.after(290000).end() == Lines{"watch rv=50", "timer 30000"});
  CHECK(s.watcher.failures() == 0);
}

TEST_CASE("410 leads to a new list and a gap, however it comes") {
  SECTION("as an ERROR event") {
    Script s;
    s.sync();
    CHECK(s.error_event(gone()) == Lines{"stop", "Failure server error event +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
    CHECK(s.page("90").at(2) == "InitDone 90 gap");
  }
  SECTION("as the HTTP status of the watch") {
    Script s;
    s.start();
    s.page("10");
    CHECK(s.end(gone()) == Lines{"Failure watch start +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
    CHECK(s.page("90").at(2) == "InitDone 90 gap");
  }
  SECTION("after an outage it does not wait as long as that had come to: the server is there") {
    Script s;
    s.sync();
    s.end(kUnavailable);
    for (const int delay : {800, 1600, 3200, 6400}) {
      s.after(delay).retry();
      s.end(kUnavailable);
    }
    s.after(12800).retry();
    s.open();
    CHECK(s.error_event(gone()) == Lines{"stop", "Failure server error event +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
    // What was before is not forgotten: it may go on.
    CHECK(s.list_error(kUnavailable) == Lines{"Failure initial list +12800", "timer 12800"});
  }
  SECTION("again and again, with growing delays") {
    Script s;
    s.start();
    for (const int delay : {800, 1600, 3200, 6400}) {
      s.after(1000).page("10");
      s.open();
      CHECK(s.error_event(gone()).at(2) == fmt::format("timer {}", delay));
      s.after(delay).timer();
    }
  }
}

TEST_CASE("the first state is no gap, even when it took several tries") {
  Script s(with(ListStrategy::paged));
  s.start();
  s.page("10", 500, "t");
  s.list_error(gone());
  CHECK(s.page("11").at(2) == "InitDone 11");
}

TEST_CASE(
    "other ERROR events end the watch, which goes on at the same resourceVersion after a pause") {
  Script s;
  s.sync();
  s.added("11");
  CHECK(s.error_event(http_error(ErrorKind::unavailable, 500)) ==
        Lines{"stop", "Failure server error event +800", "timer 800"});
  s.after(200);
  CHECK(s.after(800).timer() == Lines{"watch rv=11", "timer 30000"});
  s.open();
  const auto limited = s.after(1000).error_event(http_error(ErrorKind::rate_limited, 429, 3));
  CHECK(std::stoll(limited.at(2).substr(6)) >= 3000);
}

TEST_CASE("an ERROR event that is no Status is an error like any other") {
  Script s;
  s.sync();
  CHECK(s.error_event(core::error_from_status_json(R"(["what"])")) ==
        Lines{"stop", "Failure server error event +800", "timer 800"});
}

TEST_CASE("a resourceVersion that the server never accepts is given up") {
  Script s;
  s.start();
  s.page("10");
  const Error refused = http_error(ErrorKind::unavailable, 500);
  for (int i = 0; i < 4; ++i) {
    s.end(refused);
    s.after(60000).timer();
    CHECK(s.watcher.state() == WatcherState::init_listed);
  }
  s.end(refused);
  CHECK(s.after(60000).timer() == Lines{"list"});
}

TEST_CASE("a stream that breaks at its first event each time is given up for a list") {
  const Error broken(ErrorKind::invalid, "the stream holds something else than JSON objects");
  const auto reopen = [&](Script& s) {
    s.after(60000).retry();
    s.open();
  };
  SECTION("after five tries in a row") {
    Script s;
    s.sync();
    for (int i = 0; i < 4; ++i) {
      CHECK(s.end(broken).at(0) == "Failure watch stream +" + std::to_string(800 << i));
      reopen(s);
      CHECK(s.watcher.state() == WatcherState::watching);
    }
    s.end(broken);
    CHECK(s.after(60000).timer() == Lines{"list"});
    CHECK(s.page("90").at(2) == "InitDone 90 gap");
  }
  SECTION("but not while events come through") {
    Script s;
    s.sync();
    for (int i = 0; i < 12; ++i) {
      s.added(std::to_string(11 + i));
      s.end(broken);
      reopen(s);
    }
    CHECK(s.watcher.state() == WatcherState::watching);
  }
  SECTION("an event that is only told again is no progress") {
    Script s;
    s.sync();
    s.added("11");
    s.end(broken);  // this one did tell something
    for (int i = 0; i < 5; ++i) {
      reopen(s);
      s.added("11");
      s.end(broken);
    }
    s.after(60000);
    CHECK(s.timer() == Lines{"list"});
  }
  SECTION("nor when each of them lived for long") {
    Script s;
    s.sync();
    for (int i = 0; i < 12; ++i) {
      s.after(130000).end(kCut);
      reopen(s);
    }
    CHECK(s.watcher.state() == WatcherState::watching);
  }
}

TEST_CASE("a watch that waits for a login is not one that the server leaves without an answer") {
  Script s;
  s.start();
  s.page("10");
  s.after(30000);
  CHECK(s.lines(s.watcher.on_timer(s.now, true)) == Lines{"timer 30000"});
  s.after(30000);
  CHECK(s.lines(s.watcher.on_timer(s.now, true)) == Lines{"timer 30000"});
  // It was given, and the server says nothing.
  s.after(30000);
  CHECK(s.timer() != Lines{"timer 30000"});
}

TEST_CASE("ERROR events that repeat at one resourceVersion end in a list, those of load do not") {
  struct Row {
    Error error;
    bool given_up;
  };
  const std::vector<Row> rows = {
      {core::error_from_status_json("[]"), true},
      {http_error(ErrorKind::unavailable, 500), true},
      {http_error(ErrorKind::invalid, 400), true},
      {http_error(ErrorKind::rate_limited, 429, 1), false},
      {http_error(ErrorKind::unavailable, 503), false},
      {http_error(ErrorKind::unauthorized, 401), false},
      {http_error(ErrorKind::forbidden, 403), false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.error.render());
    Script s;
    s.sync();
    for (int i = 0; i < 4; ++i) {
      s.error_event(row.error);
      s.after(60000).timer();
      s.open();
    }
    s.error_event(row.error);
    CHECK((s.after(60000).timer().at(0) == "list") == row.given_up);
  }
}

TEST_CASE("a forbidden watch after an allowed list is retried, and each failure is told") {
  Script s;
  s.start();
  s.page("10");
  CHECK(s.end(http_error(ErrorKind::forbidden, 403)) ==
        Lines{"Failure watch start +800", "timer 800"});
  s.after(1000).timer();
  CHECK(s.end(http_error(ErrorKind::forbidden, 403)) ==
        Lines{"Failure watch start +1600", "timer 1600"});
}

TEST_CASE("a very short watch without events counts as failed") {
  Script s;
  s.sync();
  CHECK(s.after(300).end() == Lines{"Failure watch stream +800", "timer 800"});
  s.after(800).retry();
  s.open();
  CHECK(s.after(300).end() == Lines{"Failure watch stream +1600", "timer 1600"});
  s.after(1600).timer();
  s.open();
  CHECK(s.after(1500).end() == Lines{"watch rv=10", "timer 30000"});
}

TEST_CASE("watches are never started more than once a second, whatever the server does") {
  Script s;
  s.sync();
  s.added("11");
  CHECK(s.after(100).end() == Lines{"timer 900"});
  CHECK(s.after(900).timer() == Lines{"watch rv=11", "timer 30000"});
}

TEST_CASE("only what is delivered, or a long life, resets the backoff") {
  Script s;
  s.sync();
  s.after(5000).end(kCut);
  s.after(800).retry();
  s.open();
  CHECK(s.watcher.failures() == 1);  // a watch that opens proves nothing
  SECTION("an event does") {
    s.added("11");
    CHECK(s.watcher.failures() == 0);
  }
  SECTION("a bookmark does") {
    s.bookmark("11");
    CHECK(s.watcher.failures() == 0);
  }
  SECTION("an unknown event does not") {
    s.event(core::WatchEventType::unknown, "11");
    CHECK(s.watcher.failures() == 1);
  }
  SECTION("two minutes do") {
    CHECK(s.after(120000).end(kCut).at(0) == "Failure watch stream +800");
  }
  SECTION("less does not") {
    CHECK(s.after(119000).end(kCut).at(0) == "Failure watch stream +1600");
  }
}

TEST_CASE("an idle watch is reopened at the same resourceVersion, and that is no failure") {
  Script s;
  s.sync();
  s.after(100000).added("11");
  CHECK(s.after(140000).timer() == Lines{"timer 100000"});
  CHECK(s.after(100000).timer() == Lines{"stop", "watch rv=11", "timer 30000"});
  CHECK(s.watcher.failures() == 0);
  s.open();
  CHECK(s.after(5000).end(Error(ErrorKind::timeout, "idle")) ==
        Lines{"watch rv=11", "timer 30000"});
  CHECK(s.watcher.failures() == 0);
}

TEST_CASE("watches that end in order before two minutes do not add failures of hours ago up") {
  Script s;
  s.sync();
  s.after(2000).end(kCut);
  CHECK(s.watcher.failures() == 1);
  s.after(60000).retry();
  s.open();
  CHECK(s.confirmed(s.after(60000).end()) == Lines{"watch rv=10", "timer 30000"});
  CHECK(s.watcher.failures() == 0);
  // Nor do flows that something cuts each minute make it list again.
  for (int i = 0; i < 8; ++i) {
    s.open();
    CHECK(s.after(60000).end(kCut).at(0).starts_with("Failure watch stream"));
    CHECK(s.after(60000).retry() == Lines{"watch rv=10", "timer 30000"});
  }
}

TEST_CASE("the server ends a watch before its silence is given up: what is held back comes then") {
  const auto asked = [](const runtime::WatcherActions& actions) {
    for (const auto& action : actions) {
      if (const auto* watch = std::get_if<runtime::StartWatch>(&action))
        return watch->params.timeout;
    }
    return Duration{0};
  };
  Script s;
  s.start();
  core::ListPage page;
  page.resource_version = "10";
  CHECK(asked(s.watcher.on_page(s.now, page)) == Duration{225000});
  s.open();
  s.bookmark("11");  // the flow passes
  s.now += Duration{225000};
  CHECK(asked(s.watcher.on_watch_end(s.now, std::nullopt)) == Duration{290000});
}

TEST_CASE("silence after bookmarks is noticed sooner: the socket may be half open") {
  Script s;
  s.sync();
  s.bookmark("11");
  CHECK(s.after(240000).timer() == Lines{"stop", "list limit=1"});
  CHECK(s.page("11") == Lines{"watch rv=11", "timer 30000"});
  CHECK(s.open() == Lines{"timer 150000"});
}

TEST_CASE("where requests get no answer a watch that has said nothing since is opened anew") {
  Script s;
  s.sync();
  s.bookmark("11");
  const auto silent_for = [&](std::int64_t milliseconds) {
    return s.lines(s.watcher.on_server_silent(s.now, s.now - Duration{milliseconds}));
  };
  s.after(9000);
  CHECK(silent_for(9000) == Lines{});  // it spoke then
  CHECK(silent_for(8000) == Lines{"stop", "list limit=1"});
  CHECK(silent_for(8000) == Lines{});  // it is at it
  SECTION("a server that is away") {
    CHECK(s.lines(s.watcher.on_list_error(s.now, kCut)).at(0) == "Failure watch start +800");
    CHECK(silent_for(8000) == Lines{});
  }
  SECTION("a server that is well") {
    CHECK(s.page("11") == Lines{"watch rv=11", "timer 30000"});
    CHECK(silent_for(8000) == Lines{});
    s.open();
    CHECK(silent_for(8000) == Lines{});
    CHECK(s.watcher.failures() == 0);
  }
}

TEST_CASE("without bookmarks the server is looked at first as well, and a doubt stays one") {
  Script s;
  s.sync();
  s.after(9000);
  REQUIRE(s.lines(s.watcher.on_server_silent(s.now, s.now - Duration{8000})) ==
          Lines{"stop", "list limit=1"});
  SECTION("a server that is well") {
    CHECK(s.page_end("10") == Lines{"watch rv=10", "timer 30000"});
    CHECK(s.open() == Lines{"timer 240000"});
    // Silence alone is no doubt.
    CHECK(s.after(240000).timer() == Lines{"stop", "watch rv=10", "timer 30000"});
  }
  SECTION("lists fail where watches work") {
    s.list_error(kUnavailable);
    CHECK(s.after(800).timer() == Lines{"list limit=1"});
    s.list_error(kUnavailable);
    CHECK(s.after(1600).timer() == Lines{"watch rv=10", "timer 30000"});
    s.open();
    CHECK(s.after(240000).timer() == Lines{"stop", "list limit=1"});
  }
}

TEST_CASE("a watch that is never answered fails after its open time") {
  Script s;
  s.start();
  s.page("10");
  CHECK(s.after(30000).timer() == Lines{"stop", "Failure watch start +800", "timer 800"});
}

TEST_CASE("an event without resourceVersion leads to a new list, a bookmark without does not") {
  Script s;
  s.sync();
  CHECK(s.bookmark("") == Lines{});
  CHECK(s.modified("") == Lines{"stop", "Failure no resourceVersion +800", "timer 800"});
  CHECK(s.after(800).timer() == Lines{"list"});
}

TEST_CASE("unknown event types and objects that do not parse are counted and skipped") {
  Script s;
  s.sync();
  CHECK(s.event(core::WatchEventType::unknown, "99") == Lines{});
  CHECK(s.broken(core::WatchEventType::modified) == Lines{});
  CHECK(s.watcher.skipped_events() == 2);
  CHECK(s.watcher.resource_version() == "10");
  CHECK(s.added("11") == Lines{"Apply"});
}

TEST_CASE("a resourceVersion that goes back means a restored server: a gap and a comparing list") {
  SECTION("seen in a bookmark") {
    Script s;
    s.sync("100");
    CHECK_FALSE(s.watcher.outdated());
    CHECK(s.bookmark("50") == Lines{"Rewound", "stop", "Failure watch stream +0", "list"});
    CHECK(s.watcher.outdated());
    // Told once in a round.
    CHECK(s.page("60") == Lines{"Init rewound", "Page 1", "InitDone 60 gap", "timer 1000"});
    CHECK_FALSE(s.watcher.outdated());
    CHECK(s.after(1000).timer() == Lines{"watch rv=60", "timer 30000"});
  }
  SECTION("seen in an event") {
    Script s;
    s.sync("100");
    CHECK(s.added("99").at(2) == "Failure watch stream +0");
  }
  SECTION("two servers behind one address, that go back and forth, are not asked all the time") {
    Script s;
    s.sync("100");
    CHECK(s.bookmark("50").at(3) == "list");
    s.page("60");
    s.after(1000).timer();
    s.open();
    CHECK(s.bookmark("7") == Lines{"Rewound", "stop", "Failure watch stream +800", "timer 800"});
    CHECK(s.after(800).timer() == Lines{"list"});
    CHECK(s.watcher.outdated());
    s.page("60");
    s.after(1000).timer();
    s.open();
    CHECK(s.after(30000).bookmark("7").at(3) == "list");
  }
  SECTION("seen in a new list, which is then read once more") {
    Script s;
    s.sync("100");
    s.error_event(gone());
    s.after(5000).timer();
    CHECK(s.page("60") == Lines{"Init", "Page 1", "Rewound", "list"});
    CHECK(s.page("61").at(0) == "Init rewound");
    // The next round may see the next restore.
    s.open();
    CHECK(s.bookmark("7").at(0) == "Rewound");
  }
  SECTION("numbers are compared as numbers") {
    Script s;
    s.sync("99");
    CHECK(s.added("100") == Lines{"Apply"});
    CHECK(s.added("0000101") == Lines{"Apply"});
  }
  SECTION("what is no number is not compared") {
    Script s;
    s.sync("b7");
    CHECK(s.added("a1") == Lines{"Apply"});
  }
}

TEST_CASE("a lagging cache does not take anything back: it is read again, consistently") {
  Script s(with(ListStrategy::unpaged, ListSemantics::any));
  s.sync("100");
  s.error_event(gone());
  CHECK(s.after(5000).timer() == Lines{"list resourceVersion=0"});
  CHECK(s.page("90") == Lines{"Init", "Page 1", "list"});
  CHECK(s.page("101").at(2) == "InitDone 101 gap");
}

TEST_CASE("not older than asks for what was seen last, and for the newest when that is refused") {
  Script s(with(ListStrategy::unpaged, ListSemantics::not_older_than));
  s.sync("100");
  s.error_event(gone());
  CHECK(s.after(5000).timer() ==
        Lines{"list resourceVersion=100&resourceVersionMatch=NotOlderThan"});
  CHECK(s.list_error(too_large_version()) == Lines{"Failure initial list +0", "list"});
}

TEST_CASE("a watch at a resourceVersion of the future lists again") {
  Script s;
  s.sync("100");
  CHECK(s.error_event(too_large_version()).at(1) == "Failure server error event +800");
  CHECK(s.after(800).timer() == Lines{"list"});
}

TEST_CASE("a streaming list ends at its bookmark and goes on as a watch") {
  Script s(with(ListStrategy::streaming));
  CHECK(s.start() == Lines{"watch rv= initial", "timer 30000"});
  CHECK(s.open() == Lines{"Init", "timer 60000"});
  CHECK(s.added("7") == Lines{"InitApply"});
  CHECK(s.added("3") == Lines{"InitApply"});  // in no order
  CHECK(s.modified("") == Lines{"InitApply"});
  CHECK(s.deleted("9") == Lines{"Delete"});  // the server catches up before the end
  CHECK(s.bookmark("8") == Lines{});         // not the end: no place to resume from
  CHECK(s.bookmark("12", true) == Lines{"InitDone 12"});
  CHECK(s.watcher.state() == WatcherState::watching);
  CHECK(s.added("13") == Lines{"Apply"});
  // The next watch is an ordinary one.
  CHECK(s.after(290000).end() == Lines{"watch rv=13", "timer 30000"});
}

TEST_CASE("an interrupted streaming list begins with a new Init, so that nothing of it survives") {
  Script s(with(ListStrategy::streaming));
  s.start();
  s.open();
  s.added("7");
  CHECK(s.after(2000).end(kCut) == Lines{"Failure initial list +800", "timer 800"});
  CHECK(s.after(800).timer() == Lines{"watch rv= initial", "timer 30000"});
  CHECK(s.open() == Lines{"Init", "timer 60000"});
  // Twice is enough: this state is listed, the next one is tried as a stream again.
  CHECK(s.after(2000).end(kCut) == Lines{"Failure initial list +1600", "timer 1600"});
  CHECK(s.after(1600).timer() == Lines{"list limit=500"});
  s.page("20");
  s.open();
  s.error_event(gone());
  CHECK(s.after(5000).timer() == Lines{"watch rv= initial", "timer 30000"});
}

TEST_CASE("a server that refuses streaming lists is listed in pages from then on") {
  for (const auto& error :
       {http_error(ErrorKind::invalid, 422), http_error(ErrorKind::invalid, 400),
        http_error(ErrorKind::unsupported, 415)}) {
    Script s(with(ListStrategy::streaming, ListSemantics::recent, "a=b"));
    s.start();
    CHECK(s.end(error) == Lines{"Failure initial list +0", "list labelSelector=a%3Db&limit=500"});
    s.after(1000).page("20");
    s.open();
    s.error_event(gone());
    CHECK(s.after(5000).timer() == Lines{"list labelSelector=a%3Db&limit=500"});
  }
}

TEST_CASE("a streaming list that is refused by an ERROR event is listed as well") {
  Script s(with(ListStrategy::streaming));
  s.start();
  s.open();
  CHECK(s.error_event(http_error(ErrorKind::invalid, 422)) ==
        Lines{"stop", "Failure server error event +0", "list limit=500"});
}

TEST_CASE("an end bookmark that never comes is not waited for for ever") {
  SECTION("silence") {
    Script s(with(ListStrategy::streaming));
    s.start();
    s.open();
    s.after(50000).added("5");
    CHECK(s.after(10000).timer() == Lines{"timer 50000"});
    CHECK(s.after(50000).timer() == Lines{"stop", "Failure initial list +0", "list limit=500"});
  }
  SECTION("the server ends the stream instead") {
    Script s(with(ListStrategy::streaming));
    s.start();
    s.open();
    for (int i = 0; i < 10; ++i) s.after(29000).added("5");
    CHECK(s.end() == Lines{"Failure initial list +0", "list limit=500"});
  }
}

TEST_CASE("bookmarks can be switched off, but not those that end a streaming list") {
  WatcherOptions options = with(ListStrategy::streaming);
  options.bookmarks = false;
  Script s(options);
  CHECK(s.start().at(0) == "watch rv= initial");
  s.open();
  s.bookmark("12", true);
  CHECK(s.after(290000).end().at(0) == "watch rv=12 nobookmarks");
}

TEST_CASE("a known resourceVersion is resumed without a list") {
  Script s;
  CHECK(s.lines(s.watcher.resume(s.now, "77")) == Lines{"list limit=1"});
  CHECK(s.page("80") == Lines{"watch rv=77", "timer 30000"});
  s.open();
  CHECK(s.added("78") == Lines{"Apply"});
  s.error_event(gone());
  s.after(800).timer();
  CHECK(s.page("90").at(2) == "InitDone 90 gap");
  Script none;
  CHECK(none.lines(none.watcher.resume(none.now, "")) == Lines{"list"});
}

TEST_CASE("a list that begins with a known resourceVersion is never older, but by a restore") {
  WatcherOptions options = with(ListStrategy::unpaged);
  SECTION("not older than it") {
    options.semantics = ListSemantics::not_older_than;
    Script s(options);
    CHECK(s.lines(s.watcher.start(s.now, "77")) ==
          Lines{"list resourceVersion=77&resourceVersionMatch=NotOlderThan"});
  }
  SECTION("from any cache of the server") {
    options.semantics = ListSemantics::any;
    Script s(options);
    CHECK(s.lines(s.watcher.start(s.now, "77")) == Lines{"list resourceVersion=0"});
    CHECK(s.page("70", 1) == Lines{"Init", "Page 1", "list"});
    SECTION("a lagging cache") {
      CHECK(s.page("80", 1).at(2) == "InitDone 80 gap");
    }
    SECTION("a restored server: nothing is taken before all others were told") {
      CHECK(s.page("70", 1) == Lines{"Init rewound", "Page 1", "Rewound", "list"});
      CHECK(s.page("70", 1).at(2) == "InitDone 70 gap");
    }
  }
}

TEST_CASE("a rewind that another watch saw: a list anew, and each object is compared") {
  Script s;
  const auto told = [&s] { return s.lines(s.watcher.on_rewound_elsewhere(s.now)); };
  const auto listed_anew = [&s] {
    // Though its version is beyond what was known: nobody else would see it.
    Lines lines = s.page("60");
    lines.resize(3);
    CHECK(lines == Lines{"Init rewound", "Page 1", "InitDone 60 gap"});
  };
  SECTION("while it watches") {
    s.sync("50");
    CHECK(told() == Lines{"stop", "list"});
    listed_anew();
  }
  SECTION("it tells nobody again, though its own version goes back as well") {
    s.sync("50");
    CHECK(told() == Lines{"stop", "list"});
    Lines lines = s.page("40");
    lines.resize(3);
    CHECK(lines == Lines{"Init rewound", "Page 1", "InitDone 40 gap"});
  }
  SECTION("while it lists") {
    s.sync("50");
    s.error_event(gone());
    s.after(5000).timer();
    CHECK(s.page("58", 2, "next") == Lines{"Init", "Page 2", "list continue=next"});
    CHECK(told() == Lines{"stop", "list"});
    listed_anew();
  }
  SECTION("while it waits to take up its watch: the server is there") {
    s.sync("50");
    s.end(kUnavailable);
    CHECK(told() == Lines{"list"});
    CHECK(s.watcher.outdated());
    // Once: a list that fails waits as any does.
    s.list_error(kUnavailable);
    CHECK(told() == Lines{});
    CHECK(s.after(60000).timer() == Lines{"list"});
    listed_anew();
    CHECK_FALSE(s.watcher.outdated());
  }
  SECTION("while it waits because the server asked it to: it goes on waiting") {
    s.sync("50");
    s.end(http_error(ErrorKind::rate_limited, 429, 60));
    CHECK(told() == Lines{});
    CHECK(s.watcher.outdated());
    CHECK(s.after(70000).timer() == Lines{"list"});
    listed_anew();
  }
  SECTION("before it begins with what a file holds") {
    CHECK(told() == Lines{});
    CHECK(s.lines(s.watcher.resume(s.now, "50")) == Lines{"list"});
    listed_anew();
  }
  SECTION("a cache of the server may be of the past: the list is consistent") {
    Script any(with(ListStrategy::unpaged, ListSemantics::any));
    any.sync("50");
    CHECK(any.lines(any.watcher.on_rewound_elsewhere(any.now)) == Lines{"stop", "list"});
  }
}

TEST_CASE("a server that was away, or that a cache from a file is for, is asked for its version") {
  Script s;
  const auto restored = [&s] {
    const Lines told = s.page("5");
    CHECK(told.at(0) == "Rewound");
    CHECK(told.at(1) == "Failure watch start +0");
    CHECK(told.at(2) == "list");
    CHECK(s.page("5").at(0) == "Init rewound");
  };
  SECTION("a file, and the server was restored since") {
    CHECK(s.lines(s.watcher.resume(s.now, "77")) == Lines{"list limit=1"});
    restored();
  }
  SECTION("nobody answered for a while") {
    s.sync();
    s.end(kCut);
    CHECK(s.after(2000).retry() == Lines{"watch rv=10", "timer 30000"});
    s.end(kCut);
    CHECK(s.after(60000).timer() == Lines{"list limit=1"});
    // Nor does that have an answer.
    s.list_error(kCut);
    CHECK(s.after(60000).timer() == Lines{"list limit=1"});
    restored();
  }
  SECTION("it was away, and is where it was") {
    s.sync();
    s.end(kCut);
    s.after(2000).retry();
    s.end(kUnavailable);
    CHECK(s.after(60000).timer() == Lines{"list limit=1"});
    CHECK(s.page("10") == Lines{"watch rv=10", "timer 30000"});
    s.open();
    CHECK(s.added("11") == Lines{"Apply"});
  }
  SECTION("a stream was cut, and the next one is answered at once") {
    s.sync();
    s.end(kCut);
    CHECK(s.after(2000).timer() == Lines{"list limit=1"});
    restored();
  }
  SECTION("a watch told nothing, and ended in order: so it does at a version of the future") {
    s.sync();
    CHECK(s.after(275000).end() == Lines{"list limit=1"});
    restored();
  }
  SECTION("the bookmarks stay away") {
    s.sync();
    s.bookmark("12");
    s.after(150000);
    CHECK(s.timer() == Lines{"stop", "list limit=1"});
    restored();
  }
  SECTION("lists fail where watches may work: it watches in doubt, and looks again soon") {
    const auto slow = http_error(ErrorKind::timeout, 0);
    const auto broken = http_error(ErrorKind::internal, 500);
    for (const Error& error : {slow, broken}) {
      Script one(with(ListStrategy::unpaged));
      CHECK(one.lines(one.watcher.resume(one.now, "77")) == Lines{"list limit=1"});
      one.list_error(error);
      CHECK(one.after(60000).timer() == Lines{"list limit=1"});
      one.list_error(error);
      CHECK(one.after(60000).timer() == Lines{"watch rv=77", "timer 30000"});
      one.open();
      CHECK(one.added("78") == Lines{"Apply"});
      CHECK(one.after(60000).end() == Lines{"list limit=1"});
      // However often: what is known is not thrown away for it.
      for (int i = 0; i < 10; ++i) {
        one.list_error(error);
        CHECK(one.after(60000).timer() == Lines{"watch rv=78", "timer 30000"});
        one.open();
        CHECK(one.after(60000).end() == Lines{"list limit=1"});
      }
      CHECK(one.page("80") == Lines{"watch rv=78", "timer 30000"});
      one.open();
      one.added("81");
      CHECK(one.after(60000).end() == Lines{"watch rv=81", "timer 30000"});
    }
  }
  SECTION("a server that is away is not watched in doubt: it may come back with older data") {
    s.lines(s.watcher.resume(s.now, "77"));
    for (int i = 0; i < 10; ++i) {
      s.list_error(kCut);
      CHECK(s.after(60000).timer() == Lines{"list limit=1"});
    }
    restored();
  }
  SECTION("any object says it, so no selector makes the server search; a name goes along") {
    WatcherOptions options;
    options.label_selector = "app=rare";
    options.field_selector = "metadata.name=a,status.phase=Running";
    Script one(options);
    CHECK(one.lines(one.watcher.resume(one.now, "77")) ==
          Lines{"list fieldSelector=metadata.name%3Da&limit=1"});
  }
  SECTION("who may not list watches all the same") {
    s.lines(s.watcher.resume(s.now, "77"));
    CHECK(s.list_error(http_error(ErrorKind::forbidden, 403)) ==
          Lines{"watch rv=77", "timer 30000"});
  }
}

TEST_CASE("changes and bookmarks do not stand for the end of a streaming list") {
  Script s(with(ListStrategy::streaming));
  s.start();
  s.open();
  s.added("5");
  for (int i = 0; i < 11; ++i) {
    s.after(5000).bookmark("6");
    s.modified("7");
  }
  CHECK(s.after(5000).timer() == Lines{"stop", "Failure initial list +0", "list limit=500"});
}

TEST_CASE("answers to requests that were dropped change nothing") {
  Script s;
  s.sync();
  s.error_event(gone());
  CHECK(s.added("11") == Lines{});
  CHECK(s.end() == Lines{});
  CHECK(s.page("12") == Lines{});
  CHECK(s.open() == Lines{});
  CHECK(s.watcher.resource_version() == "10");
}
