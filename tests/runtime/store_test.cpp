#include "runtime/store.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <map>

#include "base/json.hpp"
#include "base/random.hpp"
#include "runtime/store_ingest.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;

namespace {

struct Pod {
  std::string name = "a";
  std::string uid = "u1";
  std::string version = "1";
  std::string labels = R"("app":"web")";
  std::string owner = "";
  std::string data = "x";
  std::string json() const {
    const std::string owners =
        owner.empty() ? ""
                      : fmt::format(R"(,"ownerReferences":[{{"apiVersion":"apps/v1","kind":)"
                                    R"("ReplicaSet","name":"rs","uid":"{}"}}])",
                                    owner);
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"shop",)"
        R"("uid":"{}","resourceVersion":"{}","labels":{{{}}}{},)"
        R"("managedFields":[{{"manager":"kubectl"}}]}},"spec":{{"data":"{}"}}}})",
        name, uid, version, labels, owners, data);
  }
};

std::string show(const StoreChange& c) {
  static const std::map<ChangeType, std::string> names = {{ChangeType::added, "added"},
                                                          {ChangeType::modified, "modified"},
                                                          {ChangeType::deleted, "deleted"}};
  return fmt::format("{} {} {}{}{}", names.at(c.type), c.meta.name, c.meta.uid,
                     c.initial ? " initial" : "", c.relisted ? " relisted" : "");
}
std::vector<std::string> show(const std::vector<StoreChange>& changes) {
  std::vector<std::string> out;
  for (const auto& change : changes) out.push_back(show(change));
  return out;
}
using Lines = std::vector<std::string>;

std::vector<StoreChange> init(Store& store, const std::vector<Pod>& pods, std::string version) {
  store.begin_init();
  for (const auto& pod : pods) REQUIRE(store.init_apply(pod.json()).ok());
  return store.finish_init(std::move(version));
}

const ObjectKey kA{"shop", "a"};

}  // namespace

TEST_CASE("nobody reads anything before the first state is complete") {
  Store store;
  store.begin_init();
  REQUIRE(store.init_apply(Pod{}.json()).ok());
  CHECK_FALSE(store.ready());
  CHECK(store.size() == 0);
  CHECK_FALSE(store.get(kA));
  CHECK(store.keys().empty());
  CHECK(store.keys_with_label("app", "web").empty());
  CHECK(show(store.finish_init("5")) == Lines{"added a u1 initial"});
  CHECK(store.ready());
  CHECK(store.resource_version() == "5");
  CHECK(store.get(kA)->meta.uid == "u1");
}

TEST_CASE("a relist tells the net difference, deletions with their last known state") {
  Store store;
  init(store, {{.name = "a"}, {.name = "b", .data = "last words"}, {.name = "c"}, {.name = "e"}},
       "5");
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "c", .version = "7"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "d"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "e", .uid = "u2", .version = "8"}.json()).ok());
  // Until the end readers see the old state, all of it.
  CHECK(store.size() == 4);
  CHECK(store.get({"shop", "c"})->meta.resource_version == "1");
  const auto changes = store.finish_init("9");
  CHECK(show(changes) == Lines{"deleted b u1 relisted", "modified c u1 relisted",
                               "added d u1 relisted", "deleted e u1 relisted",
                               "added e u2 relisted"});
  CHECK(changes[0].json.find("last words") != std::string::npos);
  CHECK(changes[1].previous_meta->resource_version == "1");
  CHECK(store.stats().relists == 1);
}

TEST_CASE("changes of a relist are told after all of them are visible") {
  Store store;
  init(store, {{.name = "a"}, {.name = "b"}}, "5");
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a", .version = "2"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "c"}.json()).ok());
  std::size_t told = 0;
  store.finish_init("9", [&](StoreChange&&) {
    ++told;
    CHECK(store.keys() == std::vector<ObjectKey>{{"shop", "a"}, {"shop", "c"}});
    CHECK(store.resource_version() == "9");
  });
  CHECK(told == 3);
}

TEST_CASE("an unfinished state leaves nothing behind when a new one begins") {
  Store store;
  init(store, {{.name = "a"}}, "5");
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "phantom"}.json()).ok());
  REQUIRE(
      store.init_apply(Pod{.name = "a", .version = "2", .labels = R"("app":"db")"}.json()).ok());
  CHECK(init(store, {{.name = "a"}}, "6").empty());
  CHECK(store.keys() == std::vector<ObjectKey>{kA});
  CHECK(store.keys_with_label("app", "db").empty());
  CHECK(store.keys_with_label("app", "web").size() == 1);
}

