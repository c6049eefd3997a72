// Hooks that act by themselves through the cache's API server: `credentials: cache`.
#include <cstdlib>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

// Sends requests as any client of that kubeconfig would. KUBECONFIG is YAML of one line each.
const char* const kAsk = R"x(
value() { sed -n "s/^ *$1: *//p" "$KUBECONFIG" | head -n 1 | tr -d "\"'"; }
value certificate-authority-data | base64 -d > "$HOME/ca.pem"
url=$(value server) token=$(value token)
ask() { # METHOD PATH [curl options]: the body, then the status
  m=$1 p=$2
  shift 2
  curl -sS --noproxy '*' --max-time 20 --cacert "$HOME/ca.pem" -H "Authorization: Bearer $token" \
    -X "$m" -w ' %{http_code}\n' "$@" "$url$p"
}
)x";

}  // namespace

E2E_CASE("credentials: cache answers reads here, passes writes on under the rule's manager") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: in, namespace: '@NS@', labels: {x: "
      "z}}, data: {k: v}}");
  w.rules(website_rule(R"x(
  owns: [{apiVersion: v1, kind: ConfigMap}]
  watches: [{name: config, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], map: all}]
  reconcile: {exec: [./reconcile.sh], credentials: cache, output: log}
  retry: {initial: 1h, max: 1h}
  changed: [.spec]
)x"));
  w.script("reconcile.sh", std::string(kAsk) + R"x(
maps=/api/v1/namespaces/$KW_NAMESPACE/configmaps
ask GET "$maps/in" > got
ask GET "$maps?labelSelector=x%3Dz" > listed
ask GET "/api/v1/namespaces/$KW_NAMESPACE" > passed
ask GET /version > version
ask GET /metrics > refused
ask GET "$maps/in/proxy" >> refused
ask POST "/api/v1/namespaces/$KW_NAMESPACE/secrets" -H 'Content-Type: application/json' \
  -d '{"metadata":{"name":"stolen"}}' >> refused
ask DELETE "$maps" >> refused
ask GET "$maps/in" -H 'Impersonate-User: zoe' >> refused
ask PATCH "$maps/made?force=true" -H 'Content-Type: application/apply-patch+yaml' \
  -d '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"},"data":{"a":"b"}}' > written
token=wrong
ask GET "$maps/in" > stranger
cp "$KUBECONFIG" hook-kubeconfig
cp "$HOME/ca.pem" .
echo done >> finished
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("finished") >= 1; }));
  // What it made is related to it: once more.
  w.settle();
  REQUIRE(w.runs_of("a", "done") >= 1);
  INFO(w.read("got") << w.read("listed") << w.read("passed") << w.read("refused")
                     << w.read("written") << w.read("stranger"));
  const std::string got = w.read("got");
  REQUIRE(got.ends_with(" 200\n"));
  const auto object = base::parse_json(got.substr(0, got.size() - 5));
  REQUIRE(object.ok());
  CHECK((*object)["data"]["k"] == "v");
  // The cache does not keep them: so it was not the server that answered.
  CHECK_FALSE((*object)["metadata"].contains("managedFields"));
  const std::string listed = w.read("listed");
  CHECK(listed.find("\"kind\":\"ConfigMapList\"") != std::string::npos);
  CHECK(listed.find("\"name\":\"in\"") != std::string::npos);
  CHECK(listed.find("managedFields") == std::string::npos);
  CHECK(w.read("passed").ends_with(" 200\n"));
  CHECK(w.read("passed").find("\"kind\":\"Namespace\"") != std::string::npos);
  CHECK(w.read("version").find("gitVersion") != std::string::npos);
  const std::string refused = w.read("refused");
  CHECK(w.lines("refused") == 5);
  for (std::size_t at = 0, end = 0; (end = refused.find('\n', at)) != std::string::npos;
       at = end + 1) {
    CHECK(refused.substr(end - 4, 4) == " 403");
  }
  CHECK(w.read("stranger").ends_with(" 401\n"));
  CHECK_FALSE(w.get("Secret", "stolen"));
  const auto made = w.get("ConfigMap", "made");
  REQUIRE(made);
  CHECK((*made)["metadata"]["managedFields"][0]["manager"] == "kubewatch/" + w.ns());

  // With the run its token has ended.
  w.script("after.sh", std::string("KUBECONFIG=hook-kubeconfig HOME=$PWD/after\nmkdir -p after\n") +
                           kAsk + "ask GET /api/v1/namespaces/" + w.ns() +
                           "/configmaps/in > after.txt\n");
  const std::string command = "cd '" + w.folder() + "' && ./after.sh &";
  REQUIRE(std::system(command.c_str()) == 0);
  REQUIRE(w.eventually([&] { return w.read("after.txt").ends_with("\n"); }));
  CHECK(w.read("after.txt").ends_with(" 401\n"));
}

