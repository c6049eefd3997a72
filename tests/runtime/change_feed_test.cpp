// A slow subscriber against a plain model, with random schedules.
#include "runtime/change_feed.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using Lines = std::vector<std::string>;

namespace {

std::string object(const std::string& name, const std::string& uid, int version) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"{}","resourceVersion":"{}"}}}})",
      name, uid, version);
}

// A store whose changes go to one feed.
struct Shop {
  Store store;
  ChangeFeed feed;
  int version = 10;

  ChangeSink sink() {
    return [this](StoreChange&& change) { feed.note(change); };
  }
  void put(const std::string& name, const std::string& uid) {
    REQUIRE(store.apply(object(name, uid, ++version), sink()).ok());
  }
  void remove(const std::string& name, const std::string& uid) {
    REQUIRE(store.remove(object(name, uid, ++version), sink()).ok());
  }
  void sync(const std::vector<std::pair<std::string, std::string>>& objects) {
    const bool gap = store.ready();
    store.begin_init();
    for (const auto& [name, uid] : objects) {
      REQUIRE(store.init_apply(object(name, uid, ++version)).ok());
    }
    store.finish_init(std::to_string(++version), sink());
    feed.note_synced(gap);
  }
  std::optional<FeedItem> next() {
    return feed.next([this](const core::ObjectKey& key) { return store.get(key); });
  }
  Lines drain() {
    Lines out;
    while (const auto item = next()) out.push_back(show(*item));
    return out;
  }
  static std::string show(const FeedItem& item) {
    if (const auto* synced = std::get_if<FeedSynced>(&item)) {
      return synced->gap ? "synced gap" : "synced";
    }
    static const char* const kTypes[] = {"added", "modified", "deleted"};
    const auto& change = std::get<StoreChange>(item);
    return fmt::format("{} {} {}{}", kTypes[static_cast<int>(change.type)], change.meta.name,
                       change.meta.uid, change.initial ? " initial" : "");
  }
};

}  // namespace

TEST_CASE("a subscriber that keeps up is told each change") {
  Shop shop;
  shop.sync({{"a", "1"}});
  CHECK(shop.drain() == Lines{"added a 1 initial", "synced"});
  shop.put("b", "2");
  CHECK(shop.drain() == Lines{"added b 2"});
  shop.put("b", "2");
  CHECK(shop.drain() == Lines{"modified b 2"});
  shop.remove("b", "2");
  CHECK(shop.drain() == Lines{"deleted b 2"});
  shop.sync({{"a", "1"}, {"c", "3"}});
  CHECK(shop.drain() == Lines{"modified a 1", "added c 3", "synced gap"});
  CHECK(shop.drain().empty());
}

