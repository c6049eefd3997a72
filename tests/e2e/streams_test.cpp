// What a rule says of its lists and watches, on the wire of both servers.
#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

E2E_CASE("under content: metadata hooks get metadata alone, and run when the spec changes") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  reconcile: {exec: [./reconcile.sh], timeout: 10s}
)",
                       R"(
    content: metadata
    list: {strategy: paged, pageSize: 1, timeout: 10s, backoff: {initial: 100ms, max: 1s}}
)"));
  w.script("reconcile.sh", R"x(
echo "$KW_NAME $KW_REASON" >> calls
grep -c '"spec"' "$KW_INPUT" >> specs || true
printf 'apiVersion: kubewatch.dev/v1\nkind: Result\nstatus: {ready: true}\n'
)x");
  for (const char* name : {"a", "b", "c"}) w.apply(website(name, "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("calls") == 3; }));
  w.settle();
  CHECK(w.lines("calls") == 3);  // the status that they wrote counts as no change
  w.apply(website("b", "two"));
  REQUIRE(w.eventually([&] { return w.runs_of("b", "done") == 2; }));
  w.settle();
  CHECK(w.lines("calls") == 4);
  CHECK(w.read("specs") == "0\n0\n0\n0\n");
  const auto b = w.get("Website", "b");
  REQUIRE(b);
  CHECK(base::find(*b, {"status", "ready"}) != nullptr);
  CHECK(base::string_at(*b, {"spec", "title"}) == "two");
}

}  // namespace kubewatch::e2e
