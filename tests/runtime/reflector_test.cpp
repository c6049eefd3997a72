#include "runtime/reflector.hpp"

#include <fmt/format.h>

#include "api_rig.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::watch_line;
using Lines = std::vector<std::string>;

namespace {

core::ResourceType config_maps() {
  core::ResourceType type;
  type.gvk = {"", "v1", "ConfigMap"};
  type.plural = "configmaps";
  type.singular = "configmap";
  type.verbs = {"get", "list", "watch"};
  return type;
}

std::string object(const std::string& name, int version, const std::string& value = "v",
                   const std::string& annotations = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"uid-{}","resourceVersion":"{}",)"
      R"("annotations":{{{}}}}},"data":{{"value":"{}"}}}})",
      name, name, version, annotations, value);
}
std::string list(const std::vector<std::string>& items, int version) {
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : ",") + item;
  return fmt::format(
      R"({{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},)"
      R"("items":[{}]}})",
      version, joined);
}
std::string bookmark(int version, bool end = false) {
  return watch_line("BOOKMARK",
                    object("", version, "", end ? R"("k8s.io/initial-events-end":"true")" : ""));
}
std::string status(int code, const std::string& reason) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"{}","code":{},)"
      R"("message":"no"}})",
      reason, code);
}

struct Bench : test::ApiRig {
  Lines told;
  core::ResourceType type = config_maps();
  WatcherOptions options;
  std::unique_ptr<Reflector> reflector;

  Bench() : ApiRig(loop::VirtualClock{}) {
    options.backoff = {Duration{2}, Duration{10}, 2.0, 0.0};
    options.short_watch = Duration{1};
  }

  void start(std::vector<std::string> strip = {}) {
    make(std::move(strip));
    reflector->start();
  }
  void make(std::vector<std::string> strip = {}) {
    ReflectorCallbacks callbacks;
    callbacks.on_change = [this](const StoreChange& change) {
      static const char* const kTypes[] = {"added", "modified", "deleted"};
      const auto json = *base::parse_json(change.json);
      told.push_back(fmt::format("{} {}={}{}", kTypes[static_cast<int>(change.type)],
                                 change.meta.name, base::string_at(json, {"data", "value"}),
                                 change.relisted ? " relisted" : ""));
    };
    callbacks.on_synced = [this](bool gap) { told.push_back(gap ? "synced gap" : "synced"); };
    callbacks.on_bookmark = [this](const std::string& rv) { told.push_back("bookmark " + rv); };
    callbacks.on_failure = [this](WatcherFailure where, const Error&, Duration) {
      told.push_back("failure " + std::string(to_string(where)));
    };
    StoreOptions store;
    store.strip = std::move(strip);
    reflector = std::make_unique<Reflector>(client, type, "shop", options, store, random,
                                            std::move(callbacks));
  }

  // To an open watch, which is call 1.
  test::ScriptedCall& sync(const std::vector<std::string>& items, int version) {
    answer(0, 200, list(items, version));
    call(1).head(200);
    return transport.call(1);
  }
  std::string keys() const {
    std::string out;
    for (const auto& key : reflector->store().keys()) out += key.name;
    return out;
  }
};

// What a cache is saved to.
auto into(std::string& file) {
  return [&file](std::string_view piece) -> Result<void> {
    file.append(piece);
    return {};
  };
}

}  // namespace

TEST_CASE("what a list shows without its name is not told as a deletion of what else is missing") {
  std::vector<std::string> logged;
  base::capture_log(&logged);
  Bench b;
  b.options.strategy = ListStrategy::unpaged;
  b.start();
  b.answer(0, 200, list({object("a", 1), object("b", 2)}, 5));
  b.answer(1, 410, status(410, "Expired"));
  b.answer(
      2, 200,
      list({object("a", 1), R"({"metadata":{"name":["b"]}})", R"({"metadata":{"name":["c"]}})"},
           9));
  base::capture_log(nullptr);
  CHECK(std::count_if(logged.begin(), logged.end(), [](const std::string& line) {
          return line.find("what is deleted while nobody watches is not noticed") !=
                 std::string::npos;
        }) == 1);
  CHECK(b.told == Lines{"added a=v", "added b=v", "synced", "failure watch start", "synced gap"});
  CHECK(b.reflector->store().size() == 2);
}

