// The kind that a hook means.
#include "compat/kinds.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using compat::find_kind;

namespace {

core::ResourceType type(const std::string& group, const std::string& version,
                        const std::string& kind, const std::string& plural,
                        std::vector<std::string> short_names = {}) {
  core::ResourceType out;
  out.gvk = {group, version, kind};
  out.plural = plural;
  out.singular = "";
  out.short_names = std::move(short_names);
  return out;
}

client::ResourceMap server() {
  client::ResourceMap out;
  out.add(type("", "v1", "Pod", "pods", {"po"}));
  out.add(type("", "v1", "Event", "events", {"ev"}));
  out.add(type("apps", "v1", "DaemonSet", "daemonsets", {"ds"}));
  out.add(type("apps", "v1beta1", "DaemonSet", "daemonsets", {"ds"}));
  out.add(type("events.k8s.io", "v1", "Event", "events", {"ev"}));
  return out;
}

}  // namespace

TEST_CASE("a kind is found by each of its names in any case") {
  for (const char* name : {"DaemonSet", "Daemonset", "daemonsets", "DaemonSets", "ds"}) {
    const auto found = find_kind(server(), "", name);
    INFO(name);
    REQUIRE(found.ok());
    CHECK(found->gvk.str() == "apps/v1 DaemonSet");
  }
}

TEST_CASE("a version picks the kind, and without one the server's order does") {
  CHECK(find_kind(server(), "apps/v1beta1", "ds")->gvk.version == "v1beta1");
  CHECK(find_kind(server(), "", "Event")->gvk.group.empty());
  CHECK(find_kind(server(), "events.k8s.io/v1", "Event")->gvk.group == "events.k8s.io");
}

TEST_CASE("a kind that is not there is told, and one that may be there is asked for again") {
  const auto missing = find_kind(server(), "apps/v1", "Pod");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().is_not_found());
  CHECK(missing.error().message() == "the server has no kind Pod in apps/v1");
  client::ResourceMap partial = server();
  partial.failed_groups.push_back("metrics.k8s.io/v1beta1: 503");
  CHECK(find_kind(partial, "", "PodMetrics").error().kind() == ErrorKind::unavailable);
}
