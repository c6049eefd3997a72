// Saving a store and starting from what was saved, whole or damaged.
#include <fmt/format.h>

#include "base/random.hpp"
#include "runtime/store.hpp"
#include "runtime/store_ingest.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

std::string object(int i) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"o{}","namespace":"shop","uid":"{:08x}-0000-4000-8000-0123456789ab",)"
      R"("resourceVersion":"{}","labels":{{"app":"a{}"}},"managedFields":[{{"manager":"m{}","operation":"Apply"}}]}},"data":{{"key":"value of {}"}}}})",
      i, i * 77, 100 + i, i % 5, i % 3, i);
}

Store filled(int count, StoreOptions options = {}) {
  Store store(std::move(options));
  store.begin_init();
  for (int i = 0; i < count; ++i) REQUIRE(store.init_apply(object(i)).ok());
  store.finish_init("900");
  while (store.compact_some(1000) > 0) {
  }
  return store;
}

std::string saved(const Store& store, const std::string& about = "configmaps") {
  std::string out;
  REQUIRE(store
              .save(about,
                    [&](std::string_view piece) -> Result<void> {
                      out.append(piece);
                      return {};
                    })
              .ok());
  return out;
}

}  // namespace

TEST_CASE("what was saved reads back the same, with indexes, managers and resourceVersion") {
  for (const int count : {0, 5, 1200}) {
    CAPTURE(count);
    const Store store = filled(count);
    const std::string file = saved(store);
    Store loaded;
    int ready = 0;
    loaded.on_ready([&] {
      ++ready;
      CHECK(loaded.ready());
      CHECK(loaded.size() == static_cast<std::size_t>(count));
    });
    loaded.add_index("value", [](const std::string& json) {
      return std::vector<std::string>{json.find("value of 3\"") == std::string::npos ? "no"
                                                                                     : "yes"};
    });
    REQUIRE(loaded.load("configmaps", file).ok());
    CHECK(ready == 1);
    CHECK(loaded.ready());
    CHECK(loaded.resource_version() == "900");
    CHECK(loaded.keys() == store.keys());
    for (const auto& key : store.keys()) {
      const auto a = store.get(key);
      const auto b = loaded.get(key);
      REQUIRE(a->json == b->json);
      REQUIRE(a->managers() == b->managers());
    }
    CHECK(loaded.keys_with_label("app", "a2") == store.keys_with_label("app", "a2"));
    CHECK(loaded.keys_indexed("value", "yes").size() == (count > 3 ? 1 : 0));
    CHECK(saved(loaded).size() <= file.size() + file.size() / 10);
    // It lives on.
    REQUIRE(loaded.apply(object(7777)).ok());
    CHECK(loaded.size() == static_cast<std::size_t>(count) + 1);
    // Equal versions are equal objects: a relist tells only what differs.
    loaded.begin_init();
    for (int i = 1; i < count; ++i) REQUIRE(loaded.init_apply(object(i)).ok());
    CHECK(loaded.finish_init("950").size() == (count > 0 ? 2 : 1));
  }
}

TEST_CASE("a file that is cut short or damaged anywhere is refused and changes nothing") {
  const std::string file = saved(filled(60));
  base::Random random(5);
  const auto refused = [](const std::string& bytes) {
    Store store;
    const auto result = store.load("configmaps", bytes);
    REQUIRE_FALSE(result.ok());
    REQUIRE(result.error().kind() == ErrorKind::invalid);
    REQUIRE_FALSE(store.ready());
    REQUIRE(store.size() == 0);
    store.begin_init();
    store.finish_init("1");
    REQUIRE(store.ready());
    return result.error().message();
  };
  for (std::size_t size = 0; size < file.size(); size += 1 + size / 20)
    refused(file.substr(0, size));
  for (int round = 0; round < 300; ++round) {
    std::string bad = file;
    bad[random.below(bad.size())] ^= static_cast<char>(1U << random.below(8));
    refused(bad);
  }
  CHECK(refused("") == "the saved cache is not one: it begins otherwise");
  CHECK(refused(file + "x").find("checksum") != std::string::npos);
}

