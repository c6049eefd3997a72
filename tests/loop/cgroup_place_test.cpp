// Whether cgroups are ours to use, from texts as kernels write them.
#include "loop/cgroup_place.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::loop;

namespace {

const char* const kUnified =
    "24 31 0:22 / /proc rw,nosuid shared:5 - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

std::string why(const Result<OwnCgroup>& own) {
  return own.ok() ? "found " + own->path : own.error().render();
}

std::string why(const Result<CgroupPlace>& place) {
  return place.ok() ? "chosen " + place->path : place.error().render();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A service with Delegate=yes that is alone in its cgroup.
CgroupFacts delegated() {
  CgroupFacts facts;
  facts.own = {
      "/sys/fs/cgroup/system.slice/kubewatch.service",      "domain", "cpu io memory pids\n",
      {{100, true, "kubewatch"}, {101, true, "kubewatch"}}, true,     true};
  facts.above = CgroupFolder{
      "/sys/fs/cgroup/system.slice", "domain", "cpu io memory pids\n", {}, true, false};
  facts.systemd = true;
  return facts;
}

}  // namespace

TEST_CASE("our cgroup is found where it is mounted") {
  auto own = find_own_cgroup("0::/system.slice/kubewatch.service\n", kUnified);
  REQUIRE(own.ok());
  CHECK(own->path == "/sys/fs/cgroup/system.slice/kubewatch.service");
  CHECK_FALSE(own->topmost);
  own = find_own_cgroup("0::/\n", kUnified);
  REQUIRE(own.ok());
  CHECK(own->path == "/sys/fs/cgroup");
  CHECK(own->topmost);
  // A container that sees the names of its host, whose own folder alone is mounted.
  own = find_own_cgroup("0::/kubepods/pod1/c1\n",
                        "9 8 0:26 /kubepods/pod1/c1 /sys/fs/cgroup ro - cgroup2 cgroup ro\n");
  REQUIRE(own.ok());
  CHECK(own->path == "/sys/fs/cgroup");
  CHECK(own->topmost);
  own = find_own_cgroup("4:memory:/x\n0::/a b\n",
                        "9 8 0:26 / /run/my\\040cgroups rw - cgroup2 cgroup rw\n");
  REQUIRE(own.ok());
  CHECK(own->path == "/run/my cgroups/a b");
}

TEST_CASE("without a visible cgroup of version 2 it is said why") {
  CHECK(has(why(find_own_cgroup("4:memory:/\n1:cpu:/\n", kUnified)), "in no cgroup of version 2"));
  CHECK(has(why(find_own_cgroup("", kUnified)), "in no cgroup of version 2"));
  CHECK(has(why(find_own_cgroup("0::/x\n", "24 31 0:22 / /proc rw - proc proc rw\n")),
            "not mounted"));
  // "cgroup2" as the source of another file system.
  CHECK(
      has(why(find_own_cgroup("0::/x\n", "1 2 0:3 / /m rw - tmpfs cgroup2 rw\n")), "not mounted"));
  CHECK(has(why(find_own_cgroup("0::/../other\n", kUnified)), "/../other"));
  CHECK(
      has(why(find_own_cgroup("0::/podman\n", "9 8 0:26 /pod /sys/fs/cgroup rw - cgroup2 c rw\n")),
          "not among what is mounted"));
}

TEST_CASE("a delegated cgroup in which we are alone is taken, and left for a folder below") {
  const auto place = choose_cgroup(delegated());
  INFO(why(place));
  REQUIRE(place.ok());
  CHECK(place->path == "/sys/fs/cgroup/system.slice/kubewatch.service");
  CHECK(place->controllers.memory);
  CHECK(place->controllers.pids);
  CHECK(place->move);
}

TEST_CASE("one controller is enough, none is not") {
  CgroupFacts facts = delegated();
  facts.own.controllers = "pids\n";
  auto place = choose_cgroup(facts);
  REQUIRE(place.ok());
  CHECK_FALSE(place->controllers.memory);
  CHECK(place->controllers.pids);
  // Both are used by version 1, as in a hybrid system.
  facts.own.controllers = "hugetlb memory_other\n";
  CHECK(has(why(choose_cgroup(facts)), "neither the memory nor the pids controller"));
}

TEST_CASE("below a delegated unit we stay where systemd has put us") {
  CgroupFacts facts = delegated();
  facts.above = facts.own;
  facts.above->members.clear();
  facts.own.path += "/main";
  facts.own.delegated = false;
  // Others in our folder do not matter: nobody is moved.
  facts.own.members.push_back({7, false, "sh"});
  const auto place = choose_cgroup(facts);
  INFO(why(place));
  REQUIRE(place.ok());
  CHECK(place->path == "/sys/fs/cgroup/system.slice/kubewatch.service");
  CHECK_FALSE(place->move);
  // A unit of its own, below the folder that was given to a user's systemd.
  CgroupFacts unit = facts;
  unit.own.path = "/sys/fs/cgroup/user.slice/user@7.service/kubewatch.scope";
  unit.above->path = "/sys/fs/cgroup/user.slice/user@7.service";
  CHECK(has(why(choose_cgroup(unit)), "kubewatch.scope is systemd's own"));
  facts.above->members.push_back({8, true, "kubewatch"});
  CHECK(has(why(choose_cgroup(facts)), "kubewatch (8)"));
}

TEST_CASE("what was not given to us is not touched, and the reason names it") {
  CgroupFacts facts = delegated();
  facts.own.writable = false;
  CHECK(has(why(choose_cgroup(facts)), "kubewatch.service is not delegated"));

  // A root user could write.
  facts = delegated();
  facts.own.delegated = false;
  CHECK(has(why(choose_cgroup(facts)), "systemd's own, not delegated (Delegate=yes)"));
  // In a container there is no systemd that would mind.
  facts.systemd = false;
  CHECK(choose_cgroup(facts).ok());

  facts = delegated();
  facts.own.type = "threaded";
  CHECK(has(why(choose_cgroup(facts)), "\"threaded\""));

  facts = delegated();
  facts.clones_into = false;
  CHECK(has(why(choose_cgroup(facts)), "clone3"));
}

TEST_CASE("other processes in our cgroup are named, and nothing is done") {
  CgroupFacts facts = delegated();
  facts.own.members.push_back({200, false, "bash"});
  CHECK(has(why(choose_cgroup(facts)),
            "other processes are in /sys/fs/cgroup/system.slice/"
            "kubewatch.service: bash (200)"));
  facts.own.members.push_back({0, false, ""});
  facts.own.members.push_back({201, false, "ps"});
  facts.own.members.push_back({202, false, "less"});
  const std::string text = why(choose_cgroup(facts));
  CHECK(has(text, "bash (200), one that is not visible from here, ps (201) and 1 more"));
  CHECK_FALSE(has(text, "kubewatch ("));
}
