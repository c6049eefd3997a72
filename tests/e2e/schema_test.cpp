// The tables of definitions and objects (schema/*.yaml): both servers judge them alike. Nothing is
// stored but the kind that the objects are of: the rest is asked as a dry run.
#include <algorithm>

#include "e2e/schema/table.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

std::string table_file(const char* name) {
  return std::string(SCHEMA_TABLES) + "/" + name;
}

struct Verdict {
  int code = 201;
  std::string message;
  std::vector<std::pair<std::string, std::string>> causes;  // field, message
  Json object;

  bool names(const std::string& field, const std::string& what) const {
    return std::any_of(causes.begin(), causes.end(), [&](const auto& cause) {
      return cause.first == field && cause.second.find(what) != std::string::npos;
    });
  }
};

Verdict verdict_of(const Result<Json>& answer) {
  Verdict out;
  if (answer.ok()) {
    out.object = *answer;
    return out;
  }
  out.code = answer.error().status() != nullptr ? answer.error().status()->code : 0;
  out.message = answer.error().message();
  if (answer.error().status() == nullptr) return out;
  const auto body = base::parse_json(answer.error().status()->body);
  const Json* causes = body ? base::find(*body, {"details", "causes"}) : nullptr;
  if (causes == nullptr || !causes->is_array()) return out;
  for (const auto& cause : *causes) {
    out.causes.emplace_back(base::string_at(cause, {"field"}), base::string_at(cause, {"message"}));
  }
  return out;
}

}  // namespace

E2E_CASE("schema: definitions of the table are judged alike, with the same fields and words") {
  World w;
  const Json table = tables::read(table_file("crds.yaml"));
  for (const char* kind : {"valid", "invalid"}) {
    for (const auto& one : table.at(kind)) {
      const Json crd = tables::crd_of(table.at("base"), one);
      const Verdict verdict = verdict_of(w.try_create(crd, true, ""));
      CAPTURE(kind, one.at("name").get<std::string>(), verdict.message);
      if (!one.contains("field")) {
        CHECK(verdict.code == 201);
        continue;
      }
      CHECK(verdict.code == 422);
      CHECK(verdict.names(tables::crd_field(one), one.at("message").get<std::string>()));
    }
  }
}

E2E_CASE("schema: rules of the table are taken, or refused for their types and cost, alike") {
  World w;
  const Json base = tables::read(table_file("crds.yaml")).at("base");
  const Json rules = tables::read(table_file("cel_rules.yaml"));
  REQUIRE(rules.size() >= 150);
  for (const auto& one : rules) {
    const Json root = {
        {"type", "object"},
        {"properties", {{"spec", {{"type", "object"}, {"properties", one["spec"]}}}}},
        {"x-kubernetes-validations", Json::array({{{"rule", one["rule"]}}})}};
    Json crd = base;
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = root;
    const Verdict verdict = verdict_of(w.try_create(crd, true, ""));
    CAPTURE(one["rule"].get<std::string>(), one["spec"].dump(), verdict.message);
    CHECK(verdict.code == (one["accepted"].get<bool>() ? 201 : 422));
    if (verdict.code == 422) {
      CHECK(verdict.message.find("x-kubernetes-validations[0].rule") != std::string::npos);
    }
  }
}

E2E_CASE("schema: objects of the table are judged alike, with the same fields and words") {
  World w;
  const Json table = tables::read(table_file("objects.yaml"));
  w.apply(tables::subject_crd(table).dump());
  for (const auto& one : table.at("cases")) {
    Json object = tables::object_of(table, one);
    object["metadata"]["namespace"] = w.ns();
    const bool strict = one.value("strict", false);
    Verdict verdict;
    // Right after the definition was made, the real server may need a moment.
    w.eventually([&] {
      verdict = verdict_of(w.try_create(object, true, strict ? "Strict" : "Ignore"));
      return verdict.code != 404;
    });
    CAPTURE(one.at("name").get<std::string>(), verdict.message);
    if (one.contains("malformed")) {
      CHECK(verdict.code == 400);
      const std::string part = one.at("malformed").get<std::string>();
      CHECK(verdict.message.find(part) != std::string::npos);
    } else if (one.contains("refused")) {
      CHECK(verdict.code == 422);
      CHECK(verdict.names(tables::object_field(one), one.at("refused").get<std::string>()));
    } else {
      CHECK(verdict.code == 201);
    }
    if (!one.contains("keeps") || verdict.code != 201) continue;
    CHECK(verdict.object.at("spec").value(one.at("field").get<std::string>(), Json()) ==
          one.at("keeps"));
  }
  w.remove("CustomResourceDefinition", "subjects.schema.e2e.kubewatch.dev", "");
}

}  // namespace kubewatch::e2e
