// What the server says when it refuses a finalizer is told without the secrets that it quotes.
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;

namespace {

const char* const kPath = "/api/v1/namespaces/shop/secrets/a";
const char* const kRule = R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: web}
spec:
  for: {apiVersion: v1, kind: Secret}
  reconcile: {shell: 'true'}
  finalize: {shell: 'true'}
)x";

std::string secret(const std::string& more) {
  return R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"shop",)"
         R"("uid":"u-a","resourceVersion":"7")" +
         more + R"(},"stringData":{"password":"hunter2-and-more"}})";
}

// Secrets, of which each patch is refused with the value in the server's words.
struct World : test::ScriptedEngine {
  explicit World(const std::string& more, const std::string& behind = "") : ScriptedEngine("") {
    const auto loaded = hooks::load_rules({folder.write("secrets.yaml", kRule)});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    rules = loaded.rules;
    transport.route("GET", "/api", 200, test::kinds_of("", "secrets", "Secret"));
    transport.route("GET", kPath, 200, secret(more));
    transport.route("PATCH", kPath, 403,
                    R"({"kind":"Status","reason":"Forbidden","code":403,"message":)"
                    R"("no finalizer beside hunter2-and-more)" +
                        behind + "\"}");
    transport.answer(200, list(secret(more)));
    start();
    REQUIRE(until([&] { return !runs.empty(); }));
    INFO(runs[0].message);
    CHECK(runs[0].outcome == "write-failed");
    CHECK(runs[0].message.find("finalizer") != std::string::npos);
    CHECK(runs[0].message.find("no finalizer beside ***") != std::string::npos);
    CHECK(runs[0].message.find("hunter2") == std::string::npos);
    CHECK(engine->drivers().at(0)->status().parked == 1);
  }
};

}  // namespace

TEST_CASE("why a finalizer cannot be put on a Secret is told without its values") {
  World world("");
}

TEST_CASE("why a finalizer cannot be taken off a Secret is told without its values") {
  World world(R"(,"finalizers":["kubewatch.dev/web"],"deletionTimestamp":"2026-01-01T00:00:00Z")");
}

TEST_CASE("many words about a finalizer that is refused are cut") {
  World world("", std::string(10'000, 'x'));
  CHECK(world.runs[0].message.size() < 4200);
  CHECK(world.runs[0].message.find("x... (cut: it has ") != std::string::npos);
}
