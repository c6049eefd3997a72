// Requests from outside: a program, a file and HTTP name objects that then run.
#include <fstream>

#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "support/post.hpp"

namespace kubewatch::e2e {

namespace {

int post(World& w, const std::string& path, const std::string& body) {
  return test::post(w.loop(), w.trigger_port(), path, body).status;
}

}  // namespace

E2E_CASE("a trigger program names the objects that run, and is started again when it ends") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  triggers: [{exec: [./watch.sh]}]
  reconcile: {shell: 'echo "$KW_NAME $KW_REASON" >> seen; cat >> input'}
)"));
  // Each start asks for one run of b, once the test allows it.
  w.script("watch.sh", R"x(
echo start >> starts
while [ ! -e go ]; do sleep 0.1; done
echo 'this is no request'
echo "{\"name\": \"b\", \"namespace\": \"@NS@\", \"reason\": \"a push to main\"}"
sleep 0.2
)x");
  for (const char* name : {"a", "b"}) w.apply(website(name, "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") == 2 && w.lines("starts") == 1; }));
  w.settle();
  w.file("go", "");
  REQUIRE(w.eventually([&] { return w.lines("starts") >= 2 && w.runs_of("b") >= 3; }));
  CHECK(w.runs_of("a") == 1);
  CHECK(w.read("seen").find("b External") != std::string::npos);
  CHECK(w.read("input").find("\"message\":\"a push to main\"") != std::string::npos);
}

E2E_CASE("lines added to a trigger file run what they name, old ones do not") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  triggers: [{file: kicks}]
  reconcile: {shell: 'echo "$KW_NAME $KW_REASON" >> seen'}
)"));
  w.file("kicks", "{\"all\": true}\n");
  w.apply(website("a", "one", ", labels: {tier: web}"));
  w.apply(website("b", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") == 2; }));
  w.settle();
  const auto add = [&](const std::string& line) {
    std::ofstream(w.folder() + "/kicks", std::ios::app) << line;
  };
  add("{\"selector\": \"tier=web\"}\n");
  REQUIRE(w.eventually([&] { return w.runs_of("a") == 2; }));
  add("{\"all\":");  // half a line is none
  CHECK(w.holds_for([&] { return w.lines("seen") == 3; }, Duration{1500}));
  add(" true}\n");
  REQUIRE(w.eventually([&] { return w.runs_of("a") == 3 && w.runs_of("b") == 2; }));
  CHECK(w.lines("seen") == 5);
}

E2E_CASE("an HTTP trigger wakes a rule without for") {
  World w;
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  triggers: [{http: {path: /kick}}]
  reconcile: {shell: 'echo "$KW_REASON" >> seen'}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") == 1; }));
  w.settle();
  CHECK(post(w, "/kick", R"({"all": true})") == 202);
  REQUIRE(w.eventually([&] { return w.lines("seen") == 2; }));
  CHECK(w.read("seen") == "Startup\nExternal\n");
  CHECK(post(w, "/other", R"({"all": true})") == 404);
}

}  // namespace kubewatch::e2e
