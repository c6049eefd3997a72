// The automatic choice, row by row. What each costs stands at the head of list_strategy.hpp.
#include "runtime/list_strategy.hpp"

#include "runtime/watcher_script.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using namespace kubewatch::runtime;

TEST_CASE("the automatic strategy takes what costs least, by server, selector and size") {
  struct Row {
    const char* what;
    bool narrowed;
    bool from_cache;
    std::optional<ServerVersion> server;
    std::uint64_t last_size;
    ListForm form;
  };
  const std::vector<Row> rows = {
      // 7.3 s against 16 s and 22 s.
      {"whole collection", false, false, ServerVersion{1, 36}, 0, ListForm::unpaged},
      {"whole collection, server not known", false, false, {}, 0, ListForm::unpaged},
      {"whole collection, old server", false, false, ServerVersion{1, 24}, 0, ListForm::unpaged},
      {"one namespace", false, false, ServerVersion{1, 36}, 20000, ListForm::unpaged},
      // 1.3 s against 5.3 s.
      {"selector", true, false, ServerVersion{1, 36}, 0, ListForm::streaming},
      {"selector, large before", true, false, ServerVersion{1, 36}, 10000, ListForm::streaming},
      {"selector, server not known: try", true, false, {}, 0, ListForm::streaming},
      {"selector, one page holds it", true, false, ServerVersion{1, 36}, 400, ListForm::paged},
      {"selector, first with streaming", true, false, ServerVersion{1, 32}, 0, ListForm::streaming},
      // The gate is off there: no wasted request.
      {"selector, off again", true, false, ServerVersion{1, 33}, 0, ListForm::unpaged},
      {"selector, consistent from cache", true, false, ServerVersion{1, 31}, 0, ListForm::unpaged},
      {"selector, old server", true, false, ServerVersion{1, 30}, 0, ListForm::paged},
      {"selector, old server, any", true, true, ServerVersion{1, 30}, 0, ListForm::unpaged},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    ListSituation situation;
    situation.narrowed = row.narrowed;
    situation.from_cache = row.from_cache;
    situation.server = row.server;
    situation.last_size = row.last_size;
    situation.page_size = 500;
    CHECK(choose_strategy(situation) == row.form);
  }
}

TEST_CASE("a watcher that knows an old server does not try to stream") {
  WatcherOptions options;
  options.label_selector = "a=b";
  options.server = ServerVersion{1, 30};
  Script old(options);
  CHECK(old.start() == Lines{"list labelSelector=a%3Db&limit=500"});
  options.server = ServerVersion{1, 36};
  Script current(options);
  CHECK(current.start().at(0) == "watch rv= initial");
  // What was asked for wins over what is chosen.
  options.strategy = ListStrategy::streaming;
  options.server = ServerVersion{1, 30};
  Script asked(options);
  CHECK(asked.start().at(0) == "watch rv= initial");
}
