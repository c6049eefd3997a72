#include "apiserver/list.hpp"

#include <array>

#include "apiserver/continue_token.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Answer;
using test::config_map;
using test::kConfigMaps;
using test::Server;

namespace {

std::string names(const Json& list) {
  std::string out;
  for (const auto& item : list.at("items"))
    out += base::string_at(item, {"metadata", "name"}) + " ";
  return out;
}

void fill(Server& server, int count) {
  for (int i = 0; i < count; ++i) server.post(kConfigMaps, config_map("c" + std::to_string(i)));
}

}  // namespace

TEST_CASE("pages of one list show one state, whatever is written between them") {
  Server server;
  fill(server, 5);
  const auto first = server.get(kConfigMaps + "?limit=2");
  CHECK(names(first.json) == "c0 c1 ");
  CHECK(first.json["metadata"]["remainingItemCount"] == 3);
  server.remove(kConfigMaps + "/c3");
  server.post(kConfigMaps, config_map("c22"));
  const auto second =
      server.get(kConfigMaps + "?limit=2&continue=" + first.at({"metadata", "continue"}));
  CHECK(names(second.json) == "c2 c3 ");
  CHECK(second.at({"metadata", "resourceVersion"}) == first.at({"metadata", "resourceVersion"}));
  const auto third =
      server.get(kConfigMaps + "?limit=2&continue=" + second.at({"metadata", "continue"}));
  CHECK(names(third.json) == "c4 ");
  CHECK(third.at({"metadata", "continue"}).empty());
}

TEST_CASE("an expired continue token is answered with one to go on inconsistently") {
  Server server;
  fill(server, 5);
  const auto first = server.get(kConfigMaps + "?limit=2");
  server.post(kConfigMaps, config_map("c22"));
  server.api.storage().compact();
  const auto gone =
      server.get(kConfigMaps + "?limit=2&continue=" + first.at({"metadata", "continue"}));
  CHECK(gone.code == 410);
  CHECK(gone.reason() == "Expired");
  const auto next =
      server.get(kConfigMaps + "?limit=2&continue=" + gone.at({"metadata", "continue"}));
  CHECK(next.code == 200);
  CHECK(names(next.json) == "c2 c22 ");
}

TEST_CASE("resourceVersion and its match choose the state, as the API concepts say") {
  Server server;
  fill(server, 2);
  const std::uint64_t old = server.api.storage().version();
  server.post(kConfigMaps, config_map("c2"));
  const std::string then = std::to_string(old);
  CHECK(names(server.get(kConfigMaps).json) == "c0 c1 c2 ");
  CHECK(names(server.get(kConfigMaps + "?resourceVersion=0").json) == "c0 c1 c2 ");
  CHECK(names(server.get(kConfigMaps + "?resourceVersion=0&limit=1").json) == "c0 c1 c2 ");
  CHECK(names(server.get(kConfigMaps + "?resourceVersion=" + then).json) == "c0 c1 c2 ");
  CHECK(names(server.get(kConfigMaps + "?limit=5&resourceVersion=" + then).json) == "c0 c1 ");
  const auto exact =
      server.get(kConfigMaps + "?resourceVersionMatch=Exact&resourceVersion=" + then);
  CHECK(names(exact.json) == "c0 c1 ");
  CHECK(exact.at({"metadata", "resourceVersion"}) == then);
  server.api.storage().compact();
  CHECK(server.get(kConfigMaps + "?resourceVersionMatch=Exact&resourceVersion=" + then).code ==
        410);
}

