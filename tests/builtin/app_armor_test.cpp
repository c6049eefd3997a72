#include "builtin/app_armor.hpp"

#include "builtin/objects.hpp"
#include "builtin/warnings.hpp"

namespace kubewatch::builtin {

namespace {

using Warnings = std::vector<std::string>;

// Containers a and b, and an init container i.
Json pod(const Json& annotations, const Json& of_pod = nullptr) {
  Json out = Json::parse(R"({"metadata":{},"spec":{"initContainers":[{"name":"i","image":"i"}],
      "containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})");
  for (const auto& [name, profile] : annotations.items()) {
    out["metadata"]["annotations"][kAppArmorAnnotation + name] = profile;
  }
  if (!of_pod.is_null()) out["spec"]["securityContext"] = {{"appArmorProfile", of_pod}};
  return out;
}

Json taken(Json object, Warnings& warnings) {
  take_app_armor_annotations(object, warnings);
  return object;
}

std::string warning_of(const std::string& name) {
  return "metadata.annotations[" + (kAppArmorAnnotation + name) +
         "]: deprecated since v1.30; use the \"appArmorProfile\" field instead";
}

Json profile_of(const Json& container) {
  const Json* found = base::find(container, {"securityContext", "appArmorProfile"});
  return found == nullptr ? Json() : *found;
}

const Json kUnconfined = {{"type", "Unconfined"}};

}  // namespace

TEST_CASE("a new Pod takes profiles over from its annotations, and is warned") {
  Warnings warnings;
  const Json made = taken(
      pod({{"a", "runtime/default"}, {"b", "localhost/x"}, {"i", "unconfined"}}), warnings)["spec"];
  CHECK(profile_of(made["initContainers"][0]) == kUnconfined);
  CHECK(profile_of(made["containers"][0]) == Json{{"type", "RuntimeDefault"}});
  CHECK(profile_of(made["containers"][1]) ==
        Json{{"type", "Localhost"}, {"localhostProfile", "x"}});
  CHECK(warnings == Warnings{warning_of("i"), warning_of("a"), warning_of("b")});
}

TEST_CASE("an annotation that a field says already is no more than kept") {
  Warnings warnings;
  Json own = pod({{"a", "unconfined"}});
  own["spec"]["containers"][0]["securityContext"] = {{"appArmorProfile", kUnconfined}};
  CHECK(taken(own, warnings) == own);
  const Json same = pod({{"a", "unconfined"}}, kUnconfined);
  CHECK(taken(same, warnings) == same);
  Json windows = pod({{"a", "unconfined"}});
  windows["spec"]["os"] = {{"name", "windows"}};
  CHECK(taken(windows, warnings) == windows);
  CHECK(warnings.empty());
  const Json other = taken(pod({{"a", "unconfined"}}, {{"type", "RuntimeDefault"}}), warnings);
  CHECK(profile_of(other["spec"]["containers"][0]) == kUnconfined);
  CHECK(warnings == Warnings{warning_of("a")});
}

TEST_CASE("an annotation that is no profile gives none, but a warning") {
  for (const char* odd : {"", "what", "localhost/", "localhost/ x"}) {
    CAPTURE(odd);
    Warnings warnings;
    const Json given = pod({{"a", odd}});
    CHECK(taken(given, warnings) == given);
    CHECK(warnings == Warnings{warning_of("a")});
  }
}

TEST_CASE("templates keep their annotations and are warned of them") {
  const Json tmpl = pod({{"a", "unconfined"}});
  const Json set = {{"spec", {{"template", tmpl}}}};
  CHECK(warnings_of("replicasets.apps", nullptr, set) ==
        Warnings{"spec.template." + warning_of("a")});
  CHECK(warnings_of("pods", nullptr, tmpl).empty());
}

TEST_CASE("annotations name containers and profiles, and agree with the fields") {
  const auto path = [](const std::string& name) {
    return "metadata.annotations[" + (kAppArmorAnnotation + name) + "]: ";
  };
  const auto told_of_new = [](const Json& object) { return told("pods", nullptr, object); };
  CHECK(told_of_new(pod({{"z", "unconfined"}})) ==
        path("z") + "Invalid value: \"z\": container not found");
  CHECK(told_of_new(pod({{"i", "what"}})) ==
        path("i") + "Invalid value: \"what\": invalid AppArmor profile name: \"what\"");
  CHECK(told_of_new(pod({{"a", "unconfined"}})).empty());
  const Json local = {{"type", "Localhost"}, {"localhostProfile", "x"}};
  const std::string field = "spec.containers[0].securityContext.appArmorProfile.";
  CHECK(told_of_new(pod({{"a", "localhost/x"}}, local)).empty());
  CHECK(told_of_new(pod({{"a", "localhost/y"}}, local)) ==
        field + "localhostProfile: Forbidden: apparmor profile in annotation and field must match");
  for (const Json& other : {local, Json{{"type", "RuntimeDefault"}}}) {
    CHECK(told_of_new(pod({{"a", "unconfined"}}, other)) ==
          field + "type: Forbidden: apparmor type in annotation and field must match");
  }
  Json set = right("replicasets.apps");
  set["spec"]["template"]["metadata"]["annotations"] = {
      {std::string(kAppArmorAnnotation) + "z", "unconfined"}};
  CHECK(told("replicasets.apps", nullptr, set) == "spec.template.annotations[" +
                                                      (std::string(kAppArmorAnnotation) + "z") +
                                                      "]: Invalid value: \"z\": container not "
                                                      "found");
}

TEST_CASE("the annotations of a Pod never change") {
  const Json live = pod({{"a", "unconfined"}});
  const std::string place = "metadata.annotations[" + std::string(kAppArmorAnnotation);
  const std::string kept = "a]: Forbidden: may not remove or update AppArmor annotations";
  CHECK(told("pods", &live, live).empty());
  CHECK(told("pods", &live, pod(Json::object())) == place + kept);
  CHECK(told("pods", &live, pod({{"a", "runtime/default"}})) == place + kept);
  CHECK(told("pods", &live, pod({{"a", "unconfined"}, {"b", "unconfined"}})) ==
        place + "b]: Forbidden: may not add AppArmor annotations");
}

}  // namespace kubewatch::builtin