TEST_CASE("what a streaming list shows without its name is not told as a deletion either") {
  Bench b;
  b.options.strategy = ListStrategy::streaming;
  b.start();
  const auto stream = [&](std::size_t index, const std::vector<std::string>& items, int version) {
    auto& watch = b.call(index);
    watch.head(200);
    for (const auto& item : items) {
      watch.data(watch_line("ADDED", item));
    }
    watch.data(fmt::format(
        R"({{"type":"BOOKMARK","object":{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{)"
        R"("resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
        "\n",
        version));
    return &watch;
  };
  auto* first = stream(0, {object("a", 1), object("b", 2)}, 5);
  first->data(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
              "\n");
  stream(1, {object("a", 1), R"({"metadata":{"name":["b"]}})"}, 9);
  REQUIRE(b.loop.run_until([&] { return b.told.back() == "synced gap"; }, kLimit));
  CHECK(b.told ==
        Lines{"added a=v", "added b=v", "synced", "failure server error event", "synced gap"});
  CHECK(b.reflector->store().size() == 2);
}

TEST_CASE("a server whose pages repeat the same objects for ever does not list for ever") {
  Bench b;
  b.options.strategy = ListStrategy::paged;
  b.start();
  const auto page = [](int token) {
    return fmt::format(R"({{"kind":"ConfigMapList","metadata":{{"resourceVersion":"5",)"
                       R"("continue":"t{}"}},"items":[{}]}})",
                       token, object("a", 1));
  };
  for (int i = 0; i < 4; ++i) b.answer(static_cast<std::size_t>(i), 200, page(i));
  CHECK(b.told == Lines{"failure initial list"});
  CHECK(b.call(4).target().find("continue") == std::string::npos);
  // One page twice is not for ever.
  b.answer(4, 200, page(1));
  b.answer(5, 200, page(2));
  b.answer(6, 200, list({object("b", 2)}, 5));
  CHECK(b.told == Lines{"failure initial list", "added a=v", "added b=v", "synced"});
}

TEST_CASE("a reflector lists, watches and keeps its store true") {
  Bench b;
  b.start();
  CHECK_FALSE(b.reflector->store().ready());
  auto& watch = b.sync({object("a", 3), object("b", 5)}, 7);
  CHECK(b.transport.call(0).line() == "GET /api/v1/namespaces/shop/configmaps");
  CHECK(watch.target().find("resourceVersion=7") != std::string::npos);
  CHECK(watch.target().find("allowWatchBookmarks=true") != std::string::npos);
  CHECK(b.reflector->store().get({"shop", "a"})->meta.kind == "ConfigMap");
  watch.data(watch_line("MODIFIED", object("a", 8, "w")));
  watch.data(watch_line("DELETED", object("b", 9)));
  watch.data(watch_line("ADDED", object("c", 10)));
  watch.data(bookmark(20));
  CHECK(b.told == Lines{"added a=v", "added b=v", "synced", "modified a=w", "deleted b=v",
                        "added c=v", "bookmark 20"});
  CHECK(b.reflector->store().resource_version() == "20");
  CHECK_FALSE(b.reflector->last_failure());
  CHECK(b.reflector->stats().events == 4);
  watch.end();
  CHECK(b.call(2).target().find("resourceVersion=20") != std::string::npos);
  CHECK(b.reflector->stats().reconnects == 1);
}

