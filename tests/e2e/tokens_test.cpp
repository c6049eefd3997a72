// Tokens of service accounts: what a TokenRequest answers, whom its token lets in, and hooks with
// `credentials: {serviceAccount}`.
#include <algorithm>

#include "base/strings.hpp"
#include "e2e/requests.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kBot =
    "{apiVersion: v1, kind: ServiceAccount, metadata: {name: bot, namespace: '@NS@'}}";

std::string path_of(const World& w, const std::string& account) {
  return "/api/v1/namespaces/" + w.ns() + "/serviceaccounts/" + account + "/token";
}

Answer ask(World& w, const Json& spec, const std::string& account = "bot") {
  return send(w, "POST", path_of(w, account), {{"spec", spec}});
}

// The status of a request that says who it is by that token alone; discovery is open to all who
// are known.
int code_with(World& w, const std::string& token) {
  client::ClientConfig bare = way_to_server(w);
  bare.token = token;
  http::Request request;
  request.url = "/api/v1";
  return fetch(w, bare, std::move(request)).status;
}

std::string token_of(const Answer& answer) {
  REQUIRE(answer.code == 201);
  return base::string_at(answer.body, {"status", "token"});
}

}  // namespace

E2E_CASE("a TokenRequest is answered with a token, and what is wrong with it is said") {
  World w;
  w.apply(kBot);
  const Answer plain = ask(w, Json::object());
  REQUIRE(plain.code == 201);
  CHECK(plain.body["kind"] == "TokenRequest");
  CHECK(plain.body["apiVersion"] == "authentication.k8s.io/v1");
  CHECK(plain.body["metadata"]["name"] == "bot");
  CHECK(plain.body["metadata"]["namespace"] == w.ns());
  CHECK(plain.body["metadata"]["uid"] == (*w.get("ServiceAccount", "bot"))["metadata"]["uid"]);
  CHECK(plain.body["metadata"]["managedFields"][0]["subresource"] == "token");
  CHECK(plain.body["metadata"]["managedFields"][0]["fieldsV1"] ==
        Json{{"f:spec", {{"f:expirationSeconds", Json::object()}}}});
  CHECK(plain.body["spec"] == Json{{"audiences", {"https://kubernetes.default.svc"}},
                                   {"expirationSeconds", 3600},
                                   {"boundObjectRef", nullptr}});
  CHECK(base::parse_rfc3339(base::string_at(plain.body, {"status", "expirationTimestamp"})).ok());
  const Answer other = ask(w, {{"audiences", {"vault"}}, {"expirationSeconds", 700}});
  CHECK(other.body["spec"]["audiences"] == Json::array({"vault"}));
  CHECK(other.body["spec"]["expirationSeconds"] == 700);

  const Answer brief = ask(w, {{"expirationSeconds", 60}});
  CHECK(brief.code == 422);
  CHECK(brief.body["message"] ==
        "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
        "value: 60: may not specify a duration less than 10 minutes");
  const Answer eternal = ask(w, {{"expirationSeconds", 5000000000}});
  CHECK(tells(told_by_server(eternal.body), "spec.expirationSeconds", "larger than 2^32 seconds"));
  const Answer nobody = ask(w, Json::object(), "nobody");
  CHECK(nobody.code == 404);
  CHECK(nobody.body["message"] == "serviceaccounts \"nobody\" not found");
  const Answer nowhere =
      send(w, "POST", "/api/v1/namespaces/e2e-nowhere/serviceaccounts/bot/token", {{"spec", {}}});
  CHECK(nowhere.body["message"] == "namespaces \"e2e-nowhere\" not found");
  const Answer misnamed =
      send(w, "POST", path_of(w, "bot"), {{"metadata", {{"name", "other"}}}, {"spec", {}}});
  CHECK(misnamed.code == 422);
  CHECK(misnamed.body["details"]["causes"][0]["field"] == "metadata.name");
  CHECK(misnamed.body["details"]["name"] == "bot");
  const Answer misplaced =
      send(w, "POST", path_of(w, "bot"), {{"metadata", {{"namespace", "other"}}}, {"spec", {}}});
  CHECK(misplaced.code == 400);
  CHECK(misplaced.body["message"] ==
        "the namespace of the provided object does not match the namespace sent on the request");
  const Answer strict = send(w, "POST", path_of(w, "bot") + "?fieldValidation=Strict",
                             {{"spec", {{"colour", "red"}}}});
  CHECK(strict.code == 400);
  CHECK(base::string_at(strict.body, {"message"}).find("unknown field \"spec.colour\"") !=
        std::string::npos);
  CHECK(send(w, "GET", path_of(w, "bot")).code == 405);
  CHECK(send_text(w, "POST", path_of(w, "bot"), "[]", "application/json").code == 400);
}