E2E_CASE("what was read from a cache that strips is not put back, a patch of it goes through") {
  for (const bool strips : {true, false}) {
    INFO((strips ? "with strip" : "without"));
    World w;
    w.apply(kWebsiteCrd);
    w.rules(website_rule(R"x(
  reconcile: {exec: [./reconcile.sh], credentials: cache, output: log}
  retry: {initial: 1h, max: 1h}
  changed: [.spec]
)x",
                         strips ? "    strip: [.metadata.annotations.kept]\n" : "    strip: []\n"));
    w.script("reconcile.sh", std::string(kAsk) + R"x(
site=/apis/e2e.kubewatch.dev/v1/namespaces/$KW_NAMESPACE/websites/$KW_NAME
ask GET "$site" > got
sed 's/ 200$//' got > body
for below in /status ''; do
  ask PUT "$site$below" -H 'Content-Type: application/json' -d @body -D head >> put
done
ask PATCH "$site" -H 'Content-Type: application/merge-patch+json' \
  -d '{"metadata":{"annotations":{"more":"x"}}}' > patched
echo done >> finished
)x");
    w.apply(website("a", "one", ", annotations: {kept: \"yes\"}"));
    w.start();
    REQUIRE(w.eventually([&] { return w.lines("finished") >= 1; }));
    const std::string put = w.read("put");
    INFO(w.read("got") << put << w.read("patched"));
    CHECK(w.read("got").find("managedFields") == std::string::npos);  // it is of the cache
    CHECK((w.read("got").find("\"kept\"") == std::string::npos) == strips);
    std::size_t taken = 0;
    for (std::size_t at = 0; (at = put.find(" 200\n", at)) != std::string::npos; ++at) ++taken;
    CHECK(taken == (strips ? 1 : 2));  // the status of a custom kind takes nothing else along
    CHECK((put.find("\"reason\":\"MethodNotAllowed\"") == std::string::npos) != strips);
    CHECK((w.read("head").find("Allow: GET, PATCH, DELETE\r\n") != std::string::npos) == strips);
    CHECK(w.read("patched").ends_with(" 200\n"));
    const Json left = (*w.get("Website", "a"))["metadata"]["annotations"];
    CHECK(left["kept"] == "yes");
    CHECK(left["more"] == "x");
  }
}

namespace {

bool is_told_to_loop(World& w, const std::string& words) {
  for (const Json& event : w.list("events.k8s.io/Event")) {
    if (base::string_at(event, {"regarding", "name"}) == "a" &&
        base::string_at(event, {"reason"}) == "ReconcileLoop") {
      return base::string_at(event, {"note"}).find(words) != std::string::npos;
    }
  }
  return false;
}

}  // namespace

E2E_CASE("a hook that changes its own object through the gateway is slowed down and told") {
  for (const bool worker : {false, true}) {
    INFO((worker ? "a worker" : "a process"));
    World w;
    w.apply(kWebsiteCrd);
    w.rules(website_rule(
        std::string(worker ? "\n  reconcile: {exec: [./reconcile.sh], mode: worker, "
                           : "\n  reconcile: {exec: [./reconcile.sh], ") +
        "credentials: cache, output: log}\n  changed: [.spec, .metadata.annotations]\n"));
    const std::string patch = R"x(
echo x >> calls
ask PATCH "/apis/e2e.kubewatch.dev/v1/namespaces/@NS@/websites/a" \
  -H 'Content-Type: application/merge-patch+json' \
  -d "{\"metadata\":{\"annotations\":{\"calls\":\"$(wc -l < calls)\"}}}" > answer
)x";
    w.script("reconcile.sh", kAsk + (worker ? "while read -r line; do" + patch +
                                                  "printf '%s' \"$line\" | jq -c '{id}'\ndone\n"
                                            : patch));
    w.apply(website("a", "one"));
    w.start();
    CHECK(w.eventually([&] { return is_told_to_loop(w, ": .metadata.annotations.calls"); }));
    INFO(w.read("answer").substr(0, 500));
    const std::size_t runs = w.runs_of("a");
    CHECK(w.holds_for([&] { return w.runs_of("a") <= runs + 2; }, Duration{3000}));
    const auto& run = w.runs().back();
    CHECK(run.configured == 1);
    CHECK(run.writes == std::vector<std::string>{"configured Website " + w.ns() + "/a"});
    const std::string metrics = w.metrics();
    CHECK(metrics.find("kubewatch_loops_total{controller=\"" + w.ns() + "\"} 1") !=
          std::string::npos);
    CHECK(metrics.find("kubewatch_writes_total{result=\"ok\",verb=\"patch\"}") !=
          std::string::npos);
  }
}

E2E_CASE("a hook that says the same through the gateway each time does not loop") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"x(
  reconcile: {exec: [./reconcile.sh], credentials: cache, output: log}
  changed: [.spec, .metadata.annotations]
)x"));
  w.script("reconcile.sh", std::string(kAsk) + R"x(
ask PATCH "/apis/e2e.kubewatch.dev/v1/namespaces/@NS@/websites/a" \
  -H 'Content-Type: application/merge-patch+json' \
  -d '{"metadata":{"annotations":{"seen":"yes"}}}' > answer
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") >= 2; }));
  w.settle();
  CHECK(w.runs_of("a") == 2);
  CHECK(w.runs().front().configured == 1);
  CHECK(w.runs().back().configured == 0);
  CHECK(w.runs().back().unchanged == 1);
}

E2E_CASE("what a hook says of a Secret that it wrote through the gateway is masked") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, "
      "data: {p: aHVudGVyMi1sb25n}}");
  w.rules(website_rule(R"x(
  writes: [{apiVersion: v1, kind: Secret}]
  reconcile: {exec: [./reconcile.sh], credentials: cache, output: log}
  retry: {initial: 1h, max: 1h}
  changed: [.spec]
)x"));
  // The server quotes the whole object when it reads that.
  w.script("reconcile.sh", std::string(kAsk) + R"x(
ask PATCH "/api/v1/namespaces/@NS@/secrets/s?fieldValidation=Strict" \
  -H 'Content-Type: application/merge-patch+json' \
  -d '{"metadata":{"nam":"x"},"stringData":{"q":"swordfish"}}' > answer
echo "for swordfish: $(tr -d '\n' < answer)" >&2
exit 1
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "failed") > 0; }));
  const std::string message = w.runs().back().message;
  INFO(w.read("answer") << message);
  CHECK(message.find("for ***: ") != std::string::npos);
  CHECK(message.find("aHVudGVy") == std::string::npos);
  CHECK(message.find("swordfish") == std::string::npos);
}

}  // namespace kubewatch::e2e
