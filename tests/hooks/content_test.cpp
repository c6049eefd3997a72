// Small pure parts: what counts as a change, what map and refs mean, what is masked, what may be
// pruned.
#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/content_hash.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/pruner.hpp"
#include "hooks/secret_mask.hpp"
#include "hooks/targets.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Json website() {
  return {{"apiVersion", "demo.kubewatch.dev/v1"},
          {"kind", "Website"},
          {"metadata", {{"name", "a"}, {"resourceVersion", "1"}, {"generation", 1}}},
          {"spec", {{"title", "x"}}}};
}

}  // namespace

TEST_CASE("by default everything counts but status, counters and our own marks") {
  Rule rule;
  rule.finalizer_name = "kubewatch.dev/w";
  const ContentHash hash(rule);
  const auto before = hash.of(website());
  Json same = website();
  same["status"] = {{"ready", true}};
  same["metadata"]["resourceVersion"] = "2";
  same["metadata"]["generation"] = 2;
  same["metadata"]["finalizers"] = {"kubewatch.dev/w"};
  same["metadata"]["annotations"] = {{"kubewatch.dev/owner", "x"}};
  CHECK(hash.of(same) == before);
  CHECK_FALSE(hash.differs(website().dump(), same.dump(2)));
  for (const auto& [path, value] :
       std::vector<std::pair<std::string, Json>>{{"/spec/title", "y"},
                                                 {"/spec/more", Json::array()},
                                                 {"/data", {{"a", "b"}}},
                                                 {"/metadata/labels", {{"a", "b"}}},
                                                 {"/metadata/annotations", {{"note", "x"}}},
                                                 {"/metadata/finalizers", {"other/one"}}}) {
    INFO(path);
    Json changed = website();
    changed[Json::json_pointer(path)] = value;
    CHECK(hash.of(changed) != before);
    CHECK(hash.differs(website().dump(), changed.dump()));
    CHECK(hash.differs(changed.dump(), website().dump()));
  }
}

TEST_CASE("two texts of one object do not differ, and what does not parse does") {
  const ContentHash hash{Rule()};
  const std::string text = R"({"kind":"A","spec":{"a":1,"b":[1,"\u0041"]}})";
  CHECK_FALSE(hash.differs(text, text));
  CHECK_FALSE(hash.differs(text, R"({"spec": {"b": [1, "A"], "a": 1}, "kind": "A"})"));
  CHECK(hash.differs(text, R"({"kind":"A","spec":{"a":1,"b":["A",1]}})"));
  CHECK(hash.differs(text, R"({"kind":"A","spec":{"a":1,)"));
}

TEST_CASE("of metadata alone the generation counts, or the resourceVersion where there is none") {
  Rule rule;
  rule.for_.list.content = core::Content::metadata;
  const ContentHash hash(rule);
  const Json before = {{"kind", "Website"},
                       {"metadata", {{"name", "a"}, {"resourceVersion", "1"}, {"generation", 1}}}};
  Json status = before;
  status["metadata"]["resourceVersion"] = "2";
  CHECK(hash.of(status) == hash.of(before));
  CHECK_FALSE(hash.differs(before.dump(), status.dump()));
  Json spec = status;
  spec["metadata"]["generation"] = 2;
  CHECK(hash.of(spec) != hash.of(before));
  CHECK(hash.differs(before.dump(), spec.dump()));
  Json config = before;
  config["metadata"].erase("generation");
  Json data = config;
  data["metadata"]["resourceVersion"] = "2";
  CHECK(hash.of(data) != hash.of(config));
}

TEST_CASE("with `changed`, only its paths count") {
  Rule rule;
  rule.changed = {".spec", ".metadata.labels"};
  const ContentHash hash(rule);
  Json other = website();
  other["metadata"]["annotations"] = {{"note", "x"}};
  CHECK(hash.of(other) == hash.of(website()));
  other["other"] = "part";
  CHECK_FALSE(hash.differs(website().dump(), other.dump()));
  other["metadata"]["labels"] = {{"a", "b"}};
  CHECK(hash.of(other) != hash.of(website()));
}

TEST_CASE("a filter decides by truth, without one everything passes") {
  CHECK(*passes(std::nullopt, "{}"));
  const auto filter = std::make_optional(*jq::Program::compile(".spec.paused != true"));
  CHECK(*passes(filter, R"({"spec":{}})"));
  CHECK_FALSE(*passes(filter, R"({"spec":{"paused":true}})"));
  const auto broken = std::make_optional(*jq::Program::compile(".spec.a.b"));
  const auto failed = passes(broken, R"({"spec":{"a":"text"}})");
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().render().starts_with("filter: jq '" + broken->text() + "': "));
}

TEST_CASE("a program that fails is named once") {
  const auto failed = evaluate(*jq::Program::compile(".refs[]"), {{"refs", nullptr}});
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().render() == "jq '.refs[]': Cannot iterate over null (null)");
}

TEST_CASE("map and refs give one object, several, or nobody") {
  using Keys = std::vector<core::ObjectKey>;
  const auto read = [](Json value, bool namespaced = true) {
    return read_targets({std::move(value)}, namespaced, "shop");
  };
  CHECK(*read({{"name", "a"}, {"namespace", "blog"}}) == Keys{{"blog", "a"}});
  CHECK(*read({{"name", "a"}}) == Keys{{"shop", "a"}});
  CHECK(*read({{"name", "a"}, {"namespace", nullptr}}) == Keys{{"shop", "a"}});
  CHECK(*read({{"name", "a"}, {"namespace", "x"}}, false) == Keys{{"", "a"}});
  CHECK(*read(Json::array({{{"name", "b"}}, {{"name", "a"}}, {{"name", "b"}}})) ==
        Keys{{"shop", "a"}, {"shop", "b"}});
  CHECK(read(nullptr)->empty());
  CHECK(read({{"name", nullptr}, {"namespace", "x"}})->empty());
  CHECK_FALSE(read("a").ok());
  CHECK_FALSE(read({{"name", 5}}).ok());
}

