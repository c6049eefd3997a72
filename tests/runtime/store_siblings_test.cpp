// Objects that are kept as what they differ in from a sibling: whatever happens to the sibling, all
// of them read back, and every selector finds what it would find among plain objects.
#include <fmt/format.h>

#include <map>

#include "base/random.hpp"
#include "core/meta.hpp"
#include "runtime/store.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

constexpr int kOwners = 12;

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < kOwners; ++i) templates_.push_back(words(80));
  }

  base::Random& random() { return random_; }
  std::string name() { return fmt::format("pod-{}", random_.below(600)); }

  // The same family looks alike but for a few words; now and then one looks like none.
  std::string pod(const std::string& name) {
    const auto owner = random_.below(kOwners);
    const std::string spec = random_.below(20) == 0 ? words(80) : templates_[owner];
    std::string labels = fmt::format(R"("app":"app-{}","self":"{}")", owner, name);
    if (random_.below(3) == 0) labels += fmt::format(R"(,"weight":"{}")", random_.below(5));
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"ns-{}",)"
        R"("uid":"{}","resourceVersion":"{}","labels":{{{}}},"ownerReferences":[{{"apiVersion":)"
        R"("apps/v1","kind":"ReplicaSet","name":"rs","uid":"owner-{}"}}]}},"spec":{{"text":"{}"}},)"
        R"("status":{{"ip":"10.0.{}.{}","id":"{}"}}}})",
        name, owner % 3, random_.uuid(), ++version_, labels, owner, spec, random_.below(256),
        random_.below(256), random_.suffix(40));
  }

 private:
  std::string words(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += random_.suffix(3 + random_.below(5)) + " ";
    return out;
  }

  base::Random random_;
  std::vector<std::string> templates_;
  int version_ = 0;
};

using Model = std::map<core::ObjectKey, std::string>;

void put(Model& model, const std::string& json) {
  const auto meta = core::parse_meta(json);
  REQUIRE(meta.ok());
  // A name lives in one namespace at a time here; the store does not know that.
  model[meta->key()] = json;
}

void check_equal(const Store& store, const Model& model) {
  REQUIRE(store.size() == model.size());
  for (const auto& [key, json] : model) {
    const auto object = store.get(key);
    REQUIRE(object);
    REQUIRE(object->json == json);
  }
}

void check_selectors(const Store& store, const Model& model) {
  for (const char* text :
       {"app=app-3", "app!=app-3", "app in (app-1,app-2)", "app notin (app-1,app-2)", "weight",
        "!weight", "weight>2", "weight<3,app=app-4", "app=app-3,weight", "self=pod-7", "",
        "nothing=here", "app=app-3,app!=app-3"}) {
    CAPTURE(text);
    const auto selector = core::LabelSelector::parse(text);
    REQUIRE(selector.ok());
    std::vector<core::ObjectKey> wanted, in_one;
    for (const auto& [key, json] : model) {
      if (!selector->matches(core::parse_meta(json)->labels)) continue;
      wanted.push_back(key);
      if (key.namespace_ == "ns-1") in_one.push_back(key);
    }
    CHECK(store.select(*selector) == wanted);
    CHECK(store.select(*selector, "ns-1") == in_one);
  }
  for (int owner = 0; owner < kOwners; ++owner) {
    const std::string uid = fmt::format("owner-{}", owner);
    std::vector<core::ObjectKey> wanted;
    for (const auto& [key, json] : model) {
      if (json.find("\"" + uid + "\"") != std::string::npos) wanted.push_back(key);
    }
    CHECK(store.keys_owned_by(uid) == wanted);
  }
}

}  // namespace