// Damage that a checksum cannot show: whoever wrote the file wrote the sum as well.
TEST_CASE("absurd content under a right checksum is refused and never crashes") {
  const auto sum = [](std::string content) {
    std::uint64_t out = 0xcbf29ce484222325U;
    for (const char c : content) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    for (int i = 0; i < 8; ++i) content.push_back(static_cast<char>(out >> (8 * i)));
    return content;
  };
  for (const int count : {3, 800}) {
    const std::string file = saved(filled(count));
    const std::string content = file.substr(0, file.size() - 8);
    base::Random random(11);
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
      std::string bad = content;
      for (auto n = 1 + random.below(4); n > 0; --n) {
        const std::size_t at =
            random.below(std::min<std::size_t>(bad.size(), 400 + random.below(bad.size())));
        bad[at] = random.below(3) == 0 ? '\xff' : static_cast<char>(random.below(256));
      }
      Store store;
      if (!store.load("configmaps", sum(bad)).ok()) ++refused;
    }
    CHECK(refused > 100);
  }
}

TEST_CASE("a file of another watch, kind, selector or options is refused by name") {
  const std::string file = saved(filled(3), "v1 ConfigMap in shop, app=a");
  Store other;
  const auto selector = other.load("v1 ConfigMap in shop, app=b", file);
  REQUIRE_FALSE(selector.ok());
  CHECK(selector.error().message().find("of another watch: v1 ConfigMap in shop, app=a") !=
        std::string::npos);
  StoreOptions options;
  options.strip = {"/data"};
  Store stripping(options);
  CHECK_FALSE(stripping.load("v1 ConfigMap in shop, app=a", file).ok());
  Store right;
  CHECK(right.load("v1 ConfigMap in shop, app=a", file).ok());
  CHECK_FALSE(right.load("v1 ConfigMap in shop, app=a", file).ok());  // not twice
}

TEST_CASE("a cache of an undone past is saved as such, until a full state is there") {
  Store store = filled(3);
  const std::string good = saved(store);
  store.note_undone_past();
  const std::string file = saved(store);
  Store loaded;
  REQUIRE(loaded.load("configmaps", file).ok());
  CHECK(loaded.of_undone_past());
  CHECK_FALSE(loaded.of_another_version());
  CHECK(loaded.resource_version() == "900");
  CHECK(loaded.size() == 3);
  CHECK(saved(loaded) == file);  // and again, as long as nothing was compared
  loaded.begin_init(true);
  for (int i = 0; i < 3; ++i) REQUIRE(loaded.init_apply(object(i)).ok());
  loaded.finish_init("800");
  CHECK_FALSE(loaded.of_undone_past());
  Store compared;
  REQUIRE(compared.load("configmaps", saved(loaded)).ok());
  CHECK_FALSE(compared.of_undone_past());
  Store sound;
  REQUIRE(sound.load("configmaps", good).ok());
  CHECK_FALSE(sound.of_undone_past());
  // Another watch of the same objects is refused by what it differs in, and by nothing else.
  StoreOptions options;
  options.strip = {"/data"};
  Store stripping(options);
  const auto refused = stripping.load("configmaps", file);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message().find("made with strip=, this is strip=/data") !=
        std::string::npos);
}

TEST_CASE("a store that is not complete saves nothing, and a sink's error is told") {
  Store store;
  const auto ignore = [](std::string_view) -> Result<void> { return {}; };
  CHECK_FALSE(store.save("x", ignore).ok());
  const auto full = [](std::string_view) -> Result<void> {
    return Error(ErrorKind::unavailable, "no space left");
  };
  CHECK(filled(3).save("x", full).error().message() == "no space left");
}