TEST_CASE("an object deleted while a streaming list goes on is not in the state") {
  Store store;
  init(store, {{.name = "a"}, {.name = "b"}}, "5");
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "b"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "c"}.json()).ok());
  REQUIRE(store.remove(Pod{.name = "b", .version = "6"}.json())->empty());
  REQUIRE(store.remove(Pod{.name = "c", .version = "7"}.json())->empty());
  REQUIRE(store.remove(Pod{.name = "never"}.json())->empty());
  CHECK(store.size() == 2);
  CHECK(show(store.finish_init("8")) == Lines{"deleted b u1 relisted"});
  CHECK(store.keys() == std::vector<ObjectKey>{kA});
}

TEST_CASE("an equal resourceVersion proves nothing after the server was restored") {
  Store store;
  init(store, {{.name = "a"}, {.name = "b"}}, "5");
  store.begin_init(true);
  REQUIRE(store.init_apply(Pod{.name = "a", .data = "another past"}.json()).ok());
  REQUIRE(store.init_apply(Pod{.name = "b"}.json()).ok());
  CHECK(show(store.finish_init("3")) == Lines{"modified a u1 relisted"});
}

TEST_CASE("single events change the store and tell what was before") {
  Store store;
  init(store, {}, "5");
  CHECK(show(*store.apply(Pod{.version = "6"}.json())) == Lines{"added a u1"});
  CHECK(store.resource_version() == "6");
  const auto modified = *store.apply(Pod{.version = "7", .data = "y"}.json());
  CHECK(show(modified) == Lines{"modified a u1"});
  CHECK(modified[0].previous_json.find("\"x\"") != std::string::npos);
  CHECK(modified[0].json.find("\"y\"") != std::string::npos);
  // The same again is no change.
  CHECK(store.apply(Pod{.version = "7", .data = "y"}.json())->empty());
  // A recreated object is another object.
  CHECK(show(*store.apply(Pod{.uid = "u2", .version = "8"}.json())) ==
        Lines{"deleted a u1", "added a u2"});
  // A late deletion of the first one does not touch the second.
  CHECK(store.remove(Pod{.uid = "u1", .version = "9"}.json())->empty());
  const auto deleted = *store.remove(Pod{.uid = "u2", .version = "10", .data = "end"}.json());
  CHECK(show(deleted) == Lines{"deleted a u2"});
  CHECK(deleted[0].json.find("end") != std::string::npos);
  CHECK(store.size() == 0);
  CHECK(store.resource_version() == "10");
  store.bookmark("20");
  CHECK(store.resource_version() == "20");
}

TEST_CASE("managedFields and stripped members are cut, the rest is kept byte for byte") {
  StoreOptions options;
  options.strip = {"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"};
  Store store(options);
  const std::string sent =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"keep":"1",)"
      R"("kubectl.kubernetes.io/last-applied-configuration":"{\"a\":1}"},"managedFields":[{}],)"
      R"("uid":"u1","resourceVersion":"1"},"spec":{"n":1.50,"big":12345678901234567890}})";
  store.begin_init();
  REQUIRE(store.init_apply(sent).ok());
  store.finish_init("1");
  CHECK(store.get({"", "a"})->json ==
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"keep":"1"},)"
        R"("uid":"u1","resourceVersion":"1"},"spec":{"n":1.50,"big":12345678901234567890}})");
}

TEST_CASE(
    "of managedFields remains who applied what when, or all of them where that is asked for") {
  const std::string fields =
      R"([{"manager":"kubectl","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:\"x]":{}}}},)"
      R"({"operation":"Update","manager":"k\u00fcbelet","subresource":"status"},{"manager":7}])";
  const std::string rest = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})";
  const std::string sent =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","managedFields":)" + fields + "}}";
  Store store;
  REQUIRE(store.apply(sent).ok());
  const auto object = *store.get({"", "a"});
  CHECK(object.json == rest);
  CHECK(object.managers() ==
        std::vector<FieldManager>{{"kubectl", "Apply", "", "2026-01-01T00:00:00Z"},
                                  {"k\xc3\xbc"
                                   "belet",
                                   "Update", "status", ""},
                                  {"", "", "", ""}});
  StoreOptions options;
  options.keep_managed_fields = true;
  Store keeping(options);
  REQUIRE(keeping.apply(sent).ok());
  CHECK(keeping.get({"", "a"})->json == sent);
  CHECK(keeping.get({"", "a"})->managers().empty());
  // Broken ones harm nothing.
  for (const char* bad : {"7", "[7]", "[{\"manager\":\"\x01\"}]", "[{]", "{}", "[[[["}) {
    CAPTURE(bad);
    (void)compact_managers(bad);
  }
  CHECK(parse_managers(compact_managers("[{\"manager\":\"\x01\"}]")).at(0).manager.empty());
}

