// What an update may leave wrong beyond the table of updates (crd_update_test.cpp): rules of the
// whole object, the status by its own endpoint, and what the server warns of instead.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

// A kind of this case's own; its schema grows while objects are stored.
class Things {
 public:
  explicit Things(World& w)
      : w_(w),
        group_(w.ns() + ".example.com"),
        path_("/apis/" + group_ + "/v1/namespaces/" + w.ns() + "/things") {}

  // `more` is merged into the schema. Until the server has it: only a tight one refuses the probe.
  void define(bool tight, const Json& more) {
    Json root = Json::parse(R"({"type": "object", "properties": {
      "spec": {"type": "object", "properties": {"probe": {"type": "string"},
        "n": {"type": "integer"}, "other": {"type": "string"}}},
      "status": {"type": "object", "properties": {"phase": {"type": "string"},
        "n": {"type": "integer"}, "thing": {"type": "object",
          "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}}})");
    if (tight) root["properties"]["spec"]["properties"]["probe"]["maxLength"] = 1;
    root.merge_patch(more);
    const Json version = {{"name", "v1"},
                          {"served", true},
                          {"storage", true},
                          {"subresources", {{"status", Json::object()}}},
                          {"schema", {{"openAPIV3Schema", root}}}};
    const Json crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
                      {"kind", "CustomResourceDefinition"},
                      {"metadata", {{"name", "things." + group_}}},
                      {"spec",
                       {{"group", group_},
                        {"scope", "Namespaced"},
                        {"names", {{"plural", "things"}, {"kind", "Thing"}}},
                        {"versions", Json::array({version})}}}};
    w_.apply(crd.dump());
    const Json probe = object("probe", {{"probe", "long"}, {"n", 9}, {"other", "x"}});
    REQUIRE(w_.eventually([&] {
      return send(w_, "POST", path_ + "?dryRun=All", probe).code == (tight ? 422 : 201);
    }));
  }
  void remove() { w_.remove_definition("things." + group_); }

  Json object(const std::string& name, const Json& spec) const {
    return {{"apiVersion", group_ + "/v1"},
            {"kind", "Thing"},
            {"metadata", {{"name", name}}},
            {"spec", spec}};
  }
  void post(const Json& object) { REQUIRE(send(w_, "POST", path_, object).code == 201); }
  Json get(const std::string& name) { return send(w_, "GET", path_ + "/" + name).body; }

  // "NAME" or "NAME/status".
  struct Put {
    int code = 0;
    Json body;
    std::vector<std::string> warnings;
  };
  Put put(const std::string& where, const Json& object) {
    return write("PUT", where, "application/json", object);
  }
  Put apply(const std::string& name, const Json& object) {
    return write("PATCH", name + "?fieldManager=m", "application/apply-patch+yaml", object);
  }

 private:
  Put write(const char* method, const std::string& where, const char* type, const Json& object) {
    http::Request request;
    request.method = method;
    request.url = path_ + "/" + where;
    request.headers.set("Accept", "application/json");
    request.headers.set("Content-Type", type);
    request.body = base::dump_json(object);
    const http::Response answer = fetch(w_, w_.server().config(), std::move(request));
    auto body = base::parse_json(answer.body);
    Put out{answer.status, body.ok() ? std::move(*body) : Json(answer.body), {}};
    for (const auto& [name, value] : answer.headers.all()) {
      if (value.starts_with("299 - ")) out.warnings.push_back(value);
    }
    return out;
  }

  World& w_;
  std::string group_;
  std::string path_;
};

}  // namespace

E2E_CASE("a rule of the whole object never rests; one of a part does, with a warning") {
  World w;
  Things things(w);
  things.define(false, Json::object());
  things.post(things.object("a", {{"n", 0}}));
  const Json rule_of_n = {{"rule", "self > 1"}, {"message", "too small"}};
  const Json n = {{"type", "integer"}, {"x-kubernetes-validations", Json::array({rule_of_n})}};
  things.define(true, {{"properties", {{"spec", {{"properties", {{"n", n}}}}}}}});
  Json object = things.get("a");
  const std::vector<std::string> told = {"299 - \"spec.n: Invalid value: 0: too small\""};
  const auto same = things.put("a", object);
  CHECK(same.code == 200);
  CHECK(same.warnings == told);
  const auto status = things.put("a/status", object);
  CHECK(status.code == 200);
  CHECK(status.warnings == told);
  object["spec"]["n"] = 1;
  const auto changed = things.put("a", object);
  CHECK(changed.code == 422);
  CHECK(changed.warnings.empty());
  CHECK(told_by_server(changed.body) == Told{"spec.n: Invalid value: 1: too small"});

  const Json rule_of_all = {{"rule", "has(self.spec.other)"}, {"message", "needs other"}};
  things.define(false, Json::object());
  things.define(true, {{"x-kubernetes-validations", Json::array({rule_of_all})}});
  for (const char* where : {"a", "a/status"}) {
    CAPTURE(where);
    const auto refused = things.put(where, things.get("a"));
    CHECK(refused.code == 422);
    CHECK(told_by_server(refused.body) == Told{"<nil>: Invalid value: needs other"});
  }
  things.remove();
}

E2E_CASE("an apply that changes nothing is judged as any other update") {
  World w;
  Things things(w);
  things.define(false, Json::object());
  const Json object = things.object("a", {{"n", 0}});
  const auto made = things.apply("a", object);
  REQUIRE(made.code == 201);
  const Json rule_of_n = {{"rule", "self > 1"}, {"message", "too small"}};
  const Json n = {{"type", "integer"}, {"x-kubernetes-validations", Json::array({rule_of_n})}};
  things.define(true, {{"properties", {{"spec", {{"properties", {{"n", n}}}}}}}});
  const auto same = things.apply("a", object);
  CHECK(same.code == 200);
  CHECK(same.warnings == std::vector<std::string>{"299 - \"spec.n: Invalid value: 0: too small\""});
  CHECK(same.body == made.body);

  const Json rule_of_all = {{"rule", "has(self.spec.other)"}, {"message", "needs other"}};
  things.define(false, Json::object());
  things.define(true, {{"x-kubernetes-validations", Json::array({rule_of_all})}});
  const auto refused = things.apply("a", object);
  CHECK(refused.code == 422);
  CHECK(told_by_server(refused.body) == Told{"<nil>: Invalid value: needs other"});
  things.remove();
}

E2E_CASE("a status may be written again as it was, and embedded objects in it need no kind") {
  World w;
  Things things(w);
  things.define(false, Json::object());
  things.post(things.object("a", {{"n", 0}}));
  Json object = things.get("a");
  object["status"] = {{"n", 1}};
  REQUIRE(things.put("a/status", object).code == 200);
  things.define(true, {{"properties", {{"status", {{"required", {"phase"}}}}}}});
  object = things.get("a");
  CHECK(things.put("a/status", object).code == 200);
  object["status"]["n"] = 2;
  const auto refused = things.put("a/status", object);
  CHECK(refused.code == 422);
  CHECK(told_by_server(refused.body) == Told{"status.phase: Required value"});
  object["status"] = {{"phase", "x"}, {"thing", {{"x", 1}}}};
  const auto embedded = things.put("a/status", object);
  CAPTURE(embedded.body.dump());
  CHECK(embedded.code == 200);
  things.remove();
}

}  // namespace kubewatch::e2e