E2E_CASE(
    "a service account's token lets in for whom it is meant, while what it is bound to lasts") {
  World w;
  w.apply(kBot);
  w.apply("{apiVersion: v1, kind: Secret, metadata: {name: lock, namespace: '@NS@'}}");
  CHECK(code_with(w, token_of(ask(w, Json::object()))) == 200);
  CHECK(code_with(w, token_of(ask(w, {{"audiences", {"vault"}}}))) == 401);
  CHECK(code_with(w, "no-such-token") == 401);
  const Json lock = {{"kind", "Secret"}, {"apiVersion", "v1"}, {"name", "lock"}};
  const std::string bound = token_of(ask(w, {{"boundObjectRef", lock}}));
  // Asked for now and used later: servers remember for a while whom they let in.
  const std::string of_secret = token_of(ask(w, {{"boundObjectRef", lock}}));
  const std::string of_account = token_of(ask(w, Json::object()));
  CHECK(code_with(w, bound) == 200);
  Json wrong = lock;
  wrong["uid"] = "other";
  CHECK(ask(w, {{"boundObjectRef", wrong}}).code == 409);
  wrong = lock;
  wrong["name"] = "none";
  CHECK(ask(w, {{"boundObjectRef", wrong}}).body["message"] == "secrets \"none\" not found");
  wrong["kind"] = "ConfigMap";
  CHECK(ask(w, {{"boundObjectRef", wrong}}).body["message"] ==
        "cannot bind token to object of type /v1, Kind=ConfigMap");
  w.remove("Secret", "lock");
  REQUIRE(w.eventually([&] { return code_with(w, of_secret) == 401; }));
  w.remove("ServiceAccount", "bot");
  w.apply(kBot);  // another one of that name
  REQUIRE(w.eventually([&] { return code_with(w, of_account) == 401; }));
  CHECK(code_with(w, token_of(ask(w, Json::object()))) == 200);
}

E2E_CASE("credentials: {serviceAccount} gives the hook a token of that account") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string account = "bot-" + w.ns();
  w.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + account +
          ", namespace: default}}");
  w.rules(website_rule(
      "  reconcile: {exec: [./ask.sh], output: log, credentials: {serviceAccount: " + account +
      "}}\n"));
  w.script("ask.sh", R"x(
value() { sed -n "s/^ *$1: *//p" "$KUBECONFIG" | head -n 1 | tr -d "\"'"; }
value certificate-authority-data | base64 -d > "$HOME/ca.pem"
curl -sS --noproxy '*' --max-time 20 --cacert "$HOME/ca.pem" -o /dev/null -w '%{http_code}\n' \
  -H "Authorization: Bearer $(cat "$(value tokenFile)")" "$(value server)/api/v1" > asked
cut -d. -f2 "$(value tokenFile)" > claims
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a") >= 1; }));
  CHECK(w.runs_of("a", "done") == w.runs_of("a"));
  CHECK(w.read("asked") == "200\n");
  std::string claims(base::trim(w.read("claims")));
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  while (claims.size() % 4 != 0) claims += '=';
  const auto decoded = base::base64_decode(claims);
  REQUIRE(decoded.ok());
  CHECK(base::string_at(*base::parse_json(*decoded), {"sub"}) ==
        "system:serviceaccount:default:" + account);
  w.stop();
  w.remove("ServiceAccount", account, "default");
}

}  // namespace kubewatch::e2e