TEST_CASE("a projection keeps the paths it names and what identifies an object") {
  StoreOptions options;
  options.project = {"/status/phase", "/spec/containers/0/image", "/spec/absent"};
  options.strip = {"/metadata/labels/b"};
  Store store(options);
  REQUIRE(
      store
          .apply(
              R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","annotations":{"x":"1"},)"
              R"("labels":{"a":"1","b":"2"},"uid":"u","managedFields":[{"manager":"m"}]},)"
              R"("spec":{"containers":[{"name":"c","image":"i"},{"image":"j"}],"n":1},)"
              R"("status":{"phase":"Running","ip":"1"},"other":[1]})")
          .ok());
  CHECK(store.get({"", "a"})->json ==
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"a":"1"},"uid":"u"},)"
        R"("spec":{"containers":[{"image":"i"}]},"status":{"phase":"Running"}})");
}

TEST_CASE("any function may edit what is kept, but not make another object of it") {
  StoreOptions options;
  options.strip = {"/data/b"};
  std::string seen;
  options.modify = [&](std::string json) {
    seen = json;
    const std::size_t secret = json.find("secret");
    if (secret != std::string::npos) json.replace(secret, 6, "\" , \"n\": \"");
    const std::size_t uid = json.find("uid-2");
    if (uid != std::string::npos) json.replace(uid, 5, "other");
    if (json.find("cut") != std::string::npos) json.pop_back();
    return json;
  };
  Store store(options);
  const auto object = [](const std::string& name, const std::string& uid, const std::string& data) {
    return R"({"kind":"K","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":")" + uid +
           R"(","resourceVersion":"7","managedFields":[{"manager":"m"}]},"data":{"a":")" + data +
           R"(","b":"x"}})";
  };
  REQUIRE(store.apply(object("a", "uid-1", "secret")).ok());
  CHECK(seen.find("\"b\"") == std::string::npos);  // after strip
  CHECK(store.get({"", "a"})->json ==
        R"({"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"uid-1",)"
        R"("resourceVersion":"7"},"data":{"a":"","n":""}})");
  CHECK(store.get({"", "a"})->managers().size() == 1);
  for (const std::string& refused : {object("b", "uid-2", ""), object("b", "uid-3", "cut")}) {
    REQUIRE(store.apply(refused).ok());
    const auto kept = store.get({"", "b"});
    CHECK(kept->json.find("\"data\"") == std::string::npos);
    CHECK(kept->meta.resource_version == "7");
    CHECK(store.unparsable().last.find("modify") != std::string::npos);
  }
  CHECK(store.unparsable().count == 2);
}

TEST_CASE("metadata alone is kept under the object's own type, whatever the server sends") {
  StoreOptions options;
  options.type = {"apps", "v1", "Deployment"};
  options.content = core::Content::metadata;
  Store store(options);
  const std::string metadata = R"("metadata":{"name":"a","annotations":{"x":"y"}})";
  for (const std::string& sent :
       {R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)" + metadata + "}",
        R"({"kind":"Deployment","apiVersion":"apps/v1",)" + metadata + R"(,"spec":{"a":[1]}})",
        "{" + metadata + R"(,"status":{}})"}) {
    store.begin_init(true);
    REQUIRE(store.init_apply(sent).ok());
    store.finish_init("5");
    CHECK(store.get({"", "a"})->json ==
          R"({"apiVersion":"apps/v1","kind":"Deployment",)" + metadata + "}");
    CHECK(store.get({"", "a"})->meta.kind == "Deployment");
  }
}

TEST_CASE("list items get the type that the list has and they lack") {
  StoreOptions options;
  options.type = {"apps", "v1", "Deployment"};
  Store store(options);
  store.begin_init();
  REQUIRE(store.init_apply(R"({"metadata":{"name":"a"}})").ok());
  REQUIRE(store.init_apply(R"({"kind":"Other","metadata":{"name":"b"}})").ok());
  store.finish_init("1");
  CHECK(store.get({"", "a"})->json ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}})");
  CHECK(store.get({"", "a"})->meta.kind == "Deployment");
  CHECK(store.get({"", "b"})->meta.kind == "Other");
}

