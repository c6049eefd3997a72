// What counts as having what was expected; end states that are compared.
#include "rehearsal/matcher.hpp"

#include "base/yaml.hpp"
#include "rehearsal/snapshot.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

Json yaml(std::string_view text) {
  auto documents = base::parse_yaml_values(text);
  REQUIRE(documents.ok());
  return documents->at(0);
}

std::string first(std::string_view expected, std::string_view actual) {
  const auto differences = compare(yaml(expected), yaml(actual));
  return differences.empty() ? "" : differences[0].path + ": " + differences[0].message;
}

}  // namespace

TEST_CASE("an object may have more than what is expected of it") {
  CHECK(first("{spec: {replicas: 2}}", "{spec: {replicas: 2, paused: true}, status: {}}").empty());
  CHECK(first("{spec: {replicas: 3}}", "{spec: {replicas: 2}}") ==
        ".spec.replicas: expected 3, got 2");
  CHECK(first("{a: {b: 1}}", "{a: {}}") == ".a.b: expected 1, but it is not there");
  CHECK(first("{a: '1'}", "{a: 1}") == ".a: expected \"1\", got 1");
}

TEST_CASE("null means that a field is absent") {
  CHECK(first("{spec: {paused: null}}", "{spec: {}}").empty());
  CHECK(first("{spec: {paused: null}}", "{spec: {paused: true}}") ==
        ".spec.paused: expected not to be there, got true");
}

TEST_CASE("items are found by name, type or key, in any order and among others") {
  CHECK(first("[{type: Ready, status: 'True'}]",
              "[{type: Stale, status: 'False'}, {type: Ready, status: 'True', reason: Up}]")
            .empty());
  CHECK(first("{c: [{name: web, image: a}]}", "{c: [{name: log}, {name: web, image: b}]}") ==
        ".c[name=web].image: expected \"a\", got \"b\"");
  CHECK(first("[{name: web}]", "[{name: log}]") == "[name=web]: expected, but it is not there");
}

TEST_CASE("items that share their key are each found by what they have, in any order") {
  const char* const dns = "[{name: dns, protocol: TCP, port: 53}, {name: dns, protocol: UDP}]";
  const char* const turned = "[{name: dns, protocol: UDP}, {name: dns, protocol: TCP, port: 53}]";
  for (const char* const expected : {dns, turned}) {
    for (const char* const actual : {dns, turned}) CHECK(first(expected, actual).empty());
  }
  // The first fits both, the second one alone.
  CHECK(first("[{name: dns}, {name: dns, protocol: TCP}]", dns).empty());
  CHECK(first("[{name: dns}, {name: dns, protocol: TCP}]", turned).empty());
  CHECK(first("[{name: dns, protocol: UDP}]", dns).empty());
  CHECK(first("[{name: dns, protocol: SCTP}]", dns) ==
        "[name=dns].protocol: expected \"SCTP\", got \"TCP\"");
  // The nearest is told of.
  CHECK(first("[{name: dns, protocol: UDP, port: 54}]", dns) ==
        "[name=dns].port: expected 54, but it is not there");
  CHECK(first("[{name: dns}, {name: dns, protocol: SCTP}]", dns) ==
        "[name=dns].protocol: expected \"SCTP\", got \"TCP\"");
  CHECK(first("[{name: a, v: 1}, {name: a, v: 1}]", "[{name: a, v: 1}, {name: a, v: 2}]") ==
        "[name=a].v: expected 1, got 2");
  CHECK(first("[{name: a}, {name: a}]", "[{name: a}]") ==
        "[name=a]: expected, but it is not there");
  const auto found = compare(yaml("[{name: a, v: 1}, {name: a, v: 3}]"),
                             yaml("[{name: a, v: 1}, {name: a, v: 2}]"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].pointer == "/1/v");
  CHECK(found[0].message == "expected 3, got 2");
}

TEST_CASE("other lists must be equal in length, item by item") {
  CHECK(first("[1, 2]", "[1, 2]").empty());
  CHECK(first("[1]", "[1, 2]") == ".: expected 1 items, got 2: [1,2]");
  CHECK(first("[{a: 1}, {a: 2}]", "[{a: 1, b: 1}, {a: 3}]") == "[1].a: expected 2, got 3");
  CHECK(first("[]", "[1]") == ".: expected 0 items, got 1: [1]");
}

TEST_CASE("a difference points at what was expected") {
  const auto found =
      compare(yaml("{metadata: {labels: {a/b: x}}}"), yaml("{metadata: {labels: {a/b: y}}}"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].pointer == "/metadata/labels/a~1b");
  CHECK(found[0].path == ".metadata.labels[\"a/b\"]");
}

TEST_CASE("end states are equal when only uids, versions and times differ") {
  const auto owner = [](const char* uid) {
    return Json{{"kind", "Site"}, {"metadata", {{"name", "a"}, {"uid", uid}}}};
  };
  const auto child = [](const char* uid, const char* time, const char* version) {
    return Json{
        {"kind", "ConfigMap"},
        {"metadata", {{"name", "c"}, {"resourceVersion", version}, {"labels", {{"owner", uid}}}}},
        {"data", {{"made", time}}}};
  };
  const auto one = snapshot_of({owner("u1"), child("u1", "2026-01-01T00:00:00Z", "5")});
  const auto two = snapshot_of({owner("u2"), child("u2", "2026-01-02T00:00:00Z", "9")});
  CHECK(snapshot_differences(one, two).empty());
  // A child that names somebody else's uid is another child.
  const auto three = snapshot_of({owner("u2"), child("u1", "2026-01-02T00:00:00Z", "9")});
  CHECK(snapshot_differences(one, three).size() == 1);
}

TEST_CASE("what is missing, too much or changed in an end state is named") {
  const Json a = {{"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", {{"k", "1"}}}};
  Json more = a;
  more["data"]["x"] = "2";
  const Json b = {{"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}};
  CHECK(snapshot_differences(snapshot_of({a}), snapshot_of({b})) ==
        std::vector<std::string>{"ConfigMap a is missing", "ConfigMap b should not be there"});
  CHECK(snapshot_differences(snapshot_of({a}), snapshot_of({more})) ==
        std::vector<std::string>{"ConfigMap a: .data.x: should not be there"});
  const Json event = {{"kind", "Event"}, {"metadata", {{"name", "e"}}}};
  CHECK(snapshot_of({event}).empty());
}
