// What a rule's caches know before any stream is open: kinds that are missing, and whether that can
// be trusted.
#include "hooks/caches.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ResourceType type(const std::string& group, const std::string& kind,
                        const std::string& plural) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.plural = plural;
  out.namespaced = true;
  return out;
}

Rule rule() {
  Rule out;
  out.name = "website";
  out.for_.gvk = {"demo.dev", "v1", "Website"};
  WritesRule writes;
  writes.gvk = {"late.dev", "v1", "Thing"};
  out.writes.push_back(writes);
  return out;
}

client::ResourceMap with_websites() {
  client::ResourceMap out;
  out.add(type("demo.dev", "Website", "websites"));
  return out;
}

const Owner kOwner{{"demo.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};

}  // namespace

TEST_CASE("a written kind that the server gets later is looked for again, and then searched") {
  const Rule website = rule();
  RuleCaches caches(website, {});
  client::ResourceMap resources = with_websites();
  REQUIRE(caches.resolve(resources).ok());
  CHECK(caches.unwatched_places(kOwner).empty());
  const auto still_missing = caches.resolve_writes(resources);
  REQUIRE(still_missing.ok());
  CHECK_FALSE(*still_missing);

  resources.add(type("late.dev", "Thing", "things"));
  const auto found = caches.resolve_writes(resources);
  REQUIRE(found.ok());
  CHECK(*found);
  const auto places = caches.unwatched_places(kOwner);
  REQUIRE(places.size() == 1);
  CHECK(places[0].type.gvk.kind == "Thing");
  CHECK(places[0].namespace_ == "shop");
}

TEST_CASE("where children refer to their owner they are looked for only where all are to go") {
  Rule website = rule();
  website.writes.clear();
  website.owns.emplace_back();
  website.owns[0].stream.gvk = {"late.dev", "v1", "Thing"};
  RuleCaches caches(website, {});
  client::ResourceMap resources = with_websites();
  resources.add(type("late.dev", "Thing", "things"));
  REQUIRE(caches.resolve(resources).ok());
  CHECK(caches.unwatched_places(kOwner).empty());
  const auto places = caches.unwatched_places(kOwner, false, true);
  REQUIRE(places.size() == 1);
  CHECK(places[0].namespace_ == "shop");
}

TEST_CASE("a written kind whose group could not be discovered is an error, not an absence") {
  const Rule website = rule();
  RuleCaches caches(website, {});
  client::ResourceMap resources = with_websites();
  resources.failed_groups.push_back("late.dev/v1: 503 the aggregated server is down");
  REQUIRE(caches.resolve(resources).ok());
  const auto unknown = caches.resolve_writes(resources);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().kind() == ErrorKind::unavailable);
  CHECK(unknown.error().message().find("late.dev/v1") != std::string::npos);
  CHECK(unknown.error().message().find("Thing") != std::string::npos);

  // The core group has no name to look for.
  Rule maps = rule();
  maps.writes[0].gvk = {"", "v1", "ConfigMap"};
  RuleCaches core_caches(maps, {});
  resources.failed_groups = {"v1: 503 it starts"};
  REQUIRE(core_caches.resolve(resources).ok());
  CHECK_FALSE(core_caches.resolve_writes(resources).ok());
  // A failure of another group says nothing of it.
  resources.failed_groups = {"late.dev/v1: 503"};
  CHECK(core_caches.resolve_writes(resources).ok());
}