TEST_CASE("labels and owners are indexed and follow every change") {
  Store store;
  init(store,
       {{.name = "a", .labels = R"("app":"web","tier":"1")", .owner = "rs1"},
        {.name = "b", .labels = R"("app":"web")", .owner = "rs1"},
        {.name = "c", .labels = R"("app":"db")", .owner = "rs2"}},
       "5");
  const auto names = [](const std::vector<ObjectKey>& keys) {
    std::string out;
    for (const auto& key : keys) out += key.name;
    return out;
  };
  CHECK(names(store.keys_with_label("app", "web")) == "ab");
  CHECK(names(store.keys_owned_by("rs1")) == "ab");
  CHECK(names(store.select(*core::LabelSelector::parse("app in (web,db),!tier"))) == "bc");
  CHECK(names(store.select(*core::LabelSelector::parse(""))) == "abc");
  REQUIRE(
      store
          .apply(Pod{.name = "a", .version = "6", .labels = R"("app":"db")", .owner = "rs2"}.json())
          .ok());
  CHECK(names(store.keys_with_label("app", "web")) == "b");
  CHECK(names(store.keys_with_label("tier", "1")).empty());
  CHECK(names(store.keys_owned_by("rs2")) == "ac");
  REQUIRE(store.remove(Pod{.name = "c", .owner = "rs2"}.json()).ok());
  CHECK(names(store.keys_owned_by("rs2")) == "a");
  // By a relist as well.
  init(store, {{.name = "b", .version = "9", .labels = R"("app":"x")", .owner = "rs3"}}, "9");
  CHECK(names(store.keys_with_label("app", "x")) == "b");
  CHECK(names(store.keys_owned_by("rs1")).empty());
  CHECK(names(store.keys_with_label("app", "db")).empty());
}

