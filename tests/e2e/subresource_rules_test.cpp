// The endpoints below an object that write a part of it or act on it: containers that join a Pod,
// its sizes, bindings, evictions; and who owns what after them and after a Scale. The bodies of a
// Scale are in scale_rules_test.cpp.
#include <utility>
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kStrategic = "application/strategic-merge-patch+json";

std::string pods(const World& w) {
  return "/api/v1/namespaces/" + w.ns() + "/pods";
}

// The path of a Pod "NAME" with this in its spec.
std::string pod(World& w, const std::string& name, Json spec = Json::object(),
                Json metadata = Json::object()) {
  metadata["name"] = name;
  if (!spec.contains("containers")) spec["containers"] = {{{"name", "c"}, {"image", "i"}}};
  made(w, pods(w) + "?fieldManager=maker", {{"metadata", metadata}, {"spec", spec}});
  return pods(w) + "/" + name;
}

const Json kSizes = {{"requests", {{"cpu", "100m"}, {"memory", "64Mi"}}},
                     {"limits", {{"cpu", "1"}, {"memory", "128Mi"}}}};

Json sized(const char* name, const Json& more = Json::object()) {
  Json out = {{"name", name}, {"image", "i"}, {"resources", kSizes}};
  out.update(more);
  return out;
}

// "MANAGER OPERATION SUBRESOURCE" of those who own the field at the pointer.
Told owners(const Json& object, const std::string& pointer) {
  Told out;
  const Json* all = base::find(object, {"metadata", "managedFields"});
  for (const Json& one : all == nullptr ? Json::array() : *all) {
    if (!one.at("fieldsV1").contains(Json::json_pointer(pointer))) continue;
    out.insert(base::string_at(one, {"manager"}) + " " + base::string_at(one, {"operation"}) + " " +
               base::string_at(one, {"subresource"}));
  }
  return out;
}

}  // namespace

