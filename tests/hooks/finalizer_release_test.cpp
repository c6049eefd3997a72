// Finalizers of controllers that are gone: which are let go, and how.
#include "hooks/finalizer_release.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "client/rig.hpp"
#include "client/write_gate.hpp"
#include "hooks/metadata_page.hpp"
#include "hooks/orphaned_finalizers.hpp"
#include "hooks/rule_kinds.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kWebsite{"demo.dev", "v1", "Website"};

Rule rule(const std::string& name) {
  Rule out;
  out.name = out.document = name;
  out.for_.gvk = kWebsite;
  out.finalizer_name = "kubewatch.dev/" + name;
  out.apply.field_manager = "kubewatch/" + name;
  return out;
}

ReleaseTarget target() {
  core::ResourceType type = test::kPods;
  type.gvk = kWebsite;
  type.plural = "websites";
  return {"website", type, {}, "kubewatch.dev/website", "kubewatch/website"};
}

std::string item(const std::string& name, const std::string& finalizers) {
  return R"({"metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":"u","resourceVersion":"4","finalizers":)" + finalizers +
         "}}";
}

}  // namespace

TEST_CASE("a finalizer is orphaned when no rule guards the same kind with it any more") {
  const Rule website = rule("website");
  CHECK(orphans_finalizer(website, {}));
  CHECK(orphans_finalizer(website, {rule("other")}));
  // Changed or renamed: the new rule decides.
  CHECK_FALSE(orphans_finalizer(website, {rule("website")}));
  Rule renamed = rule("site");
  renamed.finalizer_name = website.finalizer_name;
  CHECK_FALSE(orphans_finalizer(website, {renamed}));
  // Of another kind it does not see what the old one left.
  renamed.for_.gvk.kind = "Page";
  CHECK(orphans_finalizer(website, {renamed}));

  Rule keep = website;
  keep.when_removed = WhenRemoved::keep;
  CHECK_FALSE(orphans_finalizer(keep, {}));
  Rule bare = website;
  bare.has_for = false;
  CHECK_FALSE(orphans_finalizer(bare, {}));

  Rule group = rule("website");
  group.for_.gvk = {"demo.dev", "", ""};
  group.for_.every_kind = true;
  StreamRule kind = website.for_;
  const Rule made = rule_of_kind(group, kind);
  CHECK_FALSE(orphans_finalizer(made, {group}));
  CHECK(orphans_finalizer(website, {group}));
  // The group's controller gives way, and waits: who it waits for decides, if it sees the objects.
  Rule own = rule(made.name);
  CHECK_FALSE(orphans_finalizer(made, {group, own}));
  own.finalizer_name = "demo.dev/own";
  CHECK(orphans_finalizer(made, {group, own}));
  own.name = own.apply.field_manager = "own";
  CHECK_FALSE(orphans_finalizer(made, {group, own}));
  own.apply.field_manager = made.apply.field_manager;
  CHECK(orphans_finalizer(made, {own, group}));
}

TEST_CASE("every page is read, and only objects with the finalizer are patched") {
  test::Rig rig;
  base::Random random(1);
  rig.transport.answer(200, test::metadata_page(item("a", R"(["x/y","kubewatch.dev/website"])") +
                                                    "," + item("b", R"(["x/y"])"),
                                                "next"));
  rig.transport.answer(200, R"({"metadata":{"name":"a"}})");
  rig.transport.answer(200, test::metadata_page(item("c", R"(["kubewatch.dev/website"])")));
  rig.transport.answer(404, R"({"kind":"Status","code":404,"reason":"NotFound"})");
  FinalizerRelease release(rig.client, random, target());
  bool done = false;
  release.start([&] { done = true; });
  for (int i = 0; i < 20 && !done; ++i) rig.run();
  CHECK(done);
  REQUIRE(rig.transport.size() == 4);
  CHECK(rig.transport.call(0).line() == "GET /apis/demo.dev/v1/websites?limit=500");
  CHECK(rig.transport.call(1).line() ==
        "PATCH /apis/demo.dev/v1/namespaces/shop/websites/a?fieldManager=kubewatch%2Fwebsite");
  CHECK(rig.transport.call(2).line() == "GET /apis/demo.dev/v1/websites?continue=next&limit=500");
  CHECK(rig.transport.call(3).path() == "/apis/demo.dev/v1/namespaces/shop/websites/c");
  const auto patch = base::parse_json(rig.transport.request(1).body);
  REQUIRE(patch.ok());
  // It tests what it was made for, and leaves the others.
  CHECK(patch->front()["op"] == "test");
  CHECK(patch->back() == Json{{"op", "remove"}, {"path", "/metadata/finalizers/1"}});
}

TEST_CASE("that a finalizer was taken off is told where there was one") {
  const bool carries = GENERATE(true, false);
  test::Rig rig;
  base::Random random(1);
  rig.transport.answer(
      200, test::metadata_page(carries ? item("a", R"(["kubewatch.dev/website"])") : ""));
  if (carries) rig.transport.answer(200, R"({"metadata":{"name":"a"}})");
  std::vector<std::string> logged;
  base::capture_log(&logged);
  FinalizerRelease release(rig.client, random, target());
  bool done = false;
  release.start([&] { done = true; });
  for (int i = 0; i < 20 && !done; ++i) rig.run();
  base::capture_log(nullptr);
  CHECK(done);
  CHECK(logged.size() == (carries ? 1 : 0));
}