TEST_CASE(
    "an object with bytes that are no text is kept as metadata, not taken for a deleted one") {
  Store store;
  init(store, {{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, "5");
  const std::string broken =
      "{\"metadata\":{\"name\":\"b\",\"namespace\":\"shop\",\"uid\":\"u2\","
      "\"annotations\":{\"x\":\"\xff\xfe!\"},\"resourceVersion\":\"6\"},"
      "\"data\":{\"k\":\"v\"}}";
  REQUIRE(store.apply(broken).ok());
  REQUIRE(store.get({"shop", "b"}));
  CHECK(store.get({"shop", "b"})->reduced);
  CHECK(*store.get({"shop", "b"})->meta.annotation("x") == "\xef\xbf\xbd\xef\xbf\xbd!");
  CHECK(store.unparsable().last.find("shop/b: ") == 0);
  // By a list as well.
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a", .version = "1"}.json()).ok());
  REQUIRE(store.init_apply(broken).ok());
  CHECK(store.finish_init("7").empty());
  CHECK(store.keys() == std::vector<ObjectKey>{{"shop", "a"}, {"shop", "b"}});
}

TEST_CASE("objects too deep or too big are kept as metadata, counted and named") {
  StoreOptions options;
  options.limits.max_bytes = 2000;
  Store store(options);
  store.begin_init();
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  REQUIRE(store
              .init_apply(R"({"spec":)" + deep +
                          R"(,"metadata":{"name":"deep","namespace":"shop","uid":"u"}})")
              .ok());
  REQUIRE(store.init_apply(Pod{.name = "big", .data = std::string(3000, 'x')}.json()).ok());
  store.finish_init("5");
  CHECK(store.keys() == std::vector<ObjectKey>{{"shop", "big"}, {"shop", "deep"}});
  CHECK(store.get({"shop", "big"})->json.find("spec") == std::string::npos);
  CHECK(store.get({"shop", "big"})->meta.label("app") != nullptr);
  CHECK(store.get({"shop", "big"})->reduced);
  CHECK(store.get({"shop", "deep"})->reduced);
  CHECK(store.reduced() == store.keys());
  REQUIRE_FALSE(store.apply(Pod{.name = "big", .version = "2"}.json())->at(0).reduced);
  CHECK_FALSE(store.get({"shop", "big"})->reduced);
  CHECK(store.reduced() == std::vector<ObjectKey>{{"shop", "deep"}});
  REQUIRE(store.apply(Pod{.name = "big", .version = "3", .data = std::string(3000, 'x')}.json())
              ->at(0)
              .reduced);
  CHECK(store.unparsable().count == 3);
  CHECK(store.unparsable().last.find("shop/big: ") == 0);
  CHECK(store.snapshot()->get({"shop", "big"})->reduced);
  std::string saved;
  REQUIRE(store
              .save("pods",
                    [&](std::string_view bytes) {
                      saved.append(bytes);
                      return Result<void>();
                    })
              .ok());
  Store again(options);
  REQUIRE(again.load("pods", saved).ok());
  CHECK(again.get({"shop", "big"})->reduced);
  CHECK(again.reduced().size() == 2);
}

TEST_CASE("an object keeps its name whatever its metadata is like") {
  Store store;
  init(store, {{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, "5");
  const std::string managed =
      R"("managedFields":[{"manager":"m","operation":"Update","fieldsV1":)" +
      std::string(R"({"f:x":)") + std::string(300, '[') + std::string(300, ']') + "}}]";
  const std::string deep = R"(,"spec":)" + std::string(300, '[') + std::string(300, ']') + "}";
  const auto object = [](const std::string& more, const std::string& behind = "}") {
    return R"({"metadata":{"name":"b","namespace":"shop","uid":"u9",)" + more +
           R"(,"resourceVersion":"6"})" + behind;
  };
  struct Case {
    std::string text;
    bool labels;
  };
  const std::string label = R"("labels":{"app":"web"})";
  const std::string huge = std::string(2U << 20U, 'x');
  for (const Case& one : {
           Case{object(label + "," + managed, deep), true},
           Case{object(label + R"(,"annotations":{"k":")" + huge + "\"}", deep), true},
           Case{object(label + R"(,"managedFields":[{"manager":")" + huge + "\"}]", deep), true},
           Case{object(R"("labels":{"app":"web","x":1})"), false},
           Case{object(label + R"(,"generation":1.5)"), true},
           Case{object(label + R"(,"ownerReferences":7,"finalizers":{})"), true},
           Case{object(R"("labels":{"app":")" + huge + "\"}", deep), false},
       }) {
    CAPTURE(one.text.substr(0, 300));
    const auto told = store.apply(one.text);
    REQUIRE(told.ok());
    const auto kept = store.get({"shop", "b"});
    REQUIRE(kept);
    CHECK(kept->reduced);
    CHECK(kept->meta.uid == "u9");
    CHECK(kept->meta.resource_version == "6");
    CHECK((kept->meta.label("app") != nullptr) == one.labels);
    CHECK(kept->json.size() < 2000);
    // A list that shows it does not take it away, and a deletion does.
    store.begin_init();
    REQUIRE(store.init_apply(Pod{.name = "a", .version = "1"}.json()).ok());
    REQUIRE(store.init_apply(one.text).ok());
    CHECK(store.finish_init("7").empty());
    CHECK(show(*store.remove(one.text)) == Lines{"deleted b u9"});
  }
  // What is dropped anyway may be as deep as it likes.
  REQUIRE(store.apply(object(label + "," + managed)).ok());
  CHECK_FALSE(store.get({"shop", "b"})->reduced);
}

TEST_CASE("a full state with an object that cannot be named sweeps nothing") {
  Store store;
  init(store, {{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, "5");
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a", .version = "2"}.json()).ok());
  store.init_unreadable();
  CHECK(show(store.finish_init("7")) == Lines{"modified a u1 relisted"});
  CHECK(store.size() == 2);
  store.begin_init();
  REQUIRE(store.init_apply(Pod{.name = "a", .version = "2"}.json()).ok());
  CHECK(show(store.finish_init("8")) == Lines{"deleted b u1 relisted"});
}

TEST_CASE("an object that does not parse at all is counted and changes nothing") {
  Store store;
  init(store, {{.name = "a"}}, "5");
  for (const char* text : {"", "[]", "{", R"({"metadata":{"name":1}})", R"({"metadata":{}})",
                           R"({"metadata":{"name":"x")", "{\"metadata\":{\"name\":\"\xff\"}}"}) {
    CAPTURE(text);
    CHECK_FALSE(store.apply(text).ok());
    CHECK_FALSE(store.remove(text).ok());
  }
  CHECK(store.unparsable().count == 14);
  CHECK(store.size() == 1);
  CHECK(store.resource_version() == "5");
  // Broken behind its metadata: the metadata is known.
  CHECK(show(*store.apply(R"({"metadata":{"name":"a","namespace":"shop","uid":"u1",)"
                          R"("resourceVersion":"6"},"spec":{"x":tru}})")) ==
        Lines{"modified a u1"});
}

TEST_CASE("nobody listening costs no change, and previous can be left out") {
  StoreOptions options;
  options.previous = false;
  Store store(options);
  init(store, {{.name = "a"}}, "5");
  const auto modified = *store.apply(Pod{.version = "6"}.json());
  CHECK_FALSE(modified.at(0).previous_meta);
  CHECK(modified.at(0).previous_json.empty());
  REQUIRE(store.apply(Pod{.version = "7"}.json(), nullptr).ok());
  CHECK(store.get_meta(kA)->resource_version == "7");
}

TEST_CASE("many alike objects are held in a fraction of their text and read back exactly") {
  Store store;
  base::Random random(7);
  const auto pod = [](int i, int version) {
    return Pod{.name = fmt::format("web-{}", i),
               .uid = fmt::format("uid-{}", i),
               .version = std::to_string(version),
               .labels = fmt::format(R"("app":"web-{}")", i % 20),
               .owner = fmt::format("rs-{}", i % 20),
               .data = fmt::format("image:v{} {} and much that is the same in all of them: "
                                   "terminationGracePeriodSeconds restartPolicy dnsPolicy "
                                   "serviceAccountName securityContext schedulerName tolerations "
                                   "node.kubernetes.io/not-ready Exists NoExecute 300 volumeMounts "
                                   "/var/run/secrets/kubernetes.io/serviceaccount readOnly",
                                   i % 7, i * 7919)};
  };
  store.begin_init();
  for (int i = 0; i < 1000; ++i) REQUIRE(store.init_apply(pod(i, 1).json()).ok());
  store.finish_init("1", nullptr);
  std::size_t slices = 0;
  while (store.compact_some(50) > 0) ++slices;
  CHECK(slices > 4);
  const auto stats = store.stats();
  CHECK(stats.objects == 1000);
  CHECK(stats.held_bytes < stats.json_bytes);
  Store plain;
  plain.begin_init();
  REQUIRE(plain.init_apply(pod(3, 1).json()).ok());
  plain.finish_init("1", nullptr);
  for (int i = 0; i < 1000; i += 37) {
    const auto stored = store.get({"shop", fmt::format("web-{}", i)});
    REQUIRE(stored);
    CHECK(stored->json.find(fmt::format(" {} and", i * 7919)) != std::string::npos);
    CHECK(base::parse_json(stored->json).ok());
  }
  CHECK(store.get({"shop", "web-3"})->json == plain.get({"shop", "web-3"})->json);
  CHECK(store.keys_owned_by("rs-3").size() == 50);
}

TEST_CASE("a big object compresses in a small store as well") {
  Store store;
  init(store, {{.name = "a", .data = std::string(200000, 'x')}}, "5");
  CHECK(store.compact_some(10) == 0);
  CHECK(store.stats().held_bytes < 20000);
  CHECK(store.get(kA)->json.size() > 200000);
}

TEST_CASE("random operations keep the store equal to a plain map") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    base::Random random(seed);
    Store store;
    std::map<std::string, Pod> model;   // what the server has
    std::map<std::string, Pod> staged;  // while a state is built
    std::map<std::string, std::string> told;
    bool building = false;
    int version = 1;
    INFO("seed " << seed);
    const auto listen = [&](StoreChange&& change) {
      if (change.type == ChangeType::added) REQUIRE(told.count(change.meta.name) == 0);
      if (change.type != ChangeType::added) REQUIRE(told.count(change.meta.name) == 1);
      if (change.type == ChangeType::deleted) {
        told.erase(change.meta.name);
      } else {
        told[change.meta.name] = change.json;
      }
    };
    const auto random_pod = [&] {
      Pod pod;
      pod.name = fmt::format("n{}", random.below(30));
      pod.uid = fmt::format("u{}", random.below(2));
      pod.version = std::to_string(++version);
      pod.labels = random.below(3) == 0 ? "" : fmt::format(R"("l":"{}")", random.below(4));
      pod.owner = random.below(2) == 0 ? "" : fmt::format("o{}", random.below(3));
      pod.data = std::string(random.below(600), 'd');
      return pod;
    };
    const auto check = [&] {
      REQUIRE(store.size() == model.size());
      REQUIRE(told.size() == model.size());
      std::size_t owned = 0, labelled = 0;
      for (const auto& [name, pod] : model) {
        const auto stored = store.get({"shop", name});
        REQUIRE(stored);
        REQUIRE(stored->meta.resource_version == pod.version);
        REQUIRE(told.at(name) == stored->json);
        owned += pod.owner == "o1" ? 1 : 0;
        labelled += pod.labels == R"("l":"2")" ? 1 : 0;
      }
      REQUIRE(store.keys_owned_by("o1").size() == owned);
      REQUIRE(store.keys_with_label("l", "2").size() == labelled);
      REQUIRE(store.select(*core::LabelSelector::parse("l=2")).size() == labelled);
    };
    for (int step = 0; step < 400; ++step) {
      const auto what = random.below(20);
      if (what == 0) {
        store.begin_init();
        staged.clear();
        building = true;
      } else if (building && what < 4) {
        // What the list shows: mostly what is there, some of it changed.
        for (const auto& [name, pod] : model) {
          if (random.below(4) != 0) staged[name] = pod;
        }
        for (const auto& [name, pod] : staged) REQUIRE(store.init_apply(pod.json()).ok());
        check();
        model = staged;
        store.finish_init("1", listen);
        building = false;
        check();
      } else if (building) {
        const Pod pod = random_pod();
        if (random.below(4) == 0) {
          REQUIRE(store.remove(pod.json(), listen).ok());
          staged.erase(pod.name);
        } else {
          REQUIRE(store.init_apply(pod.json()).ok());
          staged[pod.name] = pod;
        }
      } else if (what < 6) {
        const Pod pod = random_pod();
        REQUIRE(store.remove(pod.json(), listen).ok());
        const auto it = model.find(pod.name);
        if (it != model.end() && it->second.uid == pod.uid) model.erase(it);
      } else {
        const Pod pod = random_pod();
        REQUIRE(store.apply(pod.json(), listen).ok());
        model[pod.name] = pod;
      }
      if (random.below(3) == 0) store.compact_some(random.below(5));
      if (!building) check();
    }
  }
}

TEST_CASE("objects are found by uid, namespace and whatever an index reads of them") {
  Store store;
  const auto city = [](const std::string& json) {
    std::vector<std::string> keys;
    if (const auto parsed = base::parse_json(json); parsed.ok()) {
      for (const auto& one : parsed->at("data").at("cities"))
        keys.push_back(one.get<std::string>());
    }
    return keys;
  };
  const auto json = [](const std::string& ns, const std::string& name, const std::string& uid,
                       int version, const std::string& cities) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"{}","name":"{}","uid":"{}","resourceVersion":"{}"}},"data":{{"cities":[{}]}}}})",
        ns, name, uid, version, cities);
  };
  const std::string uuid = "8f14e45f-ceea-467f-a8d5-0123456789ab";
  store.begin_init();
  REQUIRE(store.init_apply(json("x", "a", uuid, 1, R"("Rome","Bern")")).ok());
  REQUIRE(store.init_apply(json("y", "a", "odd uid", 2, R"("Rome")")).ok());
  REQUIRE(store.init_apply(json("", "c", "", 3, "")).ok());
  store.add_index("city", city);
  store.finish_init("5");
  CHECK(store.find_uid(uuid)->meta.key() == ObjectKey{"x", "a"});
  CHECK(store.find_uid("odd uid")->meta.key() == ObjectKey{"y", "a"});
  CHECK_FALSE(store.find_uid(""));
  CHECK_FALSE(store.find_uid("8F14E45F-CEEA-467F-A8D5-0123456789AB"));
  CHECK(store.keys_in("x") == std::vector<ObjectKey>{{"x", "a"}});
  CHECK(store.keys_in("") == std::vector<ObjectKey>{{"", "c"}});
  CHECK(store.keys_in("z").empty());
  CHECK(store.keys_indexed("city", "Rome") == std::vector<ObjectKey>{{"x", "a"}, {"y", "a"}});
  CHECK(store.keys_indexed("city", "Bern").size() == 1);
  CHECK(store.keys_indexed("none", "Bern").empty());
  // Changes, relists and recreations move them.
  REQUIRE(store.apply(json("x", "a", "other", 6, R"("Oslo")")).ok());
  CHECK_FALSE(store.find_uid(uuid));
  CHECK(store.find_uid("other"));
  CHECK(store.keys_indexed("city", "Bern").empty());
  store.begin_init();
  REQUIRE(store.init_apply(json("x", "a", "other", 9, R"("Bern")")).ok());
  CHECK(store.keys_indexed("city", "Oslo").size() == 1);
  store.add_index("again", city);
  store.finish_init("9");
  CHECK(store.keys_indexed("city", "Bern").size() == 1);
  CHECK(store.keys_indexed("again", "Bern").size() == 1);
  CHECK(store.keys_indexed("again", "Oslo").empty());
  CHECK(store.keys_indexed("city", "Rome").empty());
  CHECK_FALSE(store.find_uid("odd uid"));
}