E2E_CASE("containers join a Pod, and nothing else of it is written there") {
  World w;
  const std::string path = pod(w, "p");
  const std::string joining = path + "/ephemeralcontainers";
  CHECK(send(w, "GET", joining).body["kind"] == "Pod");
  CHECK(send(w, "POST", joining, Json::object()).code == 405);
  CHECK(send(w, "DELETE", joining).code == 405);
  const Json first = {{"name", "e1"}, {"image", "x"}, {"targetContainerName", "c"}};
  const Answer joined = patch(w, joining + "?fieldManager=debug",
                              {{"metadata", {{"labels", {{"a", "b"}}}}},
                               {"spec",
                                {{"ephemeralContainers", Json::array({first})},
                                 {"containers", {{{"name", "c"}, {"image", "other"}}}}}},
                               {"status", {{"phase", "Failed"}}}},
                              kStrategic);
  REQUIRE(joined.code == 200);
  const Json& spec = joined.body["spec"];
  CHECK(spec["ephemeralContainers"][0]["terminationMessagePolicy"] == "File");
  CHECK(spec["containers"][0]["image"] == "i");
  CHECK(joined.body["status"]["phase"] == "Pending");
  CHECK(joined.body["metadata"]["generation"] == 2);
  CHECK_FALSE(joined.body["metadata"].contains("labels"));
  const Told debug = {"debug Update ephemeralcontainers"};
  CHECK(owners(joined.body, "/f:spec/f:ephemeralContainers") == debug);
  // As there, also of what was not written.
  CHECK(owners(joined.body, R"(/f:spec/f:containers/k:{"name":"c"}/f:image)") == debug);
  CHECK(owners(joined.body, "/f:status/f:phase") == debug);

  const Json second = {{"name", "e2"}, {"image", "x"}};
  const Json add =
      Json::array({{{"op", "add"}, {"path", "/spec/ephemeralContainers/-"}, {"value", second}}});
  CHECK(patch(w, joining, add, kJsonPatch).body["metadata"]["generation"] == 3);
  const Json applied = {{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata", {{"name", "p"}}},
                        {"spec", {{"ephemeralContainers", {{{"name", "e3"}, {"image", "x"}}}}}}};
  const Answer third = patch(w, joining + "?fieldManager=apply", applied, kApply);
  CHECK(third.code == 200);
  CHECK(owners(third.body, R"(/f:spec/f:ephemeralContainers/k:{"name":"e3"})") ==
        Told{"apply Apply ephemeralcontainers"});
  Json whole = third.body;
  whole["spec"]["ephemeralContainers"].push_back({{"name", "e4"}, {"image", "x"}});
  whole["spec"]["nodeName"] = "n";
  whole["metadata"]["finalizers"] = {"a.b/c"};
  const Answer fourth = send(w, "PUT", joining, whole);
  CHECK(fourth.body["spec"]["ephemeralContainers"].size() == 4);
  CHECK_FALSE(fourth.body["spec"].contains("nodeName"));
  CHECK_FALSE(fourth.body["metadata"].contains("finalizers"));
}

E2E_CASE("a container that has joined a Pod stays as it is, and others must fit") {
  World w;
  const std::string joining = pod(w, "p") + "/ephemeralcontainers";
  REQUIRE(
      patch(w, joining, {{"spec", {{"ephemeralContainers", {{{"name", "e"}, {"image", "x"}}}}}}})
          .code == 200);
  const std::string list = "spec.ephemeralContainers";
  const std::string forbidden = ": Forbidden: cannot be set for an Ephemeral Container";
  const Json kept = {{"name", "e"}, {"image", "x"}};
  const auto refused = [&](const Json& containers) {
    const Answer answer =
        patch(w, joining, {{"spec", {{"ephemeralContainers", containers}}}}, kMerge);
    CHECK(answer.code == 422);
    return message(answer);
  };
  const std::string start = "Pod \"p\" is invalid: ";
  CHECK(refused(Json::array()) == start + list +
                                      ": Forbidden: existing ephemeral containers \"e\" may not be "
                                      "removed\n");
  CHECK(refused(Json::array({{{"name", "e"}, {"image", "y"}}}))
            .starts_with(start + list +
                         ": Forbidden: existing ephemeral containers \"e\" may not be changed\n@@ "
                         "-1,6 +1,6 @@\n {\n  \"Name\": \"e\",\n- \"Image\": \"x\",\n+ \"Image\": "
                         "\"y\",\n"));
  CHECK(refused({kept, {{"name", "c"}, {"image", "x"}}}) ==
        start + list + "[1].name: Duplicate value: \"c\"");
  CHECK(refused({kept, {{"name", "f"}, {"image", " x"}}}) ==
        start + list +
            "[1].image: Invalid value: \" x\": must not have leading or trailing whitespace");
  CHECK(refused({kept, {{"name", "f"}, {"image", "x"}, {"targetContainerName", "e"}}}) ==
        start + list + "[1].targetContainerName: Not found: \"e\"");
  CHECK(refused({kept,
                 {{"name", "f"},
                  {"image", "x"},
                  {"ports", {{{"containerPort", 80}}}},
                  {"resources", {{"limits", {{"cpu", "1"}}}}},
                  {"restartPolicy", "Always"}}}) ==
        start + "[" + list + "[1].ports" + forbidden + ", " + list + "[1].resources" + forbidden +
            ", " + list + "[1].restartPolicy" + forbidden + "]");
  const Json mirrored = {
      {"annotations",
       {{"kubernetes.io/config.mirror", "x"}, {"kubernetes.io/config.source", "file"}}}};
  const std::string stays = pod(w, "static", {{"nodeName", "n"}}, mirrored);
  CHECK(message(patch(w, stays + "/ephemeralcontainers",
                      {{"spec", {{"ephemeralContainers", Json::array({kept})}}}})) ==
        "Pod \"static\" is invalid: []: Forbidden: static pods do not support ephemeral "
        "containers");
  CHECK(message(patch(w, stays + "/resize", Json::object())) ==
        "Pod \"static\" is invalid: []: Forbidden: static pods cannot be resized");
}

E2E_CASE("a Pod is resized in processors and memory, and in nothing else") {
  World w;
  const std::string path = pod(w, "p",
                               {{"containers", Json::array({sized("c"), sized("d")})},
                                {"initContainers", Json::array({sized("i")})}});
  const std::string resize = path + "/resize";
  CHECK(send(w, "GET", resize).body["kind"] == "Pod");
  CHECK(send(w, "DELETE", resize).code == 405);
  const auto of = [](const char* list, Json container) {
    return Json{{"spec", {{list, Json::array({std::move(container)})}}}};
  };
  const auto asked = [](const char* list, const char* name, const char* amount) {
    return Json{{"resources", {{list, {{name, amount}}}}}};
  };
  Json more = of("containers", sized("c", asked("requests", "cpu", "200m")));
  more["spec"]["containers"][0]["image"] = "other";
  more["metadata"]["labels"] = {{"a", "b"}};
  const Answer done = patch(w, resize + "?fieldManager=sizer", more, kStrategic);
  REQUIRE(done.code == 200);
  CHECK(done.body["spec"]["containers"][0]["resources"]["requests"] ==
        Json{{"cpu", "200m"}, {"memory", "64Mi"}});
  CHECK(done.body["spec"]["containers"][0]["image"] == "i");
  CHECK(done.body["metadata"]["generation"] == 2);
  CHECK(owners(done.body, R"(/f:spec/f:containers/k:{"name":"c"}/f:resources/f:requests/f:cpu)") ==
        Told{"sizer Update resize"});
  Json same = of("containers", sized("c", asked("requests", "cpu", "0.2")));
  CHECK(patch(w, resize, same, kStrategic).body["metadata"]["generation"] == 2);

  const std::string mutable_only = "spec: Forbidden: only cpu and memory resources are mutable";
  const std::string init = "spec.initContainers[0]";
  const std::string of_init =
      init +
      ": Forbidden: only cpu and memory resources for init or sidecar containers are mutable";
  const std::string at = "spec.containers[0].resources.";
  const std::string moved = ": Forbidden: containers may not be renamed or reordered on resize";
  const std::string named =
      "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a "
      "result of resizing";
  const auto with = [](const Json& resources) {
    return Json{{"name", "c"}, {"resources", resources}};
  };
  const Json nothing = {{"limits", nullptr}, {"requests", nullptr}};
  const std::vector<std::pair<Json, std::string>> strategic = {
      {of("containers", with({{"limits", {{"cpu", nullptr}}}})),
       at + "limits: Forbidden: resource limits cannot be removed"},
      {of("containers", with(nothing)),
       "[" + at + "requests: Forbidden: resource requests cannot be removed, " + at +
           "limits: Forbidden: resource limits cannot be removed]"},
      {of("containers", with({{"limits", {{"ephemeral-storage", "1Gi"}}}})), mutable_only},
      {of("containers",
          {{"name", "c"},
           {"resizePolicy", {{{"resourceName", "cpu"}, {"restartPolicy", "RestartContainer"}}}}}),
       mutable_only},
      {of("containers", with({{"requests", {{"cpu", "2"}}}})),
       at + "requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"},
      {of("containers", {{"name", "e"}, {"image", "i"}}),
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {of("initContainers", {{"name", "j"}, {"image", "i"}}),
       "spec.initContainers: Forbidden: initContainers may not be added or removed on resize"},
      {of("initContainers",
          {{"name", "i"}, {"resources", {{"limits", {{"ephemeral-storage", "1Gi"}}}}}}),
       of_init},
  };
  for (const auto& [body, why] : strategic) {
    CAPTURE(base::dump_json(body));
    CHECK(message(patch(w, resize, body, kStrategic)) == "Pod \"p\" is invalid: " + why);
  }
  CHECK(message(patch(w, resize,
                      {{"spec", {{"containers", Json::array({sized("d"), sized("c")})}}}})) ==
        "Pod \"p\" is invalid: [spec.containers[0].name" + moved + ", spec.containers[1].name" +
            moved + "]");
  Json all = send(w, "GET", path).body;
  for (const char* list : {"containers", "initContainers"}) {
    for (Json& container : all["spec"][list]) {
      container["resources"]["requests"] = container["resources"]["limits"];
    }
  }
  CHECK(message(send(w, "PUT", resize, all)) == "Pod \"p\" is invalid: " + named);

  const std::string whole = pod(w, "whole", {{"resources", kSizes}}) + "/resize";
  CHECK(patch(w, whole, {{"spec", asked("requests", "cpu", "200m")}})
            .body["spec"]["resources"]["requests"]["cpu"] == "200m");
  CHECK(message(patch(w, whole, {{"spec", asked("limits", "hugepages-2Mi", "2Mi")}})) ==
        "Pod \"whole\" is invalid: spec: Forbidden: only cpu and memory resources are mutable at "
        "pod-level");
  const std::string windows = pod(w, "windows", {{"os", {{"name", "windows"}}}}) + "/resize";
  CHECK(message(patch(w, windows, Json::object())) ==
        "Pod \"windows\" is invalid: []: Forbidden: windows pods cannot be resized");
}

E2E_CASE("a Pod that has a node is resized as far as that goes") {
  World w;
  const std::string node = "/api/v1/nodes/" + w.ns();
  const Json more = {
      {"spec",
       {{"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", "300m"}}}}}}}}}}};
  const std::string resize =
      pod(w, "p", {{"nodeName", w.ns()}, {"containers", Json::array({sized("c")})}}) + "/resize";
  const std::string start = "pods \"p\" is forbidden: ";
  CHECK(message(patch(w, resize, more, kStrategic)) == start + "node \"" + w.ns() + "\" not found");
  made(w, "/api/v1/nodes", {{"metadata", {{"name", w.ns()}}}});
  // The server hears of its nodes a little later.
  const std::string small =
      "node didn't have enough allocatable resources: cpu, requested: 300, allocatable: 0; memory, "
      "requested: 67108864, allocatable: 0";
  CHECK(w.eventually([&] { return message(patch(w, resize, more, kStrategic)) == start + small; }));
  REQUIRE(
      patch(w, node + "/status", {{"status", {{"allocatable", {{"cpu", "1"}, {"memory", "1Gi"}}}}}})
          .code == 200);
  CHECK(w.eventually([&] { return patch(w, resize, more, kStrategic).code == 200; }));
  CHECK(send(w, "DELETE", node).code == 200);
}