TEST_CASE("the result does not depend on how the bytes come, nor on list or streaming list") {
  const std::string live = watch_line("MODIFIED", object("a", 8, "\\u00fc \\\"}{")) +
                           watch_line("DELETED", object("b", 9)) + bookmark(20) +
                           watch_line("ADDED", object("c", 21));
  std::optional<std::string> wanted;
  for (const bool streaming : {false, true}) {
    for (const std::size_t chunk : {1, 2, 3, 7, 64, 100000}) {
      CAPTURE(streaming, chunk);
      Bench b;
      if (streaming) b.options.strategy = ListStrategy::streaming;
      b.start();
      if (streaming) {
        auto& watch = b.call(0);
        watch.head(200);
        watch.data(watch_line("ADDED", object("a", 3)) + watch_line("ADDED", object("b", 5)) +
                       bookmark(7, true) + live,
                   chunk);
      } else {
        auto& first = b.call(0);
        first.head(200);
        first.data(list({object("a", 3), object("b", 5)}, 7), chunk);
        first.end();
        b.call(1).head(200);
        b.transport.call(1).data(live, chunk);
      }
      std::string all;
      for (const auto& line : b.told) all += line + "\n";
      for (const auto& key : b.reflector->store().keys()) {
        all += b.reflector->store().get(key)->json + "\n";
      }
      all += b.reflector->store().resource_version();
      if (!wanted) wanted = all;
      CHECK(all == *wanted);
    }
  }
}

TEST_CASE("what was deleted during a gap is told as deleted, with the gap") {
  Bench b;
  b.start();
  auto& watch = b.sync({object("a", 3), object("b", 5, "last")}, 7);
  watch.data(watch_line("ERROR", status(410, "Expired")));
  CHECK(watch.canceled());
  CHECK(b.reflector->last_failure()->find("server error event") == 0);
  b.answer(2, 200, list({object("a", 3), object("c", 30)}, 40));
  CHECK(b.told == Lines{"added a=v", "added b=last", "synced", "failure server error event",
                        "deleted b=last relisted", "added c=v relisted", "synced gap"});
  b.call(3).head(200);
  CHECK_FALSE(b.reflector->last_failure());
  CHECK(b.reflector->stats().failures[static_cast<std::size_t>(WatcherFailure::server_error)] == 1);
}

TEST_CASE("a watch refused with HTTP 410 lists again instead of asking for ever") {
  Bench b;
  b.start();
  b.answer(0, 200, list({}, 7));
  b.answer(1, 410, status(410, "Expired"));
  CHECK(b.call(2).line() == "GET /api/v1/namespaces/shop/configmaps");
}

TEST_CASE("the server's version is asked once, and only where the choice of list needs it") {
  Bench b;
  b.options.label_selector = "a=b";
  b.start();
  CHECK(b.call(0).line() == "GET /version");
  b.answer(0, 200, R"({"major":"1","minor":"30"})");
  CHECK(b.call(1).line() == "GET /api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=500");
  b.answer(1, 200, list({object("a", 3)}, 7));
  CHECK(b.keys() == "a");
  b.call(2).head(200);
  b.start();  // another one of the same client
  CHECK(b.call(3).line() == "GET /api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=500");
}

TEST_CASE("a server that does not tell its version is taken for a new one") {
  Bench b;
  b.options.label_selector = "a=b";
  b.start();
  b.answer(0, 403, status(403, "Forbidden"));
  CHECK(b.call(1).line() == "GET /api/v1/namespaces/shop/configmaps?labelSelector=a%3Db");
  CHECK(b.told.empty());
}

TEST_CASE("a forbidden list is told, kept as last failure and tried again") {
  Bench b;
  b.start();
  b.answer(0, 403, status(403, "Forbidden"));
  CHECK(b.told == Lines{"failure initial list"});
  CHECK(b.reflector->last_failure()->find("initial list: ") == 0);
  b.answer(1, 429, "Too many requests, please try again later.");
  b.answer(2, 200, list({object("a", 3)}, 7));
  CHECK(b.keys() == "a");
}

