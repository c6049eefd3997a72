// Snapshots against plain copies of the state, with random changes in between.
#include <fmt/format.h>

#include <map>

#include "base/random.hpp"
#include "runtime/store.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;

namespace {

std::string object(const std::string& name, std::uint64_t version) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"ns{}","uid":"u-{}","resourceVersion":"{}","labels":{{"v":"{}"}}}}}})",
      name, name.size() % 2, name, version, version % 3);
}

using Model = std::map<ObjectKey, std::string>;

ObjectKey key_of(const std::string& name) {
  return {fmt::format("ns{}", name.size() % 2), name};
}

template <class Readable>
void equals(const Readable& view, const Model& model) {
  std::vector<ObjectKey> keys;
  for (const auto& [key, json] : model) {
    keys.push_back(key);
    const auto found = view.get(key);
    REQUIRE(found);
    REQUIRE(found->json == json);
  }
  REQUIRE(view.size() == model.size());
  REQUIRE(view.keys() == keys);
  std::vector<ObjectKey> selected, narrowed;
  for (const auto& [key, json] : model) {
    if (json.find(R"("v":"1")") == std::string::npos) continue;
    selected.push_back(key);
    if (key.namespace_ == "ns1") narrowed.push_back(key);
  }
  const auto selector = *core::LabelSelector::parse("v=1");
  REQUIRE(view.select(selector) == selected);
  REQUIRE(view.select(selector, "ns1") == narrowed);
}

}  // namespace

TEST_CASE("a snapshot shows what was there when it was taken, whatever happens then") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    base::Random random(seed);
    Store store;
    Model model;
    std::uint64_t version = 100;
    struct Taken {
      std::unique_ptr<StoreSnapshot> snapshot;
      Model model;
      std::string version;
    };
    std::vector<Taken> taken;
    CHECK(store.snapshot() == nullptr);
    store.begin_init();
    CHECK(store.snapshot() == nullptr);
    store.finish_init("100");
    std::string staged;
    for (int step = 0; step < 150; ++step) {
      const std::string name(1 + random.below(12), 'x');
      const std::string json = object(name, ++version);
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
          REQUIRE(store.apply(json).ok());
          model[key_of(name)] = json;
          break;
        case 3:
          REQUIRE(store.remove(json).ok());
          model.erase(key_of(name));
          break;
        case 4: {
          store.begin_init();
          Model next;
          for (const auto& [key, old] : model) {
            if (random.below(4) == 0) continue;
            next[key] = random.below(2) == 0 ? old : object(key.name, ++version);
          }
          next[key_of(name)] = json;
          for (const auto& [key, item] : next) {
            REQUIRE(store.init_apply(item).ok());
            if (random.below(4) == 0) equals(store, model);  // nothing of it is seen yet
          }
          store.finish_init(std::to_string(++version), [&](StoreChange&&) {
            // While changes are told, all of them have happened.
            if (random.below(3) != 0) return;
            equals(store, next);
            for (const auto& one : taken) equals(*one.snapshot, one.model);
          });
          model = next;
          break;
        }
        case 5: taken.push_back({store.snapshot(), model, store.resource_version()}); break;
        case 6:
          if (!taken.empty())
            taken.erase(taken.begin() + static_cast<long>(random.below(taken.size())));
          break;
        default: store.compact_some(10);
      }
      if (step % 10 != 0) continue;
      equals(store, model);
      for (const auto& one : taken) {
        equals(*one.snapshot, one.model);
        REQUIRE(one.snapshot->resource_version() == one.version);
      }
    }
  }
}

TEST_CASE("a snapshot outlives its store and the dictionaries of its time") {
  Store store;
  const auto big = [](int i, const std::string& word) {
    std::string text;
    for (int n = 0; n < 20; ++n) text += fmt::format("{}-{} and ", word, n);
    return fmt::format(
        R"({{"metadata":{{"name":"o{}","resourceVersion":"{}"}},"data":{{"text":"{}"}}}})", i,
        word == "old" ? 1 : 2, text);
  };
  store.begin_init();
  for (int i = 0; i < 500; ++i) REQUIRE(store.init_apply(big(i, "old")).ok());
  store.finish_init("1");
  while (store.compact_some(1000) > 0) {
  }
  const auto snapshot = store.snapshot();
  for (int i = 0; i < 500; ++i) REQUIRE(store.apply(big(i, "quite-another-text")).ok());
  store = Store();
  for (int i = 0; i < 500; ++i)
    REQUIRE(snapshot->get({"", fmt::format("o{}", i)})->json == big(i, "old"));
}
