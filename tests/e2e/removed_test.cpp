// What becomes of a finalizer when its rule goes: `whenControllerRemoved`.
#include <algorithm>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

std::string rule(const std::string& name, const std::string& when_removed) {
  return "---\napiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@-" + name +
         "'}\nspec:\n  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: "
         "['@NS@']}\n  reconcile: {shell: 'true', output: log}\n  finalize:\n    shell: 'echo " +
         name + " $KW_NAME >> finalized'\n    name: '@NS@.kubewatch.dev/" + name +
         "'\n    output: log\n" +
         (when_removed.empty() ? "" : "    whenControllerRemoved: " + when_removed + "\n");
}

bool has(World& w, const std::string& object, const std::string& name) {
  const auto site = w.get("Website", object);
  const auto* list = site ? base::find(*site, {"metadata", "finalizers"}) : nullptr;
  const std::string finalizer = w.ns() + ".kubewatch.dev/" + name;
  return list != nullptr && std::find(list->begin(), list->end(), finalizer) != list->end();
}

}  // namespace

E2E_CASE("a removed rule takes its finalizer off, keep leaves it, an end of the process both") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(website("a", "one"));
  w.apply(website("b", "two"));
  const std::string other = rule("other", "");
  w.rules(rule("gone", "") + rule("kept", "keep") + other);
  w.start();
  REQUIRE(w.eventually([&] {
    return has(w, "a", "gone") && has(w, "a", "kept") && has(w, "a", "other") &&
           has(w, "b", "gone") && has(w, "b", "kept") && has(w, "b", "other");
  }));
  w.settle();
  w.stop();
  CHECK(has(w, "a", "gone"));
  CHECK(has(w, "b", "other"));

  w.start();
  REQUIRE(w.eventually([&] { return w.status().idle; }));
  // A changed rule goes on guarding what it guarded.
  w.reload(rule("gone", "") + rule("kept", "keep") + other + "  resync: 1h\n");
  w.settle();
  CHECK(has(w, "a", "other"));

  w.reload(other);
  REQUIRE(w.eventually([&] { return !has(w, "a", "gone") && !has(w, "b", "gone"); }));
  w.settle();
  for (const char* object : {"a", "b"}) {
    CHECK(has(w, object, "kept"));
    CHECK(has(w, object, "other"));
  }
  // No cleanup was run for it.
  CHECK(w.read("finalized").empty());

  // Back again: guarded again.
  w.reload(other + rule("gone", ""));
  REQUIRE(w.eventually([&] { return has(w, "a", "gone") && has(w, "b", "gone"); }));
  w.settle();
  w.stop();
  CHECK(has(w, "a", "gone"));
  for (const char* object : {"a", "b"})
    w.merge("Website", object, "{metadata: {finalizers: null}}");
}

}  // namespace kubewatch::e2e
