// What a DELETE does and answers: policies of objects that die already, kinds that are answered
// with the object, the form of the answer, warnings.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

using Finalizers = std::vector<std::string>;

Json config_map(const std::string& name, const Finalizers& finalizers) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"finalizers", finalizers}}}};
}

Finalizers finalizers_of(const Answer& answer) {
  const Json* found = base::find(answer.body, {"metadata", "finalizers"});
  return found == nullptr ? Finalizers() : found->get<Finalizers>();
}

std::string version_of(const Answer& answer) {
  return base::string_at(answer.body, {"metadata", "resourceVersion"});
}

http::Response take(World& w, const std::string& method, const std::string& path,
                    const std::string& accept) {
  http::Request request;
  request.method = method;
  request.url = path;
  request.headers.set("Accept", accept);
  return fetch(w, w.server().config(), std::move(request));
}

}  // namespace

E2E_CASE("a second delete of a dying object has its way with the collector's finalizers") {
  World w;
  const std::string one = maps(w) + "/held";
  REQUIRE(send(w, "POST", maps(w), config_map("held", {"e2e.kubewatch.dev/held"})).code == 201);
  const Answer first = send(w, "DELETE", one);
  CHECK(finalizers_of(first) == Finalizers{"e2e.kubewatch.dev/held"});
  const Answer again = send(w, "DELETE", one);
  CHECK(version_of(again) == version_of(first));
  const Answer foreground = send(w, "DELETE", one, {{"propagationPolicy", "Foreground"}});
  CHECK(foreground.code == 200);
  CHECK(finalizers_of(foreground) == Finalizers{"e2e.kubewatch.dev/held", "foregroundDeletion"});
  CHECK(version_of(foreground) != version_of(first));
  CHECK(base::string_at(foreground.body, {"metadata", "deletionTimestamp"}) ==
        base::string_at(first.body, {"metadata", "deletionTimestamp"}));
  const Answer background = send(w, "DELETE", one, {{"propagationPolicy", "Background"}});
  CHECK(finalizers_of(background) == Finalizers{"e2e.kubewatch.dev/held"});
  send_text(w, "PATCH", one, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  CHECK(send(w, "GET", one).code == 404);
}

E2E_CASE("a delete by orphanDependents=false is accepted, and not done, while something holds it") {
  World w;
  const std::string one = maps(w) + "/held";
  const std::string flag = "orphanDependents=false";
  REQUIRE(send(w, "POST", maps(w), config_map("held", {"e2e.kubewatch.dev/held"})).code == 201);
  CHECK(send(w, "DELETE", one + "?dryRun=All&" + flag).code == 202);
  const Answer dying = send(w, "DELETE", one, {{"orphanDependents", false}});
  CHECK(dying.code == 202);
  CHECK(dying.body["kind"] == "ConfigMap");
  CHECK(send(w, "DELETE", one + "?" + flag).code == 202);
  CHECK(send(w, "DELETE", one + "?propagationPolicy=Background").code == 200);
  CHECK(send(w, "DELETE", one + "?orphanDependents=true").code == 200);
  CHECK(send(w, "DELETE", one).code == 200);
  send_text(w, "PATCH", one, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  REQUIRE(send(w, "POST", maps(w), config_map("free", {})).code == 201);
  CHECK(send(w, "DELETE", maps(w) + "/free?dryRun=All&" + flag).code == 200);
  CHECK(send(w, "DELETE", maps(w) + "/free?" + flag).code == 200);
}

E2E_CASE("an object with nothing but a policy's finalizer goes with a delete of another policy") {
  World w;
  REQUIRE(send(w, "POST", maps(w), config_map("kept", {"orphan"})).code == 201);
  const Answer gone = send(w, "DELETE", maps(w) + "/kept?propagationPolicy=Background");
  CHECK(gone.body["kind"] == "Status");
  CHECK(send(w, "GET", maps(w) + "/kept").code == 404);
}

E2E_CASE("some kinds are answered with the deleted object, others with a Status") {
  World w;
  const std::string root = "/api/v1/namespaces/" + w.ns() + "/";
  const auto deleted = [&](const std::string& plural, Json object) {
    object["metadata"] = {{"name", "gone"}};
    REQUIRE(send(w, "POST", root + plural, object).code == 201);
    const Answer dry = send(w, "DELETE", root + plural + "/gone?dryRun=All");
    const Answer answer = send(w, "DELETE", root + plural + "/gone");
    CHECK(dry.body["kind"] == answer.body["kind"]);
    return answer.body;
  };
  const Json service =
      deleted("services",
              {{"apiVersion", "v1"}, {"kind", "Service"}, {"spec", {{"ports", {{{"port", 80}}}}}}});
  CHECK(service["kind"] == "Service");
  CHECK_FALSE(service["metadata"].contains("deletionTimestamp"));
  CHECK(deleted("serviceaccounts", {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}})["kind"] ==
        "ServiceAccount");
  const Json pod = deleted("pods", {{"apiVersion", "v1"},
                                    {"kind", "Pod"},
                                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  CHECK(pod["kind"] == "Pod");
  CHECK(pod["metadata"].contains("deletionTimestamp"));
  CHECK(deleted("secrets", {{"apiVersion", "v1"}, {"kind", "Secret"}})["kind"] == "Status");
}

E2E_CASE("a deletion is answered in the form that is asked for") {
  World w;
  const std::string table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  const auto make = [&](const Finalizers& finalizers) {
    REQUIRE(send(w, "POST", maps(w), config_map("a", finalizers)).code == 201);
  };
  make({});
  const http::Response status = take(w, "DELETE", maps(w) + "/a", "application/yaml");
  CHECK(status.headers.get("Content-Type") == "application/yaml");
  CHECK(status.body.find("status: Success") != std::string::npos);
  make({"e2e.kubewatch.dev/held"});
  CHECK(take(w, "DELETE", maps(w) + "/a", "text/plain").status == 406);
  CHECK(take(w, "DELETE", maps(w) + "/a", table).body.find("\"Table\"") != std::string::npos);
  CHECK(take(w, "DELETE", maps(w) + "?dryRun=All", table).body.find("\"Table\"") !=
        std::string::npos);
  send_text(w, "PATCH", maps(w) + "/a", R"({"metadata":{"finalizers":null}})",
            "application/merge-patch+json");
}

E2E_CASE("a Job that is deleted without a policy is warned about") {
  World w;
  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  const auto warning = [&](const std::string& path) {
    return std::string(take(w, "DELETE", path, "application/json").headers.get("Warning"));
  };
  CHECK(warning(jobs + "/none").find("child pods are preserved by default when jobs are deleted") !=
        std::string::npos);
  CHECK(warning(jobs + "/none?propagationPolicy=Orphan").empty());
  CHECK(warning(jobs).find("child pods are preserved") != std::string::npos);
}

E2E_CASE("the options of a delete are read strictly, and told of in the server's words") {
  World w;
  const std::string one = maps(w) + "/a";
  REQUIRE(send(w, "POST", maps(w), config_map("a", {})).code == 201);
  struct Case {
    int code;
    const char* body;
    std::string words;
    const char* type = "application/json";
  };
  const std::string read = "json: cannot unmarshal ";
  const std::string policies =
      ": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
  for (const Case& c : {
           Case{
               400, R"({"gracePeriodSeconds": "x"})",
               read + "string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"},
           Case{400, R"({"orphanDependents": 1})",
                read + "number into Go struct field DeleteOptions.orphanDependents of type bool"},
           Case{400, R"({"propagationPolicy": {}})",
                read + "object into Go struct field DeleteOptions.propagationPolicy of type "
                       "v1.DeletionPropagation"},
           Case{400, R"({"preconditions": {"uid": 1}})",
                read + "number into Go struct field Preconditions.preconditions.uid of type "
                       "types.UID"},
           Case{400, R"({"dryRun": "All"})",
                read + "string into Go struct field DeleteOptions.dryRun of type []string"},
           Case{400, R"({"kind": "Foo"})",
                "no kind \"Foo\" is registered for version \"meta.k8s.io/v1\" in scheme "
                "\"pkg/runtime/scheme.go:111\""},
           Case{400, R"([])",
                "couldn't get version/kind; json parse error: " + read + "array into"},
           Case{400, "propagationPolicy: Orphan", "couldn't get version/kind; json parse error: "},
           Case{422, "propagationPolicy: Foo", "Unsupported value: \"Foo\"" + policies,
                "application/yaml"},
           Case{422, R"({"propagationPolicy": ""})", "Unsupported value: \"\"" + policies},
           Case{422, R"({"propagationPolicy": "Orphan", "orphanDependents": true})",
                "orphanDependents and deletionPropagation cannot be both set"},
           Case{422, R"({"dryRun": ["x"]})",
                "Unsupported value: [\"x\"]: supported values: \"All\""},
           Case{409, R"({"preconditions": {"uid": ""}})",
                "the UID in the precondition () does not"},
           Case{415, "{}", "the body of the request was in an unknown format", "text/plain"},
       }) {
    CAPTURE(c.body);
    const Answer answer = send_text(w, "DELETE", one, c.body, c.type);
    CHECK(answer.code == c.code);
    CHECK(base::string_at(answer.body, {"message"}).find(c.words) != std::string::npos);
  }
  CHECK(send(w, "DELETE", one + "?propagationPolicy=").code == 422);
  // With a body the query says nothing.
  CHECK(
      send_text(w, "DELETE", one + "?dryRun=All&propagationPolicy=Foo", "null", "application/json")
          .code == 200);
  CHECK(send(w, "GET", one).code == 404);
}

E2E_CASE("a finalize of a Namespace writes all but its status, and ends one that nothing holds") {
  World w;
  const std::string all = "/api/v1/namespaces";
  const std::string name = w.ns() + "-held";
  const std::string one = all + "/" + name;
  const Finalizers theirs = {"e2e.kubewatch.dev/z", "e2e.kubewatch.dev/a"};
  REQUIRE(send(w, "POST", all,
               {{"metadata", {{"name", name}, {"finalizers", {"e2e.kubewatch.dev/held"}}}},
                {"spec", {{"finalizers", theirs}}}})
              .code == 201);
  Json object = send(w, "GET", one).body;
  object["metadata"]["annotations"] = {{"told", "yes"}};
  object["status"]["phase"] = "Terminating";
  const Answer written = send(w, "PUT", one + "/finalize", object);
  CHECK(base::string_at(written.body, {"metadata", "annotations", "told"}) == "yes");
  CHECK(base::string_at(written.body, {"status", "phase"}) == "Active");
  CHECK(send(w, "DELETE", one).code == 200);
  // Whoever empties it takes its own finalizer away, and no other.
  const Json left = {"e2e.kubewatch.dev/a", "e2e.kubewatch.dev/z"};
  CHECK(w.eventually([&] { return send(w, "GET", one).body["spec"]["finalizers"] == left; },
                     kCollected));
  object = send(w, "GET", one).body;
  object["metadata"]["finalizers"] = Json::array();
  object["spec"]["finalizers"] = Json::array();
  CHECK(send(w, "PUT", one + "/finalize", object).code == 200);
  CHECK(send(w, "GET", one).code == 404);
}

E2E_CASE("the policies of a Namespace's deletion are finalizers of its own") {
  World w;
  const std::string all = "/api/v1/namespaces";
  const std::string name = w.ns() + "-policy";
  const std::string one = all + "/" + name;
  struct Case {
    Json options;
    std::string finalizer;
  };
  for (const Case& c : {Case{{{"propagationPolicy", "Orphan"}}, "orphan"},
                        Case{{{"propagationPolicy", "Foreground"}}, "foregroundDeletion"},
                        Case{{{"orphanDependents", true}}, "orphan"},
                        Case{{{"orphanDependents", false}}, "foregroundDeletion"},
                        Case{{{"propagationPolicy", "Background"}}, ""}}) {
    CAPTURE(c.options.dump());
    // Once the one before is gone.
    REQUIRE(w.eventually(
        [&] {
          return send(w, "POST", all, {{"metadata", {{"name", name}}}}).code == 201;
        },
        kCollected));
    const Answer dying = send(w, "DELETE", one, c.options);
    CHECK(dying.code == (c.options.value("orphanDependents", true) ? 200 : 202));
    CHECK(finalizers_of(dying) == (c.finalizer.empty() ? Finalizers() : Finalizers{c.finalizer}));
    CHECK(base::string_at(dying.body, {"status", "phase"}) == "Terminating");
  }
  CHECK(w.eventually([&] { return send(w, "GET", one).code == 404; }, kCollected));
  // Where nobody empties it, a second delete takes it.
  REQUIRE(send(w, "POST", all, {{"metadata", {{"name", name}}}}).code == 201);
  CHECK(send(w, "PUT", one + "/finalize", {{"metadata", {{"name", name}}}}).code == 200);
  CHECK(send(w, "DELETE", one).code == 200);
  CHECK(send(w, "DELETE", one).body["kind"] == "Namespace");
  CHECK(send(w, "GET", one).code == 404);
}

E2E_CASE("a foreground deletion ends when a dependent has another owner, and in a circle") {
  World w;
  const auto make = [&](const std::string& name, const std::vector<Json>& owners) {
    Json object = config_map(name, {});
    object["metadata"]["ownerReferences"] = owners;
    const Answer made = send(w, "POST", maps(w), object);
    REQUIRE(made.code == 201);
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"name", name},
                {"uid", base::string_at(made.body, {"metadata", "uid"})},
                {"blockOwnerDeletion", true}};
  };
  const auto is_gone = [&](const std::string& name) {
    return w.eventually([&] { return send(w, "GET", maps(w) + "/" + name).code == 404; },
                        kCollected);
  };
  const Json policy = {{"propagationPolicy", "Foreground"}};
  const Json one = make("one", {});
  const Json two = make("two", {});
  make("child", {one, two});
  send(w, "DELETE", maps(w) + "/one", policy);
  CHECK(is_gone("one"));
  const Json child = send(w, "GET", maps(w) + "/child").body;
  CHECK(child["metadata"]["ownerReferences"] == Json::array({two}));

  const Json first = make("first", {});
  const Json second = make("second", {first});
  const Json third = make("third", {second});
  const Json circle = {{"metadata", {{"ownerReferences", {third}}}}};
  send_text(w, "PATCH", maps(w) + "/first", base::dump_json(circle),
            "application/merge-patch+json");
  send(w, "DELETE", maps(w) + "/first", policy);
  for (const char* name : {"first", "second", "third"}) {
    CAPTURE(name);
    CHECK(is_gone(name));
  }
}

E2E_CASE("a second delete of a dying definition has its way with the collector's finalizers") {
  World w;
  const std::string all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string held = "e2e.kubewatch.dev/held";
  const std::string group = "second." + w.ns() + ".dev";
  const std::string one = all + "/things." + group;
  const Json schema = {
      {"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
  REQUIRE(send(w, "POST", all,
               {{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "CustomResourceDefinition"},
                {"metadata", {{"name", "things." + group}, {"finalizers", {held}}}},
                {"spec",
                 {{"group", group},
                  {"scope", "Namespaced"},
                  {"names", {{"plural", "things"}, {"kind", "Thing"}}},
                  {"versions",
                   {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", schema}}}}}}})
              .code == 201);
  const Answer first = send(w, "DELETE", one, {{"propagationPolicy", "Foreground"}});
  REQUIRE(finalizers_of(first) == Finalizers{held, "customresourcecleanup.apiextensions.k8s.io"});
  CHECK_FALSE(first.body["metadata"].contains("deletionGracePeriodSeconds"));
  // Its objects, of which there are none, are taken away first.
  REQUIRE(w.eventually([&] { return finalizers_of(send(w, "GET", one)) == Finalizers{held}; },
                       kCrdGone));
  const Answer second = send(w, "DELETE", one);
  REQUIRE(second.code == 200);
  CHECK(second.body["kind"] == "CustomResourceDefinition");
  CHECK(base::int_at(second.body, {"metadata", "deletionGracePeriodSeconds"}) == 0);
  const auto policy = [&](const char* name) {
    return send(w, "DELETE", one, {{"propagationPolicy", name}});
  };
  CHECK(finalizers_of(policy("Foreground")) == Finalizers{held, "foregroundDeletion"});
  CHECK(finalizers_of(policy("Orphan")) == Finalizers{held, "orphan"});
  const Answer last = policy("Background");
  CHECK(finalizers_of(last) == Finalizers{held});
  CHECK(base::int_at(last.body, {"metadata", "generation"}) == 1);
  CHECK(base::int_at(first.body, {"metadata", "generation"}) == 1);
  send_text(w, "PATCH", one, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  CHECK(w.eventually([&] { return send(w, "GET", one).code == 404; }, kCrdGone));
}

E2E_CASE("a deletion of many with the policy Orphan leaves what they own, without its owner") {
  World w;
  const auto make = [&](const std::string& name, const Json& metadata) {
    Json object = config_map(name, {});
    object["metadata"].update(metadata);
    const Answer made = send(w, "POST", maps(w), object);
    REQUIRE(made.code == 201);
    return base::string_at(made.body, {"metadata", "uid"});
  };
  const auto owned = [&](const std::string& name, const std::string& owner,
                         const std::string& uid) {
    const Json reference = {
        {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", owner}, {"uid", uid}};
    make(name, {{"ownerReferences", Json::array({reference})}});
  };
  const auto answer_of = [&](const std::string& name) {
    return send(w, "GET", maps(w) + "/" + name);
  };
  const auto make_family = [&](const std::string& owner, const char* goes) {
    owned("of-" + owner, owner, make(owner, {{"labels", {{"goes", goes}}}}));
  };
  const auto delete_those = [&](const std::string& goes, const char* policy) {
    return send(w, "DELETE", maps(w) + "?labelSelector=goes%3D" + goes,
                {{"propagationPolicy", policy}});
  };
  make_family("one", "first");
  make_family("two", "first");
  make_family("other", "later");
  const Answer deleted = delete_those("first", "Orphan");
  REQUIRE(deleted.code == 200);
  REQUIRE(deleted.body.contains("items"));
  CHECK(deleted.body["items"].size() == 2);
  for (const std::string owner : {"one", "two"}) {
    CAPTURE(owner);
    CHECK(w.eventually([&] { return answer_of(owner).code == 404; }, kCollected));
    const Answer left = answer_of("of-" + owner);
    CHECK(left.code == 200);
    CHECK_FALSE(left.body["metadata"].contains("ownerReferences"));
    CHECK_FALSE(left.body["metadata"].contains("deletionTimestamp"));
  }
  CHECK(answer_of("other").code == 200);
  CHECK(answer_of("of-other").body["metadata"]["ownerReferences"].size() == 1);
  // Without it they go.
  CHECK(delete_those("later", "Background").code == 200);
  CHECK(w.eventually([&] { return answer_of("of-other").code == 404; }, kCollected));
}

}  // namespace kubewatch::e2e
