// What crd-gen makes of `immutable`, asked of both servers: a value that was set stays, whatever is
// removed around it.
#include "crdgen/generate.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kImmutableTypes = R"(apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  group: GROUP
  kind: Thing
  version: v1
  types:
    A: {fields: {x: string | required}}
    C: {fields: {z: string | required immutable maxLength=4}}
    L: {fields: {name: string | required maxLength=9, sub: {fields: {r: string | required immutable}}}}
  spec:
    fields:
      free: string
      io: string | immutable maxLength=9
      either: A or C
      sub: {fields: {r: string | required immutable maxLength=9}}
      mid: {fields: {in: {required: true, fields: {w: string | immutable, v: string}}}}
      list: '[]L | listType=map listMapKeys=name maxItems=4'
      un: {union: {git: {fields: {url: string | required immutable}}, image: string}}
      nu: {fields: {c: string | required nullable immutable maxLength=9}}
      hull: {fields: {m: {required: true, nullable: true, fields: {b: string | immutable maxLength=9}}}}
)";

}  // namespace

E2E_CASE("crd-gen: an immutable field stays, whatever around it is removed") {
  World w;
  const std::string group = w.ns() + ".example.com";
  std::string text = kImmutableTypes;
  text.replace(text.find("GROUP"), 5, group);
  const auto made = crdgen::generate({{"types.yaml", text}}, crdgen::ServerCheck::run);
  for (const auto& problem : made.problems) FAIL_CHECK(problem.str());
  REQUIRE(made.crds.size() == 1);
  w.apply(made.crds.front().dump());
  const std::string path = "/apis/" + group + "/v1/namespaces/" + w.ns() + "/things";
  const auto object = [&](const std::string& spec) {
    Json out = {{"apiVersion", group + "/v1"}, {"kind", "Thing"}, {"metadata", {{"name", "a"}}}};
    if (!spec.empty()) out["spec"] = Json::parse(spec);
    return out;
  };
  REQUIRE(w.eventually(
      [&] { return send(w, "POST", path + "?dryRun=All", object("{}")).code == 201; }));
  struct Step {
    const char* before;
    const char* after;
    const char* refused;  // a part of the message; "": taken
  };
  const Step steps[] = {
      {R"({"free": "x"})", "", ""},
      {R"({"io": "x"})", "", "spec holds immutable fields: it cannot be removed"},
      {R"({"io": "x"})", R"({"io": "y"})", "this field is immutable"},
      {R"({"either": {"z": "q"}})", R"({"either": {"x": "q"}})", "z is immutable"},
      {R"({"either": {"z": "q"}})", "{}", "either holds immutable fields"},
      {R"({"either": {"x": "q"}})", R"({"either": {"z": "q"}})", ""},
      {R"({"sub": {"r": "q"}, "free": "x"})", R"({"free": "x"})", "sub holds immutable fields"},
      {R"({"mid": {"in": {"v": "q"}}})", "", ""},
      {R"({"mid": {"in": {"w": "q"}}})", "{}", "mid holds immutable fields"},
      {R"({"mid": {"in": {"w": "q"}}})", R"({"mid": {"in": {}}})", "w is immutable"},
      {R"({"list": [{"name": "a", "sub": {"r": "q"}}]})", R"({"list": [{"name": "a"}]})",
       "sub holds immutable fields"},
      {R"({"list": [{"name": "a", "sub": {"r": "q"}}]})", R"({"list": []})", ""},
      {R"({"un": {"git": {"url": "q"}}})", R"({"un": {"image": "q"}})",
       "git holds immutable fields"},
      // A null is no value for has(), though it is one for `required`.
      {R"({"nu": {"c": "1"}})", R"({"nu": {"c": null}})", "c is immutable: it cannot be removed"},
      {R"({"nu": {"c": "1"}})", "{}", "nu holds immutable fields"},
      {R"({"nu": {"c": null}})", R"({"nu": {"c": "1"}})", ""},
      {R"({"hull": {"m": {"b": "1"}}})", R"({"hull": {"m": null}})", "m holds immutable fields"},
      {R"({"hull": {"m": {"b": "1"}}})", "{}", "hull holds immutable fields"},
      {R"({"hull": {"m": null}})", "{}", ""},
  };
  for (const Step& step : steps) {
    CAPTURE(step.before, step.after);
    const auto stored = send(w, "POST", path, object(step.before));
    CHECK(stored.code == 201);
    Json next = object(step.after);
    next["metadata"]["resourceVersion"] =
        base::string_at(stored.body, {"metadata", "resourceVersion"});
    const auto answer = send(w, "PUT", path + "/a", next);
    const std::string told = base::string_at(answer.body, {"message"});
    CAPTURE(told);
    CHECK(answer.code == (*step.refused == '\0' ? 200 : 422));
    CHECK(told.find(step.refused) != std::string::npos);
    CHECK(send(w, "DELETE", path + "/a").code == 200);
  }
  w.remove_definition("things." + group);
}

}  // namespace kubewatch::e2e
