// The automatic choice, row by row. What each costs stands at the head of list_strategy.hpp.
#include "runtime/list_strategy.hpp"

#include "runtime/watcher_script.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using namespace kubewatch::runtime;

TEST_CASE("the automatic strategy takes what costs least, by server, selector and semantics") {
  struct Row {
    const char* what;
    bool narrowed;
    bool from_cache;
    std::optional<core::ServerVersion> server;
    ListForm form;
  };
  using Version = core::ServerVersion;
  const std::vector<Row> rows = {
      {"whole collection", false, false, Version{1, 36}, ListForm::unpaged},
      {"whole collection, server not known", false, false, {}, ListForm::unpaged},
      {"whole collection, old server", false, false, Version{1, 24}, ListForm::unpaged},
      {"selector", true, false, Version{1, 36}, ListForm::unpaged},
      {"selector, server not known", true, false, {}, ListForm::unpaged},
      {"selector, first with consistent reads", true, false, Version{1, 31}, ListForm::unpaged},
      // From etcd, the whole collection: in pages.
      {"selector, old server", true, false, Version{1, 30}, ListForm::paged},
      {"selector, old server, any", true, true, Version{1, 30}, ListForm::unpaged},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    ListSituation situation;
    situation.narrowed = row.narrowed;
    situation.from_cache = row.from_cache;
    situation.server = row.server;
    situation.page_size = 500;
    CHECK(choose_strategy(situation) == row.form);
    if (!needs_server_version(situation)) {
      situation.server = Version{1, 20};
      CHECK(choose_strategy(situation) == row.form);
    }
    situation.page_size = 0;
    CHECK(choose_strategy(situation) == ListForm::unpaged);
  }
}

TEST_CASE("a watcher asks for the server's version only where its choice depends on it") {
  WatcherOptions options;
  base::Random random(1);
  CHECK_FALSE(Watcher(options, random).wants_server_version());
  options.field_selector = "a=b";
  CHECK(Watcher(options, random).wants_server_version());
  options.semantics = ListSemantics::any;
  CHECK_FALSE(Watcher(options, random).wants_server_version());
  options.semantics = ListSemantics::recent;
  options.strategy = ListStrategy::paged;
  CHECK_FALSE(Watcher(options, random).wants_server_version());
  options.strategy = ListStrategy::automatic;
  Watcher watcher(options, random);
  watcher.know_server({1, 30});
  CHECK_FALSE(watcher.wants_server_version());
}

TEST_CASE("a watcher of an old server reads a selection in pages") {
  WatcherOptions options;
  options.label_selector = "a=b";
  options.server = core::ServerVersion{1, 30};
  Script old(options);
  CHECK(old.start() == Lines{"list labelSelector=a%3Db&limit=500"});
  options.server = core::ServerVersion{1, 36};
  Script current(options);
  CHECK(current.start() == Lines{"list labelSelector=a%3Db"});
  // What was asked for wins over what is chosen.
  options.strategy = ListStrategy::streaming;
  options.server = core::ServerVersion{1, 30};
  Script asked(options);
  CHECK(asked.start().at(0) == "watch rv= initial");
}