TEST_CASE("each class of failure is logged once with kind and retry time, and counted each time") {
  std::vector<std::string> logged;
  base::capture_log(&logged);
  Bench b;
  b.start();
  for (std::size_t i = 0; i < 3; ++i) b.answer(i, 403, status(403, "Forbidden"));
  b.answer(3, 200, list({}, 7));
  b.answer(4, 500, status(500, "InternalError"));
  b.answer(5, 500, status(500, "InternalError"));
  b.call(6).head(200);
  b.transport.call(6).data(watch_line("ERROR", status(429, "TooManyRequests")));
  b.call(7).head(200);
  b.transport.call(7).data(watch_line("ADDED", object("a", 8)));  // well again: a new series
  b.transport.call(7).data(watch_line("ERROR", status(429, "TooManyRequests")));
  b.call(8).head(200);
  base::capture_log(nullptr);
  const auto failures = b.reflector->stats().failures;
  CHECK(failures[static_cast<std::size_t>(WatcherFailure::initial_list)] == 3);
  CHECK(failures[static_cast<std::size_t>(WatcherFailure::watch_start)] == 2);
  CHECK(failures[static_cast<std::size_t>(WatcherFailure::server_error)] == 2);
  REQUIRE(logged.size() == 4);
  for (std::size_t i = 0; i < logged.size(); ++i) {
    CAPTURE(logged[i]);
    CHECK(logged[i].find("a watch failed, trying again") != std::string::npos);
    CHECK(logged[i].find("ConfigMap") != std::string::npos);
    CHECK(logged[i].find("ms") != std::string::npos);
  }
  CHECK(logged[0].find("initial list") != std::string::npos);
  CHECK(logged[1].find("watch start") != std::string::npos);
  CHECK(logged[2].find("server error event") != std::string::npos);
  CHECK(logged[3].find("server error event") != std::string::npos);
}

TEST_CASE("broken and unknown events do not end the stream") {
  std::vector<std::string> logged;
  base::capture_log(&logged);
  Bench b;
  b.start();
  auto& watch = b.sync({object("a", 3)}, 7);
  watch.data(watch_line("MODIFIED", R"({"metadata":{"name":7}})"));
  watch.data(watch_line("SURPRISE", object("a", 8)));
  watch.data(watch_line("ADDED", object("b", 9)));
  base::capture_log(nullptr);
  CHECK(b.keys() == "ab");
  CHECK(b.reflector->stats().skipped_events == 2);
  CHECK(b.reflector->store().stats().unparsable == 1);
  CHECK(logged.size() == 1);
  CHECK(watch.open());
}

TEST_CASE("the object that a look at the server's version lists counts for nothing") {
  std::vector<std::string> logged;
  base::capture_log(&logged);
  Bench b;
  b.options.label_selector = "app=a";
  b.options.strategy = ListStrategy::unpaged;
  b.start();
  b.sync({object("a", 3)}, 7).fail(Error(ErrorKind::unreachable, "cut"));
  auto& look = b.call(2);
  CHECK(look.target().find("limit=1") != std::string::npos);
  CHECK(look.target().find("labelSelector") == std::string::npos);
  logged.clear();
  std::string deep = object("deep", 5);
  deep.back() = ',';
  deep += R"("spec":)" + std::string(250, '[') + std::string(250, ']') + "}";
  b.answer(2, 200, list({deep}, 7));
  CHECK(b.call(3).target().find("watch=") != std::string::npos);
  base::capture_log(nullptr);
  CHECK(b.reflector->store().unparsable().count == 0);
  CHECK(b.keys() == "a");
  CHECK(logged.empty());
}

TEST_CASE("an event of 1.5 MB is kept whole, one of 20 MB as metadata, and the stream goes on") {
  std::vector<std::string> logged;
  base::capture_log(&logged);
  for (const std::size_t bytes : {1500000U, 20000000U}) {
    CAPTURE(bytes);
    Bench b;
    b.start();
    auto& watch = b.sync({object("a", 3)}, 7);
    const std::string big = watch_line("MODIFIED", object("a", 8, std::string(bytes, 'x')));
    watch.data(big + watch_line("ADDED", object("b", 9)), 1U << 16U);
    const bool whole = bytes < 16000000;
    const auto kept = b.reflector->store().get({"shop", "a"});
    CHECK((kept->json.size() > bytes) == whole);
    CHECK(kept->meta.resource_version == "8");
    CHECK(b.reflector->store().unparsable().count == (whole ? 0 : 1));
    CHECK(b.keys() == "ab");
    CHECK(watch.open());
  }
  base::capture_log(nullptr);
  CHECK(logged.size() == 1);
}

