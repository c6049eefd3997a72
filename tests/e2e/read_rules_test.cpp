// The reading verbs where they are easily taken for one another: gets that look like watches,
// parameters that do not fit together, selectors, pages, media types, and times that are none.
#include "base/strings.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

void make(World& w, const std::string& name) {
  REQUIRE(send(w, "POST", maps(w),
               {{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", name}, {"labels", {{"n", name}}}}}})
              .code == 201);
}

http::Response take(World& w, const std::string& path, const std::string& accept) {
  http::Request request;
  request.method = "GET";
  request.url = path;
  request.headers.set("Accept", accept);
  return fetch(w, w.server().config(), std::move(request));
}

std::vector<std::string> names(const Answer& answer) {
  std::vector<std::string> out;
  for (const Json& item : answer.body["items"]) out.push_back(item["metadata"]["name"]);
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

E2E_CASE("a get of one object stays a get, whatever `watch` says") {
  World w;
  make(w, "a");
  for (const char* query : {"?watch=true", "?watch=x", "?watch=", "?watch=true&timeoutSeconds=x"}) {
    CAPTURE(query);
    const Answer got = send(w, "GET", maps(w) + "/a" + query);
    CHECK(got.code == 200);
    CHECK(got.body["kind"] == "ConfigMap");
  }
  // A busy server tells of it after a while, or not in so short a watch.
  for (const std::string& watch :
       {maps(w) + "?watch=x&fieldSelector=metadata.name%3Da&timeoutSeconds=",
        "/api/v1/watch/namespaces/" + w.ns() + "/configmaps/a?timeoutSeconds="}) {
    CAPTURE(watch);
    const auto adds = [&](const std::string& seconds) {
      return take(w, watch + seconds, "application/json").body.find("\"ADDED\"") !=
             std::string::npos;
    };
    CHECK((adds("1") || adds("10")));
  }
}

E2E_CASE("a resourceVersion that is no number is a failure of a get and a watch, not of a list") {
  World w;
  const std::string words =
      "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax";
  const Answer got = send(w, "GET", maps(w) + "/a?resourceVersion=abc");
  CHECK(got.code == 500);
  CHECK(message(got) == words);
  CHECK(send(w, "GET", maps(w) + "?watch=true&resourceVersion=abc").code == 500);
  const Answer list = send(w, "GET", maps(w) + "?resourceVersion=abc");
  CHECK(list.code == 400);
  CHECK(message(list) == "invalid resource version: " + words);
}

E2E_CASE("options of a list or watch that do not fit are all told") {
  World w;
  const std::string field = "resourceVersionMatch";
  const Answer go_on = send(w, "GET", maps(w) + "?watch=true&continue=x");
  CHECK(go_on.code == 422);
  CHECK(tells(told_by_server(go_on.body), field, "forbidden when continue is provided"));
  const Told watch =
      told_by_server(send(w, "GET", maps(w) + "?watch=true&resourceVersionMatch=Exact").body);
  CHECK(watch.size() == 2);
  CHECK(tells(watch, field, "Unsupported value: \"Exact\": supported values: \"NotOlderThan\""));
  const Told list = told_by_server(send(w, "GET", maps(w) + "?resourceVersionMatch=Foo").body);
  CHECK(list.size() == 2);
  CHECK(tells(list, field, "forbidden unless resourceVersion is provided"));
}

E2E_CASE("field selectors are those of their kinds") {
  World w;
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  CHECK(send(w, "GET", requests + "?fieldSelector=spec.signerName%3Da").code == 200);
  CHECK(send(w, "GET", "/apis/apps/v1/replicasets?fieldSelector=status.replicas%3D1").code == 400);
  CHECK(message(send(w, "GET", "/apis/batch/v1/jobs?fieldSelector=x%3D1")) ==
        "field label \"x\" not supported for Job");
  const std::string slices = "/apis/resource.k8s.io/v1/resourceslices";
  CHECK(send(w, "GET", slices + "?fieldSelector=spec.driver%3Da").code == 200);
  const std::string of_namespace = "?fieldSelector=metadata.namespace%3Da";
  for (const std::string& path : {std::string("/api/v1/nodes"), requests}) {
    CAPTURE(path);
    CHECK(message(send(w, "GET", path + of_namespace)) ==
          "field label not supported: metadata.namespace");
  }
  CHECK(send(w, "GET", slices + of_namespace).code == 400);
  CHECK(send(w, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles" + of_namespace).code ==
        200);
}

E2E_CASE("field selectors choose by the server's values, whatever objects show of them") {
  World w;
  const std::string all = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  const Json container = {{"name", "c"}, {"image", "i"}};
  const Json pod = {{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  REQUIRE(send(w, "POST", all,
               {{"metadata", {{"name", "j"}}},
                {"spec", {{"suspend", true}, {"template", {{"spec", pod}}}}}})
              .code == 201);
  const auto chosen = [&](const std::string& path, const std::string& selector) {
    return names(send(w, "GET", path + "?fieldSelector=" + selector)).size();
  };
  CHECK(chosen(all, "status.successful%3D0") == 1);
  CHECK(chosen(all, "status.successful!%3D0") == 0);
  CHECK(chosen(all, "status.successful%3D") == 0);
  CHECK(chosen(all, "status.successful!%3D1") == 1);
  const std::string node = "node-" + w.ns();
  const std::string name = ",metadata.name%3D" + node;
  REQUIRE(send(w, "POST", "/api/v1/nodes", {{"metadata", {{"name", node}}}}).code == 201);
  CHECK(chosen("/api/v1/nodes", "spec.unschedulable%3Dfalse" + name) == 1);
  CHECK(chosen("/api/v1/nodes", "spec.unschedulable!%3Dfalse" + name) == 0);
  CHECK(chosen("/api/v1/nodes", "spec.unschedulable%3D" + name) == 0);
  CHECK(send(w, "DELETE", "/api/v1/nodes/" + node).code == 200);
  CHECK(send(w, "GET", "/api/v1/pods?fieldSelector=spec.host%3Da").code == 200);
}

E2E_CASE("pages: from the cache all that is left comes, and more may be said where none matches") {
  World w;
  for (const char* name : {"a1", "a2", "a3", "a4"}) make(w, name);
  const Answer first = send(w, "GET", maps(w) + "?limit=1");
  const std::string token = base::string_at(first.body, {"metadata", "continue"});
  REQUIRE_FALSE(token.empty());
  CHECK(names(send(w, "GET", maps(w) + "?limit=1&continue=" + token)) == Names{"a2"});
  const Answer rest =
      send(w, "GET", maps(w) + "?limit=1&resourceVersion=0&labelSelector=n&continue=" + token);
  CHECK(names(rest) == Names{"a2", "a3", "a4"});
  const Answer full = send(w, "GET", maps(w) + "?limit=1&labelSelector=n%3Da2");
  const std::string more = base::string_at(full.body, {"metadata", "continue"});
  CHECK_FALSE(more.empty());
  CHECK(names(send(w, "GET", maps(w) + "?limit=1&labelSelector=n%3Da2&continue=" + more)).empty());
  const Answer one = send(w, "GET", maps(w) + "?limit=1&fieldSelector=metadata.name%3Da2");
  CHECK(base::string_at(one.body, {"metadata", "continue"}).empty());
}

E2E_CASE("a continue token that is none is refused for what is wrong with it") {
  World w;
  struct Case {
    std::string token;
    std::string why;
  };
  const auto encoded = [](const std::string& text) { return base::base64url_encode(text); };
  const std::string version = R"({"v":"meta.k8s.io/v1")";
  const Case cases[] = {
      {"nonsense!", "illegal base64 data at input byte 8"},
      {"abcde", "illegal base64 data at input byte 4"},
      {encoded("{"), "unexpected end of JSON input"},
      {encoded("[]"), "json: cannot unmarshal array into Go value of type storage.continueToken"},
      {encoded(R"({"v":1.5})"),
       "json: cannot unmarshal number into Go struct field continueToken.v of type string"},
      {encoded(R"({"rv":"1"})"),
       "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"},
      {encoded(R"({"v":"v2"})"), "server does not recognize this encoded version v2"},
      {encoded(version + "}"), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
      {encoded(version + R"(,"rv":3})"), "encoded start key empty (version meta.k8s.io/v1)"},
      {encoded(version + R"(,"rv":3,"start":"../x"})"), "../x"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.token);
    const Answer refused = send(w, "GET", maps(w) + "?continue=" + c.token);
    CHECK(refused.code == 400);
    CHECK(refused.body["reason"] == "BadRequest");
    CHECK(base::string_at(refused.body, {"message"}) ==
          "invalid continue token: continue key is not valid: " + c.why);
  }
}

E2E_CASE("what is not acceptable is refused, and failures come in YAML for who takes YAML") {
  World w;
  make(w, "a");
  const http::Response lost = take(w, maps(w) + "/nope", "application/yaml");
  CHECK(lost.status == 404);
  CHECK(lost.headers.get("Content-Type") == "application/yaml");
  CHECK(lost.body.find("reason: NotFound") != std::string::npos);
  const auto refusal = [&](const std::string& query, const std::string& accept) {
    const http::Response answer = take(w, maps(w) + query, accept);
    CHECK(answer.status == 406);
    const auto status = base::parse_json(answer.body);
    return status.ok() ? base::string_at(*status, {"message"}) : answer.body;
  };
  const std::string types =
      "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  CHECK(refusal("/a", "text/plain") ==
        "406: Not Acceptable\n\nAvailable representations: " + types);
  CHECK(refusal("", "text/plain").find("application/json;stream=watch") != std::string::npos);
  CHECK(refusal("/a", "application/json;as=Foo;g=meta.k8s.io;v=v1") ==
        "only the following media types are accepted: " + types);
  CHECK(refusal("?watch=true", "application/yaml").find("application/json;stream=watch") !=
        std::string::npos);
  const http::Response lists_only =
      take(w, maps(w) + "?watch=true&timeoutSeconds=5",
           "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  CHECK(lists_only.status == 200);
  CHECK(lists_only.body.empty());
  CHECK(send_text(w, "POST", maps(w), "{}", "*/*").code == 415);
}

E2E_CASE("the times of a Lease have six digits after the point") {
  World w;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/" + w.ns() + "/leases";
  const auto made = [&](const std::string& time) {
    return send(w, "POST", leases + "?dryRun=All",
                {{"apiVersion", "coordination.k8s.io/v1"},
                 {"kind", "Lease"},
                 {"metadata", {{"name", "l"}}},
                 {"spec", {{"renewTime", time}}}});
  };
  CHECK(made("2024-01-01T00:00:00.000000Z").code == 201);
  CHECK(made("2024-01-01T00:00:00.000000+01:00").code == 201);
  for (const char* time : {"x", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.123456789Z"}) {
    CAPTURE(time);
    CHECK(made(time).code == 400);
  }
  CHECK(message(made("2024-01-01T00:00:00Z")).find("cannot parse \"Z\" as \".000000\"") !=
        std::string::npos);
  const Answer applied = send_text(w, "PATCH", leases + "/l?fieldManager=m&dryRun=All",
                                   "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: "
                                   "{name: l}, spec: {renewTime: 1}}",
                                   "application/apply-patch+yaml");
  CHECK(applied.code == 500);
  CHECK(message(applied).starts_with("failed to convert new object (/l; coordination.k8s.io/v1"));
}

E2E_CASE("a timeout that is none is refused before all else, but not of a watch") {
  World w;
  const std::string words = "invalid timeout specified in the request URL - time: ";
  const auto refused = [&](const std::string& method, const std::string& path) {
    const Answer answer = send(w, method, path);
    CHECK(answer.code == 400);
    return message(answer);
  };
  for (const std::string& path : {maps(w), maps(w) + "/nope", std::string("/version"),
                                  std::string("/apis/nobody.example.com/v1/foos")}) {
    CHECK(refused("GET", path + "?timeout=x") == words + "invalid duration \"x\"");
  }
  CHECK(refused("DELETE", maps(w) + "/nope?timeout=1") == words + "missing unit in duration \"1\"");
  CHECK(refused("POST", maps(w) + "?timeout=1y") ==
        words + "unknown unit \"y\" in duration \"1y\"");
  CHECK(refused("GET", maps(w) + "?timeout=9999999h") == words + "invalid duration \"9999999h\"");
  for (const char* timeout : {"", "0", "-1s", "1m1.5s", "100h"}) {
    CAPTURE(timeout);
    CHECK(send(w, "GET", maps(w) + "?timeout=" + timeout).code == 200);
  }
  const http::Response watch =
      take(w, maps(w) + "?watch=true&timeoutSeconds=1&timeout=x", "application/json");
  CHECK(watch.status == 200);
}

E2E_CASE("selectors that cannot be read are refused in the server's words") {
  World w;
  const auto labels = [&](const std::string& text) {
    return message(send(w, "GET", maps(w) + "?labelSelector=" + text));
  };
  const auto fields = [&](const std::string& text) {
    return message(send(w, "GET", maps(w) + "?fieldSelector=" + text));
  };
  const std::string start = "unable to parse requirement: ";
  CHECK(labels("a%3D%3D%3Db") == start + "found '=', expected: identifier");
  CHECK(labels("a%20in%20b") == start + "found 'b' expected: '('");
  CHECK(labels("a%20b") == start + "found 'b', expected: in, notin, =, ==, !=, gt, lt");
  CHECK(labels("a,") == "found '', expected: identifier after ','");
  CHECK(labels("a%3Db%3Dc") == "found '=', expected: ',' or 'end of string'");
  CHECK(labels("a%3Ex") == start +
                               "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
                               "value must be an integer");
  CHECK(labels("/a") == start + "<nil>: Invalid value: \"/a\": prefix part must be non-empty");
  CHECK(fields("a") == "invalid selector: 'a'; can't understand 'a'");
  CHECK(fields("a%3Db%3Dc") == "invalid field selector: unescaped character in value: 61");
  CHECK(fields("a%3D%5Cx") == "invalid field selector: invalid escape sequence: \\x");
  CHECK(labels("a%3D%3D%3Db&limit=x") == "strconv.ParseInt: parsing \"x\": invalid syntax");
}

E2E_CASE("that no initial events are wanted is said, and not the same as nothing") {
  World w;
  const std::string query = "?watch=true&timeoutSeconds=1&sendInitialEvents=false";
  const std::string field = "resourceVersionMatch";
  CHECK(tells(told_by_server(send(w, "GET", maps(w) + query).body), field,
              "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  CHECK(tells(told_by_server(send(w, "GET", maps(w) + "?sendInitialEvents=false").body),
              "sendInitialEvents", "sendInitialEvents is forbidden for list"));
}

E2E_CASE(
    "what a group of custom kinds has not is no page, what a built-in group has not a Status") {
  World w;
  const std::string group = "/apis/e2e.kubewatch.dev/";
  for (const std::string& path : {group + "v1/nopes", group + "v9/websites",
                                  std::string("/apis/nobody.example.com/v1/foos")}) {
    CAPTURE(path);
    const http::Response answer = take(w, path, "application/json");
    CHECK(answer.status == 404);
    CHECK(answer.body == "404 page not found\n");
  }
  for (const char* path : {"/api/v1/nopes", "/apis/apps/v9/deployments"}) {
    CAPTURE(path);
    CHECK(send(w, "GET", path).body["reason"] == "NotFound");
  }
}

}  // namespace kubewatch::e2e
