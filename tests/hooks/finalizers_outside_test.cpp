// Finalizers outside a rule's namespaces: where they are looked for, and which are the rule's.
#include "hooks/finalizers_outside.hpp"

#include "base/json.hpp"
#include "client/rig.hpp"
#include "hooks/metadata_page.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

ReleaseTarget rule() {
  core::ResourceType type = test::kPods;
  type.gvk = {"demo.dev", "v1", "Website"};
  type.plural = "websites";
  return {"website", type, {"shop"}, "kubewatch.dev/website", "kubewatch/website"};
}

std::string item(const std::string& namespace_, const std::string& name,
                 const std::string& finalizer = "kubewatch.dev/website") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + namespace_ +
         R"(","uid":"u","resourceVersion":"4","finalizers":[")" + finalizer + R"("]}})";
}

std::string review(bool allowed) {
  return std::string(R"({"status":{"allowed":)") + (allowed ? "true" : "false") + "}}";
}

struct Search {
  explicit Search(WatchedBefore before) : outside(rig.client, random, rule(), std::move(before)) {}
  FinalizersOutside::Found run() {
    std::optional<FinalizersOutside::Found> out;
    outside.start([&](const FinalizersOutside::Found& found) { out = found; });
    for (int i = 0; i < 30 && !out; ++i) rig.run();
    REQUIRE(out);
    return *out;
  }
  test::Rig rig;
  base::Random random{1};
  FinalizersOutside outside;
};

const std::string kForbidden = R"({"kind":"Status","code":403,"reason":"Forbidden"})";

}  // namespace

TEST_CASE(
    "namespaces that were watched before are listed one by one, and a refusal is no failure") {
  Search search({{"blog", "news", "old", "shop"}, false});
  search.rig.transport.answer(200, test::metadata_page(item("blog", "a"), "next"));
  search.rig.transport.answer(200, test::metadata_page(item("blog", "b", "x/y")));
  search.rig.transport.answer(403, kForbidden);
  search.rig.transport.answer(200, test::metadata_page(item("old", "c", "x/y")));
  const auto found = search.run();
  CHECK(found.namespaces == std::set<std::string>{"blog"});
  CHECK(found.unseen == std::set<std::string>{"news"});
  REQUIRE(search.rig.transport.size() == 4);
  CHECK(search.rig.transport.call(0).line() ==
        "GET /apis/demo.dev/v1/namespaces/blog/websites?limit=500");
  CHECK(search.rig.transport.call(3).path() == "/apis/demo.dev/v1/namespaces/old/websites");
}

TEST_CASE("what was watched everywhere is looked for everywhere, where that is allowed") {
  Search search({{}, true});
  search.rig.transport.answer(201, review(true));
  search.rig.transport.answer(200,
                              test::metadata_page(item("shop", "a") + "," + item("blog", "b")));
  const auto found = search.run();
  CHECK(found.namespaces == std::set<std::string>{"blog"});
  REQUIRE(search.rig.transport.size() == 2);
  CHECK(search.rig.transport.call(1).line() == "GET /apis/demo.dev/v1/websites?limit=500");
}

TEST_CASE("after a start nothing is known to be ours, and nothing is listed without the right") {
  Search other({});
  other.rig.transport.answer(201, review(true));
  other.rig.transport.answer(200, test::metadata_page(item("blog", "b")));
  CHECK(other.run().namespaces.empty());

  Search narrow({});
  narrow.rig.transport.answer(201, review(false));
  const auto found = narrow.run();
  CHECK(found.namespaces.empty());
  CHECK(found.unseen.empty());
  CHECK(narrow.rig.transport.size() == 1);
}