TEST_CASE("a streaming list that the server refuses becomes a list") {
  Bench b;
  b.options.strategy = ListStrategy::streaming;
  b.start();
  CHECK(b.call(0).target().find("sendInitialEvents=true") != std::string::npos);
  b.answer(0, 422, status(422, "Invalid"));
  CHECK(b.call(1).line() == "GET /api/v1/namespaces/shop/configmaps?limit=500");
  b.answer(1, 200, list({object("a", 3)}, 7));
  CHECK(b.keys() == "a");
}

TEST_CASE("an interrupted streaming list leaves no phantom") {
  Bench b;
  b.options.strategy = ListStrategy::streaming;
  b.start();
  auto& first = b.call(0);
  first.head(200);
  first.data(watch_line("ADDED", object("phantom", 3)));
  first.fail(Error(ErrorKind::unreachable, "reset"));
  auto& second = b.call(1);
  second.head(200);
  second.data(watch_line("ADDED", object("a", 3)) + bookmark(9, true));
  CHECK(b.keys() == "a");
}

TEST_CASE("stripped members do not reach the store, and records are compressed in the background") {
  Bench b;
  b.start({"/data/value"});
  b.sync({object("a", 3, std::string(5000, 'x'))}, 7);
  CHECK(b.reflector->store().get({"shop", "a"})->json.find("xxx") == std::string::npos);
  Bench big;
  big.start();
  big.sync({object("a", 3, std::string(50000, 'x'))}, 7);
  CHECK(big.loop.run_until([&] { return big.reflector->store().stats().held_bytes < 10000; },
                           kLimit));
}

TEST_CASE("a list that breaks off leaves no phantom") {
  Bench b;
  b.start();
  auto& first = b.call(0);
  first.head(200);
  first.data(R"({"kind":"ConfigMapList","items":[)" + object("phantom", 3) + ",");
  first.fail(Error(ErrorKind::unreachable, "reset"));
  CHECK_FALSE(b.reflector->store().ready());
  CHECK(b.keys().empty());
  b.answer(1, 200, list({object("a", 3)}, 7));
  CHECK(b.keys() == "a");
  CHECK(b.told == Lines{"failure initial list", "added a=v", "synced"});
}

TEST_CASE("metadata alone is asked for and kept under the object's own type") {
  Bench b;
  b.options.content = core::Content::metadata;
  b.start();
  CHECK(b.call(0).request().headers.get("accept").find("as=PartialObjectMetadataList") !=
        std::string::npos);
  b.answer(0, 200,
           R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
           R"({"resourceVersion":"7"},"items":[{"kind":"PartialObjectMetadata","apiVersion":)"
           R"("meta.k8s.io/v1","metadata":{"name":"a","namespace":"shop","uid":"u"}}]})");
  CHECK(
      b.reflector->store().get({"shop", "a"})->json ==
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","uid":"u"}})");
}

TEST_CASE("a subscriber made when the cache is ready is told all that is there") {
  Bench b;
  b.start();
  Lines told;
  std::unique_ptr<Subscription> subscription;
  b.reflector->when_ready([&] {
    SubscriberCallbacks callbacks;
    callbacks.on_change = [&](const StoreChange& change) { told.push_back(change.meta.name); };
    callbacks.on_synced = [&](bool) { told.emplace_back("synced"); };
    subscription = b.reflector->subscribe(std::move(callbacks));
  });
  b.sync({object("a", 3), object("b", 5)}, 7);
  b.loop.run_until([&] { return !told.empty() && told.back() == "synced"; }, kLimit);
  CHECK(told == Lines{"a", "b", "synced"});
}

