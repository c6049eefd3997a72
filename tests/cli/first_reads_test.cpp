// Many objects are read by one list, and what it does not tell is left to be asked.
#include "cli/apply/first_reads.hpp"

#include "client/rig.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;
using namespace kubewatch::test;

namespace {

const core::ResourceType kMaps{
    {"", "v1", "ConfigMap"}, "configmaps", "configmap", true, {}, {}, {"get", "list"}, {}};

constexpr const char* kList =
    R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)"
    R"({"metadata":{"name":"a","namespace":"n","resourceVersion":"3"},"data":{"k":"v"}},)"
    R"({"metadata":{"name":"other","namespace":"n","resourceVersion":"4"}}]})";

struct Reading {
  void run(std::initializer_list<const char*> names) {
    for (const char* name : names) reads.add(kMaps, {"n", name});
    reads.read([] { return false; });
  }
  std::optional<Json> take(const char* name) { return reads.take(kMaps, {"n", name}); }

  loop::EventLoop loop;
  ScriptedTransport transport{loop};
  client::Client client{loop, transport, scripted_config()};
  FirstReads reads{client, {2, 1000, 10}};
};

}  // namespace

TEST_CASE("many objects are read by one list, as a GET gives them, each told once") {
  Reading r;
  r.transport.answer(200, kList);
  r.run({"a", "b"});
  CHECK(r.transport.lines() ==
        std::vector<std::string>{"GET /api/v1/namespaces/n/configmaps?limit=12"});
  const auto a = r.take("a");
  REQUIRE(a);
  CHECK((*a)["kind"] == "ConfigMap");
  CHECK((*a)["apiVersion"] == "v1");
  CHECK((*a)["data"]["k"] == "v");
  const auto b = r.take("b");
  REQUIRE(b);
  CHECK(b->is_null());
  CHECK_FALSE(r.take("a"));
  CHECK_FALSE(r.take("b"));
  CHECK_FALSE(r.take("other"));
}

TEST_CASE("of a list that goes on, what was not found is not known") {
  Reading r;
  std::string cut = kList;
  cut.replace(cut.find("\"resourceVersion\":\"7\""), 21, R"("resourceVersion":"7","continue":"x")");
  r.transport.answer(200, cut);
  r.run({"a", "b"});
  CHECK(r.take("a"));
  CHECK_FALSE(r.take("b"));
}

TEST_CASE("a list that is refused or breaks off tells nothing") {
  for (const auto& [status, body] :
       {std::pair(403, std::string("{}")), std::pair(200, std::string(kList).substr(0, 200))}) {
    Reading r;
    r.transport.answer(status, body);
    r.run({"a", "b"});
    CHECK_FALSE(r.take("a"));
    CHECK_FALSE(r.take("b"));
  }
}

TEST_CASE("few objects are not listed") {
  Reading r;
  r.run({"a"});
  CHECK(r.transport.size() == 0);
  CHECK_FALSE(r.take("a"));
}