TEST_CASE("siblings read back and are found whatever happens to the one they lean on") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    World world(seed);
    Store store;
    Model model;
    store.begin_init();
    for (int i = 0; i < 500; ++i) {
      const std::string json = world.pod(fmt::format("pod-{}", i));
      put(model, json);
      REQUIRE(store.init_apply(json).ok());
    }
    store.finish_init("1");
    while (store.compact_some(7) > 0) {
    }
    REQUIRE(store.stats().dictionaries == 1);
    std::vector<std::pair<std::unique_ptr<StoreSnapshot>, Model>> snapshots;
    for (int step = 0; step < 1500; ++step) {
      const auto what = world.random().below(100);
      if (what == 0) {
        // A relist that shows most of it, some of it changed.
        store.begin_init();
        Model shown;
        for (const auto& [key, json] : model) {
          if (world.random().below(5) == 0) continue;
          const std::string now = world.random().below(6) == 0 ? world.pod(key.name) : json;
          put(shown, now);
          REQUIRE(store.init_apply(now).ok());
        }
        model = shown;
        store.finish_init("2");
      } else if (what < 25 && !model.empty()) {
        auto it = model.begin();
        std::advance(it, static_cast<long>(world.random().below(model.size())));
        REQUIRE(store.remove(it->second, nullptr).ok());
        model.erase(it);
      } else if (what < 28) {
        snapshots.emplace_back(store.snapshot(), model);
        if (snapshots.size() > 3) snapshots.erase(snapshots.begin());
      } else {
        const std::string json = world.pod(world.name());
        put(model, json);
        REQUIRE(store.apply(json, nullptr).ok());
      }
      store.compact_some(5);
      if (step % 250 == 0) check_equal(store, model);
    }
    check_equal(store, model);
    check_selectors(store, model);
    for (const auto& [snapshot, then] : snapshots) {
      REQUIRE(snapshot->size() == then.size());
      for (const auto& [key, json] : then) REQUIRE(snapshot->get(key)->json == json);
    }
    std::string saved;
    REQUIRE(store
                .save("pods",
                      [&](std::string_view bytes) {
                        saved.append(bytes);
                        return Result<void>();
                      })
                .ok());
    Store again;
    REQUIRE(again.load("pods", saved).ok());
    check_equal(again, model);
    check_selectors(again, model);
  }
}

TEST_CASE("a family is held in what its members differ in") {
  World world(1);
  base::Random random(2);
  const auto json = [&](int i, const std::string& spec) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{}","namespace":"shop",)"
        R"("uid":"{}","resourceVersion":"{}","ownerReferences":[{{"uid":"o{}"}}]}},"spec":"{}"}})",
        i, random.uuid(), i + 1, i / 20, spec);
  };
  Store store;
  store.begin_init();
  std::string spec;
  for (int i = 0; i < 2000; ++i) {
    // Nothing in common with other families: no dictionary helps.
    if (i % 20 == 0) spec = random.suffix(3000);
    REQUIRE(store.init_apply(json(i, spec)).ok());
  }
  store.finish_init("1");
  while (store.compact_some(100) > 0) {
  }
  const auto stats = store.stats();
  CHECK(stats.held_bytes < stats.json_bytes / 8);
}

TEST_CASE("changes are kept as they came, few of them, until they are encoded together") {
  base::Random random(3);
  const std::string uid = random.uuid();
  int version = 0;
  const auto json = [&](int i, const std::string& spec) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{}","namespace":"shop",)"
        R"("uid":"{}{:04}","resourceVersion":"{}","ownerReferences":[{{"uid":"o{}"}}]}},)"
        R"("spec":"{}"}})",
        i, uid.substr(0, uid.size() - 4), i, ++version, i / 20, spec);
  };
  std::vector<std::string> specs;
  for (int i = 0; i < 100; ++i) specs.push_back(random.suffix(3000));
  Store store;
  store.begin_init();
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(store.init_apply(json(i, specs[static_cast<std::size_t>(i / 20)])).ok());
  }
  store.finish_init("1");
  while (store.compact_some(100) > 0) {
  }
  const auto before = store.stats().held_bytes;
  const auto change = [&](int i) {
    const std::string now = json(i, "changed " + specs[static_cast<std::size_t>(i / 20)]);
    REQUIRE(store.apply(now, nullptr).ok());
    CHECK(store.get({"shop", fmt::format("p{}", i)})->json == now);
  };

  change(7);
  CHECK(store.compact_some(0) == 1);
  CHECK(store.stats().held_bytes > before + 2500);
  CHECK(store.compact_some(1) == 0);
  CHECK(store.stats().held_bytes < before + 500);
  CHECK(store.get({"shop", "p7"})->json.find("changed ") != std::string::npos);

  // Nobody has to ask where there are many.
  for (int i = 0; i < 2000; ++i) change(i);
  CHECK(store.stats().held_bytes < before + 600'000);
  CHECK(store.compact_some(1) == 0);
  CHECK(store.stats().held_bytes < store.stats().json_bytes / 8);
  for (int i = 0; i < 2000; ++i) {
    const auto now = store.get({"shop", fmt::format("p{}", i)});
    REQUIRE(now->json.find("changed " + specs[static_cast<std::size_t>(i / 20)]) !=
            std::string::npos);
  }
}