TEST_CASE("nobody is told of a first list before it is complete, at any step") {
  Store store;
  int ready = 0;
  store.on_ready([&] { ++ready; });
  const auto nothing = [&] {
    CHECK_FALSE(store.ready());
    CHECK(ready == 0);
    CHECK(store.size() == 0);
    CHECK(store.keys().empty());
    CHECK(store.keys_in("shop").empty());
    CHECK(store.keys_with_label("app", "web").empty());
    CHECK(store.keys_owned_by("rs1").empty());
    CHECK(store.select(*core::LabelSelector::parse("")).empty());
    CHECK_FALSE(store.contains(kA));
    CHECK_FALSE(store.get(kA));
    CHECK_FALSE(store.find_uid("u1"));
    CHECK(store.snapshot() == nullptr);
    int told = 0;
    store.tell_all([&](StoreChange&&) { ++told; });
    CHECK(told == 0);
  };
  nothing();
  store.begin_init();
  nothing();
  REQUIRE(store.init_apply(Pod{.owner = "rs1"}.json()).ok());
  nothing();
  REQUIRE(store.init_apply(Pod{.name = "phantom", .uid = "u2"}.json()).ok());
  nothing();
  store.begin_init();  // interrupted: what came is void
  nothing();
  REQUIRE(store.init_apply(Pod{.owner = "rs1"}.json()).ok());
  REQUIRE(store.apply(Pod{.name = "late", .uid = "u3"}.json()).ok());
  REQUIRE(store.apply(Pod{.name = "gone", .uid = "u4"}.json()).ok());
  REQUIRE(store.remove(Pod{.name = "gone", .uid = "u4"}.json()).ok());
  nothing();
  CHECK(show(store.finish_init("5")) == Lines{"added a u1 initial", "added late u3 initial"});
  CHECK(ready == 1);
  CHECK(store.size() == 2);
  store.on_ready([&] { ++ready; });
  CHECK(ready == 2);
}