TEST_CASE("who waits for the cache is called after all have been told that it is synced") {
  Bench b;
  b.start();
  std::size_t ready = 0;
  b.reflector->when_ready([&] {
    CHECK(b.told == Lines{"added a=v", "synced"});
    b.reflector->when_ready([&] { ++ready; });  // at once
    ++ready;
  });
  CHECK(ready == 0);
  b.sync({object("a", 3)}, 7);
  CHECK(ready == 2);
}

TEST_CASE("subscribers are told at their own pace, late ones what is there first") {
  Bench b;
  b.start();
  struct Listener {
    Lines told;
    std::unique_ptr<Subscription> subscription;
    SubscriberCallbacks callbacks() {
      SubscriberCallbacks out;
      out.on_change = [this](const StoreChange& change) {
        static const char* const kTypes[] = {"added", "modified", "deleted"};
        told.push_back(fmt::format("{} {} {}", kTypes[static_cast<int>(change.type)],
                                   change.meta.name, change.meta.resource_version));
        if (change.meta.name == "last") subscription.reset();
      };
      out.on_synced = [this](bool gap) { told.push_back(gap ? "synced gap" : "synced"); };
      return out;
    }
  };
  const auto idle = [&b](const Listener& listener) {
    return b.loop.run_until(
        [&] { return listener.subscription == nullptr || listener.subscription->pending() == 0; },
        kLimit);
  };
  Listener early, slow, late;
  early.subscription = b.reflector->subscribe(early.callbacks());
  slow.subscription = b.reflector->subscribe(slow.callbacks());
  auto& watch = b.sync({object("a", 3), object("b", 5)}, 7);
  CHECK(idle(slow));
  b.loop.run_until([&] { return slow.told.size() == 3; }, kLimit);
  slow.subscription->pause();
  watch.data(watch_line("MODIFIED", object("a", 8)));
  CHECK(idle(early));
  watch.data(watch_line("MODIFIED", object("a", 9)));
  watch.data(watch_line("DELETED", object("b", 10)));
  CHECK(idle(early));
  late.subscription = b.reflector->subscribe(late.callbacks());
  b.loop.run_until([&] { return late.told.size() == 2; }, kLimit);
  CHECK(early.told ==
        Lines{"added a 3", "added b 5", "synced", "modified a 8", "modified a 9", "deleted b 10"});
  CHECK(late.told == Lines{"added a 9", "synced"});
  CHECK(slow.told == Lines{"added a 3", "added b 5", "synced"});
  CHECK(slow.subscription->pending() == 2);
  slow.subscription->resume();
  CHECK(idle(slow));
  CHECK(slow.told == Lines{"added a 3", "added b 5", "synced", "modified a 9", "deleted b 10"});
  // Ending one from inside its callback, and all of them by the reflector's end.
  slow.subscription->pause();
  watch.data(watch_line("ADDED", object("last", 11)));
  CHECK(idle(early));
  CHECK(early.subscription == nullptr);
  b.reflector.reset();
  slow.subscription->resume();
  CHECK(b.told.back() == "added last=v");
}

TEST_CASE("another version of the kind is listed and compared with what is held") {
  Bench b;
  b.start();
  b.sync({object("a", 3), object("b", 5)}, 7);
  core::ResourceType newer = config_maps();
  newer.gvk.version = "v2";
  b.told.clear();
  const std::size_t before = b.transport.size();
  b.reflector->go_on_as(newer);
  CHECK(b.reflector->type().gvk.version == "v2");
  CHECK(b.call(before).target() == "/api/v2/namespaces/shop/configmaps");
  b.answer(before, 200, list({object("a", 3), object("c", 8)}, 9));
  // a is the same object, but of another version.
  CHECK(b.told ==
        Lines{"deleted b=v relisted", "modified a=v relisted", "added c=v relisted", "synced gap"});
  CHECK(b.call(before + 1).target().find("/api/v2/") == 0);
  CHECK(b.call(before + 1).target().find("resourceVersion=9") != std::string::npos);
}