TEST_CASE("list options that do not fit together are refused in the API server's words") {
  Server server;
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"?resourceVersion=99999", 504, "Timeout: Too large resource version: 99999, current: "},
      {"?resourceVersion=abc", 400,
       "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
       "parsing \"abc\": invalid syntax"},
      {"?limit=abc", 400, "strconv.ParseInt: parsing \"abc\": invalid syntax"},
      {"?resourceVersionMatch=Exact", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden unless resourceVersion is provided"},
      {"?resourceVersion=0&resourceVersionMatch=Exact", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""},
      {"?resourceVersion=1&resourceVersionMatch=Bogus", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: "
       "\"Bogus\": supported values: \"Exact\", \"NotOlderThan\", \"\""},
      {"?sendInitialEvents=true", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents "
       "is forbidden for list"},
      {"?watch=1&sendInitialEvents=true", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
      {"?watch=1&resourceVersionMatch=NotOlderThan", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
      {"?watch=1&resourceVersion=abc", 500,
       "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
       "syntax"},
      {"?watch=1&continue=abc", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden when continue is provided"},
      {"?watch=1&resourceVersionMatch=Exact", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, "
       "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"},
      {"?resourceVersionMatch=Foo", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden unless resourceVersion is provided, "
       "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", "
       "\"NotOlderThan\", \"\"]"},
      {"/c0?resourceVersion=abc", 500,
       "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
       "syntax"},
      {"?continue=abc", 400, "invalid continue token: continue key is not valid: "},
      {"?limit=abc&labelSelector=a%3D%3D%3Db", 400,
       "strconv.ParseInt: parsing \"abc\": invalid syntax"},
      {"?labelSelector=a%3D%3D%3Db&resourceVersionMatch=Exact", 400,
       "unable to parse requirement: found '=', expected: identifier"},
      {"?fieldSelector=a", 400, "invalid selector: 'a'; can't understand 'a'"},
      {"?fieldSelector=%3Da", 400,
       "\"\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
      {"?fieldSelector=foo%3Dbar&resourceVersionMatch=Exact", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden unless resourceVersion is provided"},
      {"?sendInitialEvents=false", 422,
       "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents "
       "is forbidden for list"},
      {"?fieldSelector=foo%3Dbar", 400,
       "\"foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
  };
  for (const auto& [query, code, message] : cases) {
    CAPTURE(query);
    const auto answer = server.get(kConfigMaps + query);
    CHECK(answer.code == code);
    CHECK(answer.message().substr(0, message.size()) == message);
  }
  CHECK(server.get(kConfigMaps + "?labelSelector=a%20b%20c").code == 400);
  CHECK(server.get(kConfigMaps + "?resourceVersion=99999").headers.get("Retry-After") == "1");
}

TEST_CASE("a continue token leads nowhere out of its list") {
  Server server;
  server.post("/api/v1/namespaces/kube-system/configmaps", config_map("other"));
  for (const char* name : {"a", "b", "c"}) server.post(kConfigMaps, config_map(name));
  const std::string everywhere = "/api/v1/configmaps?limit=1";
  const auto token_of = [](const Answer& answer) { return answer.at({"metadata", "continue"}); };
  const std::string token = token_of(server.get(everywhere));
  CHECK(names(server.get(everywhere + "&continue=" + token).json) == "b ");
  // There it is "default/default/a", which is before all that follows "default/d".
  CHECK(names(server.get(kConfigMaps + "?continue=" + token).json).empty());
  const std::string here = token_of(server.get(kConfigMaps + "?limit=2"));
  CHECK(names(server.get(kConfigMaps + "?continue=" + here).json) == "c ");
  // What was made behind the last one in the meantime is part of the newest state.
  server.post(kConfigMaps, config_map("b1"));
  CHECK(names(server.get(kConfigMaps + "?continue=" + here).json) == "c ");
  const std::string newest = encode_continue(continue_after(-1, "default/b"), "default/");
  CHECK(names(server.get(kConfigMaps + "?continue=" + newest).json) == "b1 c ");
  const std::string good = encode_continue({3, "default/x"}, "default/");
  CHECK(server.get(kConfigMaps + "?continue=" + good + "&resourceVersion=3").message() ==
        "specifying resource version is not allowed when using continue");
}

TEST_CASE("a continue token that is none is refused for what is wrong with it") {
  Server server;
  const auto refused = [&](const std::string& token) {
    const auto answer = server.get(kConfigMaps + "?continue=" + token);
    CHECK(answer.code == 400);
    const std::string start = "invalid continue token: continue key is not valid: ";
    CHECK(answer.message().starts_with(start));
    return answer.message().substr(start.size());
  };
  CHECK(refused("nonsense!") == "illegal base64 data at input byte 8");
  CHECK(refused("abcde") == "illegal base64 data at input byte 4");
  CHECK(refused("eyJ2Ijo%3D") == "illegal base64 data at input byte 7");
  struct Case {
    std::string text;
    std::string why;
  };
  const std::string version = R"("v":"meta.k8s.io/v1")";
  const Case cases[] = {
      {"{", "unexpected end of JSON input"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"[]", "json: cannot unmarshal array into Go value of type storage.continueToken"},
      {R"({"v":1})",
       "json: cannot unmarshal number into Go struct field continueToken.v of type string"},
      {R"({"v":1.5})",
       "json: cannot unmarshal number into Go struct field continueToken.v of type string"},
      {R"({"rv":"1"})",
       "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"},
      {R"({"rv":9223372036854775808})",
       "json: cannot unmarshal number 9223372036854775808 into Go struct field continueToken.rv of "
       "type int64"},
      {R"({"rv":1.5})",
       "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"},
      {R"({"v":"v2"})", "server does not recognize this encoded version v2"},
      {"{}", "server does not recognize this encoded version "},
      {"null", "server does not recognize this encoded version "},
      {"{" + version + "}", "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
      {"{" + version + R"(,"rv":3})", "encoded start key empty (version meta.k8s.io/v1)"},
      {"{" + version + R"(,"rv":3,"start":"../x"})", "../x"},
      {"{" + version + R"(,"rv":3,"start":"/a//b"})", "/a//b"},
      {"{" + version + R"(,"rv":3,"start":"a/"})", "a/"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(refused(base::base64url_encode(c.text)) == c.why);
  }
}

TEST_CASE("selectors choose objects by labels, by fields and by declared fields of custom kinds") {
  Server server;
  server.post(kConfigMaps, config_map("a", {{"metadata", {{"labels", {{"tier", "web"}}}}}}));
  server.post(kConfigMaps, config_map("b"));
  CHECK(names(server.get(kConfigMaps + "?labelSelector=tier%3Dweb").json) == "a ");
  CHECK(names(server.get(kConfigMaps + "?fieldSelector=metadata.name%3Db").json) == "b ");
  CHECK_FALSE(server.get(kConfigMaps + "?labelSelector=tier&limit=1")
                  .json["metadata"]
                  .contains("remainingItemCount"));
  server.post(test::kCrdPath, test::website_crd());
  server.post(test::kWebsites, test::website("x", {{"host", "one"}}));
  server.post(test::kWebsites, test::website("y", {{"host", "two"}}));
  CHECK(names(server.get(test::kWebsites + "?fieldSelector=spec.host%3Dtwo").json) == "y ");
  CHECK(server.get(test::kWebsites + "?fieldSelector=spec.mode%3Da").message() ==
        "field label not supported: spec.mode");
}

TEST_CASE("events are selected by the fields of the group that they are asked for in") {
  Server server;
  const std::string core = "/api/v1/namespaces/default/events";
  const std::string events = "/apis/events.k8s.io/v1/namespaces/default/events";
  for (const char* name : {"a", "b"}) {
    Json event = {{"apiVersion", "v1"},
                  {"kind", "Event"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"involvedObject", {{"kind", "Pod"}, {"name", name}, {"namespace", "default"}}},
                  {"reportingComponent", std::string("e2e.kubewatch.dev/") + name},
                  {"source", {{"component", std::string("c-") + name}}},
                  {"type", "Normal"}};
    REQUIRE(server.post(core, event).code == 201);
  }
  const auto of = [&](const std::string& path, const std::string& selector) {
    return names(server.get(path + "?fieldSelector=" + selector).json);
  };
  CHECK(of(core, "involvedObject.name%3Db") == "b ");
  CHECK(of(core, "source%3Dc-a") == "a ");
  CHECK(of(core, "source!%3Dc-a") == "b ");
  CHECK(of(events, "regarding.name%3Db,type%3DNormal") == "b ");
  CHECK(of(events, "regarding.name!%3Db") == "a ");
  CHECK(of(events, "reportingController%3De2e.kubewatch.dev%2Fa") == "a ");
  CHECK(server.get(events + "?fieldSelector=involvedObject.name%3Db").message() ==
        "field label not supported: involvedObject.name");
  CHECK(server.get(core + "?fieldSelector=regarding.name%3Db").message() ==
        "field label not supported: regarding.name");
}

TEST_CASE(
    "lists of built-in kinds leave kind and apiVersion out of their items, custom ones keep them") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const auto list = server.get(kConfigMaps);
  CHECK(list.text.rfind("{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":", 0) == 0);
  CHECK_FALSE(list.json["items"][0].contains("kind"));
  server.post(test::kCrdPath, test::website_crd());
  server.post(test::kWebsites, test::website("x"));
  const auto custom = server.get(test::kWebsites);
  CHECK(custom.text.rfind("{\"apiVersion\":\"demo.kubewatch.dev/v1\",\"items\":[", 0) == 0);
  CHECK(custom.json["items"][0]["kind"] == "Website");
  CHECK(server.get("/api/v1/namespaces/default/secrets").json["items"] == Json::array());
}

TEST_CASE("field selectors choose by the server's values, whatever objects show of them") {
  Server server;
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  const Json pod = {{"restartPolicy", "Never"},
                    {"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
  for (const char* name : {"done", "new"}) {
    REQUIRE(
        server
            .post(jobs, {{"metadata", {{"name", name}}}, {"spec", {{"template", {{"spec", pod}}}}}})
            .code == 201);
  }
  server.merge(jobs + "/done/status", {{"status", {{"succeeded", 1}}}});
  server.merge(jobs + "/new/status", {{"status", {{"succeeded", 0}, {"active", 1}}}});
  for (const char* name : {"off", "on"}) {
    server.post("/api/v1/nodes", {{"metadata", {{"name", name}}}});
  }
  server.merge("/api/v1/nodes/off", {{"spec", {{"unschedulable", true}}}});
  const std::string pods = "/api/v1/namespaces/default/pods";
  Json own = pod;
  own["nodeName"] = "on";
  Json shared = pod;
  shared["hostNetwork"] = true;
  REQUIRE(server.post(pods, {{"metadata", {{"name", "own"}}}, {"spec", own}}).code == 201);
  REQUIRE(server.post(pods, {{"metadata", {{"name", "shared"}}}, {"spec", shared}}).code == 201);
  const std::vector<std::array<std::string, 3>> cases = {
      {jobs, "status.successful%3D1", "done "},
      {jobs, "status.successful!%3D1", "new "},
      {jobs, "status.successful%3D0", "new "},
      {jobs, "status.successful!%3D0", "done "},
      {jobs, "status.successful%3D", ""},
      {jobs, "status.successful!%3D", "done new "},
      {"/api/v1/nodes", "spec.unschedulable%3Dtrue", "off "},
      {"/api/v1/nodes", "spec.unschedulable%3Dfalse", "on "},
      {"/api/v1/nodes", "spec.unschedulable!%3Dfalse", "off "},
      {"/api/v1/nodes", "spec.unschedulable%3D", ""},
      {pods, "spec.hostNetwork%3Dfalse", "own "},
      {pods, "spec.hostNetwork%3Dtrue", "shared "},
      {pods, "spec.host%3Don", "own "},
  };
  for (const auto& [path, selector, chosen] : cases) {
    CAPTURE(path, selector);
    CHECK(names(server.get(path + "?fieldSelector=" + selector).json) == chosen);
  }
  const auto one = server.watch("/api/v1/watch/nodes/on?fieldSelector=spec.unschedulable%3Dfalse");
  CHECK(one->story() == "ADDED on");
}

TEST_CASE("kinds without namespaces that have field labels of their own have none of it") {
  Server server;
  const auto refused = [&](const std::string& path) {
    return server.get(path + "?fieldSelector=metadata.namespace%3Da").message();
  };
  CHECK(refused("/api/v1/nodes") == "field label not supported: metadata.namespace");
  CHECK(refused("/apis/resource.k8s.io/v1/resourceslices") ==
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: "
        "metadata.namespace");
  CHECK(refused("/apis/rbac.authorization.k8s.io/v1/clusterroles").empty());
  CHECK(refused("/api/v1/pods").empty());
}

}  // namespace kubewatch::apiserver