TEST_CASE("objects unlike those before get a dictionary of their own, and all read back") {
  Store store;
  base::Random random(9);
  std::vector<std::string> words;
  for (int i = 0; i < 400; ++i) {
    std::string word;
    for (int n = 0; n < 12; ++n) word.push_back(static_cast<char>('a' + random.below(26)));
    words.push_back(word);
  }
  const auto json = [&](int i) {
    base::Random own(static_cast<std::uint64_t>(i));
    std::string text;
    const std::size_t from = i < 400 ? 0 : 200;  // two vocabularies
    for (int n = 0; n < 60; ++n) text += words[from + own.below(200)] + " ";
    return fmt::format(
        R"({{"metadata":{{"name":"o{}","uid":"u{}","resourceVersion":"{}"}},"data":{{"text":"{}"}}}})",
        i, i, i + 1, text);
  };
  store.begin_init();
  for (int i = 0; i < 400; ++i) REQUIRE(store.init_apply(json(i)).ok());
  store.finish_init("1");
  while (store.compact_some(50) > 0) {
  }
  CHECK(store.stats().dictionaries == 1);
  for (int i = 400; i < 4000; ++i) {
    REQUIRE(store.apply(json(i), nullptr).ok());
    store.compact_some(3);
  }
  CHECK(store.stats().dictionaries > 1);
  CHECK(store.stats().dictionaries < 5);
  while (store.compact_some(50) > 0) {
  }
  const double held = static_cast<double>(store.stats().held_bytes);
  CHECK(held < 0.45 * static_cast<double>(store.stats().json_bytes));
  for (int i = 0; i < 4000; ++i) REQUIRE(store.get({"", fmt::format("o{}", i)})->json == json(i));
}

// A table that knows no key is as slow as a list for names that were chosen by its hash.
TEST_CASE("names chosen by a hash that is known are found as fast as others") {
  constexpr std::size_t kNames = 4000;
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
  const std::hash<std::string_view> known;
  const auto time_of = [&](bool chosen) {
    Store store;
    store.begin_init();
    std::vector<ObjectKey> keys;
    for (int i = 0; keys.size() < kNames; ++i) {
      const std::string name = fmt::format("n{}", i);
      const std::uint64_t place = (known(name) * kMix + known("shop")) * kMix;
      if (chosen && place >> 57U != 0) continue;
      keys.push_back({"shop", name});
      REQUIRE(store.init_apply(Pod{.name = name, .uid = name}.json()).ok());
    }
    store.finish_init("1");
    const auto begin = std::chrono::steady_clock::now();
    for (const ObjectKey& key : keys) REQUIRE(store.contains(key));
    return std::chrono::steady_clock::now() - begin;
  };
  const auto usual = time_of(false);
  CHECK(time_of(true) < usual * 10 + std::chrono::milliseconds(20));
}