TEST_CASE("a cache that was saved of another version of the kind is compared with a list") {
  std::string file;
  const auto write = into(file);
  {
    Bench b;
    b.start();
    b.sync({object("a", 3), object("b", 5)}, 7);
    REQUIRE(b.reflector->save(write).ok());
  }
  Bench b;
  b.type.gvk.version = "v2";
  b.make();
  REQUIRE(b.reflector->load(file).ok());
  b.reflector->start();
  CHECK(b.told == Lines{"added a=v", "added b=v", "synced"});
  b.told.clear();
  b.answer(0, 200, list({object("a", 3)}, 9));
  CHECK(b.told == Lines{"deleted b=v relisted", "modified a=v relisted", "synced gap"});
  // What is saved before the list of another version is there is still of the version before.
  file.clear();
  {
    Bench turning;
    turning.start();
    turning.sync({object("a", 3), object("b", 5)}, 7);
    core::ResourceType newer = config_maps();
    newer.gvk.version = "v2";
    turning.reflector->go_on_as(newer);
    REQUIRE(turning.reflector->save(write).ok());
  }
  Bench later;
  later.type.gvk.version = "v2";
  later.make();
  REQUIRE(later.reflector->load(file).ok());
  later.reflector->start();
  later.told.clear();
  later.answer(0, 200, list({object("a", 3)}, 9));
  CHECK(later.told == Lines{"deleted b=v relisted", "modified a=v relisted", "synced gap"});
  // Of another kind it is refused, as before.
  Bench other;
  other.type.gvk.kind = "Secret";
  other.make();
  CHECK_FALSE(other.reflector->load(file).ok());
}

TEST_CASE("a saved cache starts warm where it stood, and a 410 tells the differences") {
  std::string file;
  const auto write = into(file);
  {
    Bench b;
    b.start();
    CHECK_FALSE(b.reflector->save(write).ok());
    auto& watch = b.sync({object("a", 3), object("b", 5)}, 7);
    watch.data(bookmark(20));
    REQUIRE(b.reflector->save(write).ok());
  }
  Bench b;
  b.make();
  REQUIRE(b.reflector->load(file).ok());
  b.reflector->start();
  CHECK(b.told == Lines{"added a=v", "added b=v", "synced"});
  // Where the server is, it is asked first: it may be another one by now.
  CHECK(b.call(0).target().ends_with("?limit=1"));
  b.answer(0, 200, list({object("a", 3)}, 40));
  CHECK(b.call(1).target().find("watch=true") != std::string::npos);
  CHECK(b.call(1).target().find("resourceVersion=20") != std::string::npos);
  b.answer(1, 410, status(410, "Expired"));
  b.answer(2, 200, list({object("a", 3), object("c", 30)}, 40));
  b.told.erase(b.told.begin(), b.told.begin() + 3);
  CHECK(b.told ==
        Lines{"failure watch start", "deleted b=v relisted", "added c=v relisted", "synced gap"});
  // Another selector sees other objects.
  Bench other;
  other.options.label_selector = "app=web";
  other.make();
  CHECK_FALSE(other.reflector->load(file).ok());
}

TEST_CASE("what a file holds is answered by the server once that lets it be watched") {
  std::string file;
  Bench first;
  first.start();
  CHECK_FALSE(first.reflector->answered());
  first.answer(0, 200, list({object("a", 3)}, 7));
  CHECK(first.reflector->answered());
  REQUIRE(first.reflector->save(into(file)).ok());
  Bench quiet;
  quiet.make();
  REQUIRE(quiet.reflector->load(file).ok());
  quiet.reflector->start();
  CHECK(quiet.told == Lines{"added a=v", "synced"});
  CHECK_FALSE(quiet.reflector->answered());
  quiet.answer(0, 200, list({object("a", 3)}, 7));  // where the server is
  auto& watch = quiet.call(1);
  CHECK_FALSE(quiet.reflector->answered());
  watch.head(200);
  CHECK(quiet.reflector->answered());
  watch.end();
  (void)quiet.call(2);
  CHECK(quiet.reflector->answered());
}