TEST_CASE("a namespace that may not be listed keeps no other from being let go") {
  test::Rig rig;
  base::Random random(1);
  rig.transport.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden"})");
  rig.transport.answer(200, test::metadata_page(item("a", R"(["kubewatch.dev/website"])")));
  rig.transport.answer(200, R"({"metadata":{"name":"a"}})");
  ReleaseTarget two = target();
  two.namespaces = {"closed", "shop"};
  FinalizerRelease release(rig.client, random, two);
  release.start([] {});
  for (int i = 0; i < 20 && rig.transport.size() < 3; ++i) rig.run();
  REQUIRE(rig.transport.size() == 3);
  CHECK(rig.transport.call(0).path() == "/apis/demo.dev/v1/namespaces/closed/websites");
  CHECK(rig.transport.call(2).line().starts_with(
      "PATCH /apis/demo.dev/v1/namespaces/shop/websites/a?"));
}

TEST_CASE("orphans are let go once their controller has ended, unless a rule guards them again") {
  test::Rig rig;
  base::Random random(1);
  int progress = 0;
  OrphanedFinalizers orphans(rig.client, random, [&] { ++progress; });
  client::ResourceMap resources;
  resources.add(target().type);
  const Rule website = rule("website");
  const std::vector<const Rule*> ending = {&website};

  orphans.reload(ending, {}, &resources);
  CHECK_FALSE(orphans.empty());
  for (int i = 0; i < 3; ++i) rig.run();
  CHECK(rig.transport.size() == 0);
  // It is back before its controller has ended.
  orphans.reload({}, {rule("website")}, &resources);
  CHECK(orphans.empty());
  orphans.ended("website");
  for (int i = 0; i < 3; ++i) rig.run();
  CHECK(rig.transport.size() == 0);

  orphans.reload(ending, {}, &resources);
  orphans.ended("other");
  orphans.ended("website");
  rig.transport.answer(200, test::metadata_page(""));
  for (int i = 0; i < 10 && !orphans.empty(); ++i) rig.run();
  CHECK(orphans.empty());
  CHECK(progress == 1);
  CHECK(rig.transport.size() == 1);

  // A process that ends leaves them.
  orphans.reload(ending, {}, &resources);
  orphans.ended("website");
  orphans.stop();
  CHECK(orphans.empty());
  for (int i = 0; i < 3; ++i) rig.run();
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("what ends twice, as it was changed and then removed, is let go once") {
  test::Rig rig;
  base::Random random(1);
  OrphanedFinalizers orphans(rig.client, random, [] {});
  client::ResourceMap resources;
  resources.add(target().type);
  const Rule website = rule("website");
  for (int i = 0; i < 2; ++i) orphans.reload({&website}, {}, &resources);
  orphans.ended("website");
  rig.transport.answer(200, test::metadata_page(""));
  for (int i = 0; i < 10 && !orphans.empty(); ++i) rig.run();
  CHECK(orphans.empty());
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("a removed rule whose kind was in no shard of namespaces lets nothing go") {
  test::Rig rig;
  base::Random random(1);
  OrphanedFinalizers orphans(rig.client, random, [] {});
  Rule website = rule("website");
  website.for_.namespaces = {"shop"};
  website.for_.shard_namespaces = true;
  const auto orphaned = [&](bool namespaced) {
    client::ResourceMap resources;
    core::ResourceType type = target().type;
    type.namespaced = namespaced;
    resources.add(type);
    orphans.reload({&website}, {}, &resources);
    return !orphans.empty();
  };
  CHECK_FALSE(orphaned(false));
  CHECK(orphaned(true));
}

TEST_CASE("of a kind that the server does not tell now it is said that nothing is let go") {
  test::Rig rig;
  base::Random random(1);
  OrphanedFinalizers orphans(rig.client, random, [] {});
  Rule website = rule("website");
  client::ResourceMap resources;
  const auto warnings = [&](const client::ResourceMap* of) {
    std::vector<std::string> logged;
    base::capture_log(&logged);
    orphans.reload({&website}, {}, of);
    base::capture_log(nullptr);
    return logged.size();
  };
  // Without children elsewhere and `finalize` there is no finalizer.
  CHECK(warnings(nullptr) == 0);
  website.finalize.emplace();
  CHECK(warnings(nullptr) == 1);
  CHECK(warnings(&resources) == 0);
  resources.failed_groups.push_back("demo.dev/v1: 503 the aggregated server is down");
  CHECK(warnings(&resources) == 1);
  CHECK(orphans.empty());
}

TEST_CASE("an orphan that another instance was to let go is looked at again with the lead") {
  struct Gate : client::WriteGate {
    Result<Duration> admit() override {
      if (open) return Duration{1000};
      return Error(ErrorKind::canceled, "not the leader");
    }
    bool open = false;
  };
  Gate gate;
  test::Rig rig;
  rig.client.set_write_gate(&gate);
  base::Random random(1);
  OrphanedFinalizers orphans(rig.client, random, [] {});
  client::ResourceMap resources;
  resources.add(target().type);
  const Rule website = rule("website");
  orphans.reload({&website}, {}, &resources);
  orphans.ended("website");
  for (int i = 0; i < 3; ++i) rig.run();
  CHECK(rig.transport.size() == 0);
  SECTION("it leads") {
    gate.open = true;
    rig.transport.answer(200, test::metadata_page(item("a", R"(["kubewatch.dev/website"])")));
    rig.transport.answer(200, R"({"metadata":{"name":"a"}})");
    orphans.lead();
    for (int i = 0; i < 20 && !orphans.empty(); ++i) rig.run();
    CHECK(rig.transport.size() == 2);
  }
  SECTION("it leads with a rule that guards them again") {
    orphans.reload({}, {rule("website")}, &resources);
    gate.open = true;
    orphans.lead();
    for (int i = 0; i < 3; ++i) rig.run();
    CHECK(rig.transport.size() == 0);
  }
  rig.client.set_write_gate(nullptr);
}