E2E_CASE("a Pod is bound by a Binding of its namespace as well") {
  World w;
  const std::string bindings = "/api/v1/namespaces/" + w.ns() + "/bindings";
  const std::string path =
      pod(w, "p", Json::object(), {{"labels", {{"a", "1"}}}, {"annotations", {{"a", "1"}}}});
  const auto named = [](const char* name) { return Json{{"metadata", {{"name", name}}}}; };
  const auto to_node = [&](const char* name) {
    Json out = named(name);
    out["target"] = {{"name", "n"}};
    return out;
  };
  const auto told = [&](const std::string& to, const Json& body) {
    const Answer answer = send(w, "POST", to, body);
    return std::to_string(answer.code) + " " + message(answer);
  };
  CHECK(told(bindings, to_node("none")) == "404 pods \"none\" not found");
  CHECK(told(bindings, named("none")) == "500 target.name: Required value");
  CHECK(told(bindings, to_node("")) == "400 Name parameter required.");
  CHECK(told("/api/v1/bindings", to_node("p")) ==
        "404 the server could not find the requested resource");
  CHECK(send(w, "GET", bindings).code == 405);
  CHECK(send(w, "GET", bindings + "/p").code == 404);
  Json elsewhere = to_node("p");
  elsewhere["metadata"]["namespace"] = "elsewhere";
  for (const std::string& to : {bindings, path + "/binding", path + "/eviction"}) {
    Json body = elsewhere;
    if (to.ends_with("eviction")) body.erase("target");
    CHECK(told(to, body) ==
          "400 the namespace of the provided object does not match the namespace sent on the "
          "request");
  }
  Json odd = to_node("p");
  odd["target"]["q"] = 1;
  CHECK(told(bindings + "?fieldValidation=Strict", odd) ==
        "400 Binding in version \"v1\" cannot be handled as a Binding: strict decoding error: "
        "unknown field \"target.q\"");
  odd["target"] = {{"name", 7}};
  CHECK(told(bindings, odd) ==
        "400 Binding in version \"v1\" cannot be handled as a Binding: json: cannot unmarshal "
        "number into Go struct field ObjectReference.target.name of type string");
  Json other = to_node("p");
  other["kind"] = "Foo";
  CHECK(told(bindings, other) ==
        "400 Foo in version \"v1\" cannot be handled as a Binding: no kind \"Foo\" is registered "
        "for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"");
  Json binding = to_node("p");
  binding["metadata"]["labels"] = {{"a", "2"}, {"b", "2"}};
  binding["metadata"]["annotations"] = {{"a", "2"}};
  CHECK(told(bindings, binding) == "201 ");
  const Json bound = send(w, "GET", path).body;
  CHECK(bound["spec"]["nodeName"] == "n");
  CHECK(bound["metadata"]["labels"] == Json{{"a", "2"}, {"b", "2"}});
  CHECK(bound["metadata"]["annotations"] == Json{{"a", "2"}});
}

E2E_CASE("who scales to none owns nothing, and nobody owns what is scaled then") {
  World w;
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json labels = {{"a", "b"}};
  made(w, all + "?fieldManager=maker",
       {{"metadata", {{"name", "d"}}},
        {"spec",
         {{"replicas", 2},
          {"selector", {{"matchLabels", labels}}},
          {"template",
           {{"metadata", {{"labels", labels}}},
            {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}});
  const auto wanted = [&](Json replicas, bool applied) {
    Json out = {{"spec", {{"replicas", std::move(replicas)}}}};
    if (applied) {
      out.update({{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}});
      out["metadata"] = {{"name", "d"}};
    }
    return out;
  };
  struct Step {
    const char* manager;
    Json replicas;
    bool applied;
    int is;
    Told owners;
  };
  const Told first = {"first Update scale"};
  const std::vector<Step> steps = {
      {"first", 3, false, 3, first},
      {"second", 3, false, 3, first},
      {"first", nullptr, false, 0, {}},
      {"first", 4, false, 4, {}},
      {"apply", 4, true, 4, {"apply Apply scale", "before-first-apply Update scale"}},
      {"first", 5, false, 5, first},
      {"apply", 5, true, 5, {"apply Apply scale", "first Update scale"}},
  };
  for (const Step& step : steps) {
    CAPTURE(step.manager, step.is);
    const Answer answer =
        patch(w, all + "/d/scale?fieldManager=" + step.manager, wanted(step.replicas, step.applied),
              step.applied ? kApply : kMerge);
    CHECK(answer.code == 200);
    const Json object = send(w, "GET", all + "/d").body;
    CHECK(object["spec"]["replicas"] == step.is);
    CHECK(owners(object, "/f:spec/f:replicas") == step.owners);
  }
  CHECK(message(patch(w, all + "/d/scale?fieldManager=other", wanted(6, true), kApply)) ==
        "Apply failed with 2 conflicts: conflicts with \"apply\" with subresource \"scale\":\n- "
        ".spec.replicas\nconflicts with \"first\" with subresource \"scale\" using "
        "autoscaling/v1:\n- .spec.replicas");
  Json odd = wanted(6, true);
  odd["spec"]["bar"] = 1;
  CHECK(message(patch(w, all + "/d/scale?fieldManager=other", odd, kApply)) ==
        "failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.bar: field "
        "not declared in schema");
  // What only it applied goes with it.
  Json none = wanted(nullptr, true);
  none.erase("spec");
  REQUIRE(patch(w, all + "/d/scale?fieldManager=apply&force=true", wanted(7, true), kApply).code ==
          200);
  CHECK(patch(w, all + "/d/scale?fieldManager=apply", none, kApply).body["spec"] == Json::object());
}

E2E_CASE("a Scale that is applied, or sent for another object, is refused as any object is") {
  World w;
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json labels = {{"a", "b"}};
  made(w, all,
       {{"metadata", {{"name", "d"}}},
        {"spec",
         {{"selector", {{"matchLabels", labels}}},
          {"template",
           {{"metadata", {{"labels", labels}}},
            {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}});
  const std::string scale = all + "/d/scale";
  const std::string decoding =
      "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ";
  const std::string into = " into Go value of type map[string]interface {}";
  const auto of = [](const std::string& replicas) {
    return R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":)"
           R"({"replicas":)" +
           replicas + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"[]", decoding + "array" + into},
      {"\"x\"", decoding + "string" + into},
      {"null", "invalid object type: /, Kind="},
      {R"({"apiVersion":"v1","kind":"Pod"})", "invalid object type: /v1, Kind=Pod"},
      {of("1.5"),
       "failed to convert new object (/d; autoscaling/v1, Kind=Scale) to proper version: unable to "
       "convert unstructured object to autoscaling/v1, Kind=Scale: cannot convert float64 to "
       "int32"},
  };
  const std::string by = "?fieldManager=m&force=true";
  for (const auto& [body, why] : refused) {
    CAPTURE(body);
    CHECK(message(send_text(w, "PATCH", scale + by, body, kApply)) == why);
  }
  const Answer large = send_text(w, "PATCH", scale + by, of("18446744073709551616"), kApply);
  CHECK(large.code == 200);
  CHECK(large.body["spec"] == Json::object());
  CHECK(send_text(w, "PATCH", scale + by, of("4294967297"), kApply).body["spec"]["replicas"] == 1);
  CHECK(message(send(w, "PUT", scale, {{"metadata", {{"namespace", "other"}}}})) ==
        "the namespace of the provided object does not match the namespace sent on the request");
  CHECK(message(send(w, "PUT", scale, {{"metadata", {{"name", "q"}}}})) ==
        "the name of the object (q) does not match the name on the URL (d)");
  CHECK(message(send(w, "PUT", scale, {{"apiVersion", "v1"}, {"kind", "Pod"}})) ==
        "Pod in version \"v1\" cannot be handled as a Scale: converting (v1.Pod) to "
        "(autoscaling.Scale): unknown conversion");
  const std::string shown = message(patch(w, scale, {{"spec", {{"replicas", "x"}}}}));
  std::size_t last = 0;
  for (const char* part : {"\\\"kind\\\":\\\"Scale\\\",\\\"metadata\\\":{\\\"name\\\":\\\"d\\\",",
                           "\\\"uid\\\":", "\\\"resourceVersion\\\":", "\\\"creationTimestamp\\\":",
                           "\\\"managedFields\\\":[{\\\"manager\\\":\\\"m\\\","
                           "\\\"operation\\\":\\\"Apply\\\",\\\"apiVersion\\\":"}) {
    CAPTURE(shown, part);
    const std::size_t at = shown.find(part, last);
    CHECK(at != std::string::npos);
    last = at == std::string::npos ? last : at;
  }
}

E2E_CASE("the options of an Eviction are read with it") {
  World w;
  const std::string eviction = pods(w) + "/none/eviction";
  const std::string start =
      "Eviction in version \"v1\" cannot be handled as a Eviction: json: cannot unmarshal ";
  const auto told = [&](const Json& options) {
    return message(send(w, "POST", eviction, {{"deleteOptions", options}}));
  };
  CHECK(told({{"gracePeriodSeconds", "x"}}) ==
        start +
            "string into Go struct field DeleteOptions.deleteOptions.gracePeriodSeconds of "
            "type int64");
  CHECK(told({{"dryRun", {7}}}) ==
        start + "number into Go struct field DeleteOptions.deleteOptions.dryRun of type string");
  CHECK(told(7) ==
        start + "number into Go struct field Eviction.deleteOptions of type v1.DeleteOptions");
  CHECK(told({{"kind", "Foo"}}) == "name in URL does not match name in Eviction object");
  const std::string unread =
      "Eviction in version \"v1\" cannot be handled as a Eviction: strict "
      "decoding error: unknown field \"deleteOptions.";
  for (const auto& [options, field] : std::vector<std::pair<Json, std::string>>{
           {{{"zzz", 1}}, "zzz"}, {{{"preconditions", {{"q", 1}}}}, "preconditions.q"}}) {
    CAPTURE(field);
    CHECK(message(send(w, "POST", eviction + "?fieldValidation=Strict",
                       {{"deleteOptions", options}})) == unread + field + "\"");
  }
}

}  // namespace kubewatch::e2e
