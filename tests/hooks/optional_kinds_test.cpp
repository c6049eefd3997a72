// Kinds that may be missing: what a rule does without them, and when it starts anew.
#include "hooks/optional_kinds.hpp"

#include "hooks/caches.hpp"
#include "hooks/health.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kExtra{"extra.dev", "v1", "Extra"};

core::ResourceType type(const std::string& group, const std::string& version,
                        const std::string& kind, const std::string& plural) {
  core::ResourceType out;
  out.gvk = {group, version, kind};
  out.plural = plural;
  out.namespaced = true;
  return out;
}

client::ResourceMap server(bool with_extra, const std::string& version = "v1") {
  client::ResourceMap out;
  out.add(type("demo.dev", "v1", "Website", "websites"));
  if (with_extra) out.add(type("extra.dev", version, "Extra", "extras"));
  return out;
}

client::ResourceMap unsure() {
  client::ResourceMap out = server(false);
  out.failed_groups.push_back("extra.dev/v1: 503");
  return out;
}

Rule rule(bool optional) {
  Rule out;
  out.name = "website";
  out.for_.gvk = {"demo.dev", "v1", "Website"};
  OwnsRule owns;
  owns.stream.gvk = kExtra;
  owns.stream.optional = optional;
  out.owns.push_back(owns);
  WatchesRule watches;
  watches.name = "extras";
  watches.stream = owns.stream;
  watches.map_all = true;
  out.watches.push_back(watches);
  return out;
}

}  // namespace

TEST_CASE("a missing kind holds the rule unless it is optional: then its lists are absent") {
  const Rule strict = rule(false);
  RuleCaches held(strict, {});
  const auto refused = held.resolve(server(false));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().is_not_found());

  const Rule lenient = rule(true);
  RuleCaches caches(lenient, {});
  REQUIRE(caches.resolve(server(false)).ok());
  const auto owned = caches.owned("uid-1");
  const auto related = caches.related({"shop", "a"});
  REQUIRE(owned.size() == 1);
  REQUIRE(related.size() == 1);
  for (const InputList& list : {owned[0], related[0]}) {
    CHECK(list.absent);
    CHECK(list.objects.empty());
    CHECK(list.gvk == kExtra);
  }
  CHECK(related[0].name == "extras");
  const std::string ours(kControllerLabel);
  CHECK(caches.views_of(child_id(kExtra, {"shop", "x"}), {{ours, lenient.name}}).empty());
  const Owner owner{lenient.for_.gvk, true, {"shop", "a"}, "uid-1", false};
  CHECK(caches.unwatched_places(owner).empty());
  // Its group did not answer: nobody knows.
  CHECK_FALSE(caches.resolve(unsure()).ok());
  // It is there in another version: the rule is wrong.
  CHECK_FALSE(caches.resolve(server(true, "v2")).ok());
  REQUIRE(caches.resolve(server(true)).ok());
  CHECK_FALSE(caches.owned("uid-1")[0].absent);
}

TEST_CASE("a kind that comes restarts the rule at once, one that goes when it is missing twice") {
  OptionalKinds kinds;
  kinds.start(rule(true), server(false));
  CHECK_FALSE(kinds.look(server(false)));
  CHECK_FALSE(kinds.look(unsure()));
  CHECK(kinds.look(server(true)));

  kinds.start(rule(true), server(true));
  CHECK_FALSE(kinds.look(server(true)));
  CHECK_FALSE(kinds.look(server(false)));
  // One server was behind.
  CHECK_FALSE(kinds.look(server(true)));
  CHECK_FALSE(kinds.look(server(false)));
  CHECK_FALSE(kinds.look(unsure()));
  CHECK(kinds.look(server(false)));
}

TEST_CASE("kinds that are not optional, and those of a whole group, restart nothing") {
  CHECK(optional_kinds(rule(false)).empty());
  Rule group = rule(false);
  group.for_.every_kind = true;
  group.for_.optional = true;
  CHECK(optional_kinds(group).empty());
  group.for_.every_kind = false;
  CHECK(optional_kinds(group) == std::vector<core::Gvk>{group.for_.gvk});
}

TEST_CASE("a controller whose optional kind is absent does not hold readiness") {
  EngineFacts facts;
  facts.discovered = true;
  facts.controllers.resize(1);
  facts.controllers[0].controller = "extras";
  CHECK_FALSE(judge_readiness(facts, {}).ok());
  facts.controllers[0].absent = true;
  CHECK(judge_readiness(facts, {}).ok());
}