TEST_CASE("a slow subscriber is told the newest state of each object once") {
  Shop shop;
  shop.sync({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  shop.drain();
  for (int i = 0; i < 100; ++i) shop.put("a", "1");
  const int newest = shop.version;
  shop.remove("b", "2");
  shop.put("b", "9");
  shop.put("new", "5");
  shop.remove("new", "5");
  shop.remove("c", "3");
  shop.put("c", "4");
  shop.remove("c", "4");
  CHECK(shop.feed.pending() == 3);
  const auto first = std::get<StoreChange>(*shop.next());
  CHECK(first.meta.resource_version == std::to_string(newest));
  CHECK(shop.drain() == Lines{"deleted b 2", "added b 9", "deleted c 3"});
}

TEST_CASE("a deletion that is told late carries the last known state") {
  Shop shop;
  shop.sync({{"a", "1"}});
  shop.drain();
  shop.put("a", "1");
  shop.remove("a", "1");
  const std::string last = object("a", "1", shop.version);
  shop.put("a", "2");
  shop.remove("a", "2");
  CHECK(std::get<StoreChange>(*shop.next()).json == last);
}

TEST_CASE("a deletion says whether its last known state is all of the object") {
  Shop shop;
  shop.sync({{"a", "1"}});
  std::string deep = object("deep", "2", ++shop.version);
  deep.back() = ',';
  deep += R"("spec":)" + std::string(250, '[') + std::string(250, ']') + "}";
  REQUIRE(shop.store.apply(deep, shop.sink()).ok());
  shop.drain();
  shop.remove("a", "1");
  REQUIRE(shop.store.remove(deep, shop.sink()).ok());
  CHECK_FALSE(std::get<StoreChange>(*shop.next()).reduced);
  const auto told = std::get<StoreChange>(*shop.next());
  CHECK(told.meta.name == "deep");
  CHECK(told.reduced);
}

TEST_CASE("a late subscriber gets what is there, then lives on") {
  Shop shop;
  shop.sync({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  shop.feed = ChangeFeed();
  shop.feed.begin(shop.store.keys());
  CHECK(Shop::show(*shop.next()) == "added a 1 initial");
  // Before it has heard of them.
  shop.remove("b", "2");
  shop.put("d", "4");
  shop.put("a", "1");
  CHECK(shop.drain() == Lines{"added c 3 initial", "synced", "added d 4", "modified a 1"});
}

TEST_CASE("relists while nobody listens leave one mark, and the first is no gap") {
  Shop shop;
  shop.sync({{"a", "1"}});
  shop.sync({{"a", "1"}});
  shop.sync({{"a", "1"}, {"b", "2"}});
  CHECK(shop.drain() == Lines{"added a 1 initial", "added b 2", "synced"});
  shop.sync({});
  shop.sync({});
  CHECK(shop.drain() == Lines{"deleted a 1", "deleted b 2", "synced gap"});
}

TEST_CASE("whatever the schedule, a subscriber ends with the store's state and saw no nonsense") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    base::Random random(seed);
    Shop shop;
    std::map<std::string, std::string> known;  // name -> uid, as told
    std::map<std::string, std::string> versions;
    int uids = 0;
    bool synced = false;
    const auto tell = [&](const FeedItem& item) {
      if (std::holds_alternative<FeedSynced>(item)) {
        synced = true;
        return;
      }
      const auto& change = std::get<StoreChange>(item);
      const std::string& name = change.meta.name;
      if (change.type == ChangeType::added) {
        REQUIRE(known.count(name) == 0);
      } else {
        REQUIRE(known.count(name) == 1);
        REQUIRE(known[name] == change.meta.uid);
      }
      if (change.type == ChangeType::deleted) {
        known.erase(name);
      } else {
        known[name] = change.meta.uid;
        versions[name] = change.meta.resource_version;
      }
    };
    for (int step = 0; step < 200; ++step) {
      const std::string name(1, static_cast<char>('a' + random.below(6)));
      const auto now = shop.store.get({"shop", name});
      switch (random.below(6)) {
        case 0:
          if (now) shop.remove(name, now->meta.uid);
          break;
        case 1: {
          std::vector<std::pair<std::string, std::string>> all;
          for (const char* one : {"a", "b", "c", "d"}) {
            const auto there = shop.store.get({"shop", one});
            const bool same = there && random.below(2) == 0;
            if (random.below(3) != 0) {
              all.emplace_back(one, same ? there->meta.uid : fmt::format("u{}", ++uids));
            }
          }
          if (random.below(4) == 0) shop.sync(all);
          break;
        }
        case 2: shop.put(name, fmt::format("u{}", ++uids)); break;  // perhaps another object
        case 3: shop.put(name, now ? now->meta.uid : fmt::format("u{}", ++uids)); break;
        default:
          if (const auto item = shop.next()) tell(*item);
      }
      REQUIRE(shop.feed.pending() <= 12);
    }
    shop.sync({{"a", fmt::format("u{}", ++uids)}});
    synced = false;
    while (const auto item = shop.next()) tell(*item);
    REQUIRE(synced);
    REQUIRE(known.size() == 1);
    REQUIRE(shop.store.get({"shop", "a"})->meta.uid == known["a"]);
    REQUIRE(shop.store.get({"shop", "a"})->meta.resource_version == versions["a"]);
  }
}