TEST_CASE("a map or refs that gives a mapping without name is told so, with what it gave") {
  const auto read = [](Json value) { return read_targets({std::move(value)}, true, "shop"); };
  CHECK(read(Json::object())->empty());
  CHECK(read({{"name", nullptr}})->empty());
  CHECK(read({{"name", "a"}, {"key", "password"}, {"optional", true}})->size() == 1);
  for (const Json& value :
       {Json{{"selector", {{"app", "a"}}}}, Json{{"names", {"a", "b"}}}, Json{{"Name", "a"}},
        Json{{"namespace", "shop"}}, Json{{"names", nullptr}}}) {
    const std::string key = value.items().begin().key();
    for (const Json& given : {value, Json::array({value})}) {
      const auto failed = read(given);
      INFO(key);
      REQUIRE_FALSE(failed.ok());
      CHECK(failed.error().message().find("a mapping without name, of \"" + key + "\"") !=
            std::string::npos);
    }
  }
}

TEST_CASE("where it is no error, a mapping without name points at nobody, and others still count") {
  std::optional<Error> nameless;
  const Json given = Json::array({{{"names", {"a"}}}, {{"Name", "b"}}, {{"name", "c"}}});
  const auto targets = read_targets({given}, true, "shop", &nameless);
  REQUIRE(targets.ok());
  CHECK(*targets == std::vector<core::ObjectKey>{{"shop", "c"}});
  REQUIRE(nameless.has_value());
  CHECK(nameless->message().find("without name, of \"names\"") != std::string::npos);
  // What is wrong otherwise is an error as ever.
  CHECK_FALSE(read_targets({Json("a")}, true, "shop", &nameless).ok());
}

TEST_CASE("secret values are masked, encoded and decoded, line by line") {
  SecretMask mask;
  mask.add_json(R"({"kind":"Secret","data":{"p":")" + base::base64_encode("hunter2hunter2") +
                R"(","s":"eA=="},"stringData":{"k":"first line\nsecond line"}})");
  CHECK(mask.mask("pass hunter2hunter2 end") == "pass *** end");
  CHECK(mask.mask(base::base64_encode("hunter2hunter2")) == "***");
  CHECK(mask.mask("the second line here") == "the *** here");
  CHECK(mask.mask("x stays") == "x stays");
}

TEST_CASE("what kubectl applied last of a Secret is masked as what it holds now") {
  SecretMask mask;
  const Json applied = {{"kind", "Secret"},
                        {"data", {{"p", base::base64_encode("hunter2hunter2")}}},
                        {"stringData", {{"q", "swordfish"}}}};
  const auto holding = [](const std::string& annotation) {
    return Json{
        {"kind", "Secret"},
        {"metadata",
         {{"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", annotation}}}}}};
  };
  mask.add_object(holding(base::dump_json(applied)));
  CHECK(mask.mask("hunter2hunter2, " + base::base64_encode("hunter2hunter2")) == "***, ***");
  CHECK(mask.mask("swordfish, " + base::base64_encode("swordfish")) == "***, ***");
  mask.add_object(holding("no JSON"));
  mask.add_object(holding("[7]"));
  CHECK(mask.mask("no JSON") == "no JSON");
}

TEST_CASE("values of other kinds are no secrets") {
  SecretMask mask;
  mask.add_json(R"({"kind":"ConfigMap","data":{"p":"hunter2hunter2"},"x":"Secret"})");
  CHECK(mask.mask("hunter2hunter2") == "hunter2hunter2");
}

TEST_CASE("only our own, still applied, unprotected children are pruned") {
  Rule rule;
  rule.name = "website";
  rule.apply.field_manager = "kubewatch/website";
  const Owner owner{{"demo.kubewatch.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
  const Json ours = {
      {"kind", "ConfigMap"},
      {"metadata",
       {{"name", "c"},
        {"labels", {{"kubewatch.dev/controller", "website"}, {"kubewatch.dev/owner-uid", "uid-1"}}},
        {"managedFields",
         Json::array({{{"manager", "kubewatch/website"}, {"operation", "Apply"}}})}}}};
  const auto prunable = [&](const Json& object, PruneMode mode = PruneMode::unprinted) {
    return is_prunable(object, core::meta_of(object), rule, owner, mode);
  };
  CHECK(prunable(ours));
  Json changed = ours;
  changed["metadata"]["labels"]["kubewatch.dev/owner-uid"] = "uid-2";
  CHECK_FALSE(prunable(changed));
  changed = ours;
  changed["metadata"]["labels"]["kubewatch.dev/controller"] = "blog";
  CHECK_FALSE(prunable(changed));
  changed = ours;
  changed["metadata"]["annotations"]["kubewatch.dev/prune"] = "disabled";
  CHECK_FALSE(prunable(changed));
  changed = ours;
  changed["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  CHECK_FALSE(prunable(changed));
  changed = ours;
  changed["metadata"]["managedFields"][0]["manager"] = "kubectl";
  CHECK_FALSE(prunable(changed));
  changed["metadata"]["managedFields"][0] = {{"manager", "kubewatch/website"},
                                             {"operation", "Update"}};
  CHECK_FALSE(prunable(changed));
  CHECK(prunable(changed, PruneMode::all));
  CHECK(prunable(ours, PruneMode::unreferenced));
  changed = ours;
  changed["metadata"]["ownerReferences"] = Json::array({{{"uid", "uid-1"}}});
  CHECK_FALSE(prunable(changed, PruneMode::unreferenced));
}