TEST_CASE("a cache that was saved while it was of an undone past is compared with a list") {
  std::string file;
  const auto write = into(file);
  {
    Bench b;
    b.start();
    auto& watch = b.sync({object("a", 3), object("b", 5), object("c", 6)}, 7);
    watch.data(bookmark(2));  // restored from a backup, and busy since
    b.answer(2, 503, status(503, "ServiceUnavailable"));
    CHECK(b.reflector->outdated());
    REQUIRE(b.reflector->save(write).ok());
  }
  Bench b;
  b.make();
  REQUIRE(b.reflector->load(file).ok());
  CHECK(b.reflector->outdated());
  SECTION("by a start where it stood") {
    b.reflector->start();
  }
  SECTION("by a start with a list, which would not compare what has the same version") {
    b.reflector->start_with_list();
  }
  CHECK(b.told == Lines{"added a=v", "added b=v", "added c=v", "synced"});
  CHECK(b.reflector->outdated());
  // Not a look at the version, nor a watch from one that another history has reached by now.
  CHECK(b.call(0).target() == "/api/v1/namespaces/shop/configmaps");
  // What is saved before the answer is as it was.
  const std::string before = std::exchange(file, "");
  REQUIRE(b.reflector->save(write).ok());
  CHECK(file == before);
  b.told.clear();
  b.answer(0, 200, list({object("a", 3), object("b", 5, "other")}, 30));
  // The version of b is the same by chance.
  CHECK(b.told == Lines{"deleted c=v relisted", "modified b=other relisted", "synced gap"});
  CHECK_FALSE(b.reflector->outdated());
  CHECK(b.call(1).target().find("resourceVersion=30") != std::string::npos);
  file.clear();
  REQUIRE(b.reflector->save(write).ok());
  Bench later;
  later.make();
  REQUIRE(later.reflector->load(file).ok());
  CHECK_FALSE(later.reflector->outdated());
}

TEST_CASE("a watch that is answered and cut again and again has failed since the first time") {
  Bench b;
  b.start();
  b.sync({}, 7).fail(Error(ErrorKind::unreachable, "cut"));
  const auto since = b.reflector->failing_since();
  REQUIRE(since);
  for (std::size_t i = 2; i < 8; i += 2) {
    b.answer(i, 200, list({}, 7));  // the version is asked for
    auto& watch = b.call(i + 1);
    watch.head(200);
    CHECK(b.reflector->failing_since() == since);
    CHECK(b.reflector->last_failure());
    watch.fail(Error(ErrorKind::unreachable, "cut"));
    CHECK(b.reflector->failing_since() == since);
  }
  b.answer(8, 200, list({}, 7));
  auto& watch = b.call(9);
  watch.head(200);
  watch.data(watch_line("ADDED", object("a", 8)));
  CHECK_FALSE(b.reflector->failing_since());
}

TEST_CASE("a watch that worked and ended cleanly leaves no failure behind for the next one") {
  Bench b;
  b.options.backoff_reset = Duration{60000};
  b.start();
  b.sync({}, 7).data(watch_line("ERROR", status(500, "InternalError")));
  REQUIRE(b.reflector->failing_since());
  auto& watch = b.call(2);
  watch.head(200);
  const auto answered = b.loop.now();
  b.loop.run_until([&] { return b.loop.now() >= answered + Duration{4000}; }, Duration{5000});
  CHECK_FALSE(b.reflector->failing_since());
  watch.end();
  CHECK_FALSE(b.reflector->failing_since());
  b.call(3).head(200);
  CHECK_FALSE(b.reflector->last_failure());
}

TEST_CASE("destroying a reflector ends its request") {
  Bench b;
  b.start();
  auto& watch = b.sync({}, 7);
  b.reflector.reset();
  CHECK(watch.canceled());
}
