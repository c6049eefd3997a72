#include "rehearsal/replay_kinds.hpp"

#include <map>

#include "base/strings.hpp"
#include "hooks/recorded_request.hpp"

namespace kubewatch::rehearsal {

namespace {

struct Guess {
  std::string kind;
  std::string version;
  bool namespaced = false;
};

// By "websites.demo.kubewatch.dev".
std::map<std::string, Guess> guesses_of(const std::vector<std::string>& lines) {
  std::map<std::string, Guess> out;
  std::map<std::int64_t, std::string> streams;
  const auto note = [&](const std::string& path, const std::string& kind, bool namespaced) {
    const auto target = hooks::api_target(path);
    if (!target || target->group.empty()) return std::string();
    const std::string name = target->plural + "." + target->group;
    Guess& guess = out[name];
    guess.version = target->version;
    if (!kind.empty() && kind != "PartialObjectMetadata") guess.kind = kind;
    guess.namespaced = guess.namespaced || namespaced || !target->namespace_.empty();
    return name;
  };
  for (const std::string& line : lines) {
    const auto entry = base::parse_json(line);
    if (!entry.ok()) continue;
    const auto stream = base::int_at(*entry, {"s"}).value_or(0);
    const std::string path = base::string_at(*entry, {"path"});
    if (!path.empty()) streams[stream] = path;
    const Json* object = base::find(*entry, {"o"});
    if (object == nullptr) object = base::find(*entry, {"body"});
    const bool is_write = base::string_at(*entry, {"t"}) == "write";
    if (object == nullptr || !object->is_object()) {
      if (!path.empty()) note(path, "", false);
      continue;
    }
    note(is_write ? path : streams[stream], base::string_at(*object, {"kind"}),
         !base::string_at(*object, {"metadata", "namespace"}).empty());
  }
  return out;
}

Json permissive_definition(const std::string& name, const Guess& guess) {
  const auto dot = name.find('.');
  const std::string plural = name.substr(0, dot);
  const Json anything = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const Json version = {{"name", guess.version},
                        {"served", true},
                        {"storage", true},
                        {"subresources", {{"status", Json::object()}}},
                        {"schema", {{"openAPIV3Schema", anything}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata",
           {{"name", name},
            {"annotations", {{"api-approved.kubernetes.io", "unapproved, of a recording"}}}}},
          {"spec",
           {{"group", name.substr(dot + 1)},
            {"scope", guess.namespaced ? "Namespaced" : "Cluster"},
            {"names",
             {{"plural", plural}, {"singular", base::to_lower(guess.kind)}, {"kind", guess.kind}}},
            {"versions", Json::array({version})}}}};
}

}  // namespace

Json plain_definition(const Json& crd) {
  Json out = crd;
  out["apiVersion"] = "apiextensions.k8s.io/v1";
  out["kind"] = "CustomResourceDefinition";
  out.erase("status");
  Json metadata = {{"name", base::string_at(crd, {"metadata", "name"})}};
  for (const char* key : {"labels", "annotations"}) {
    if (const Json* value = base::find(crd, {"metadata", key})) metadata[key] = *value;
  }
  out["metadata"] = std::move(metadata);
  if (Json* spec = base::find(out, {"spec"}); spec != nullptr && spec->is_object()) {
    spec->erase("conversion");  // webhooks are not there
  }
  return out;
}

Result<void> install_kinds(World& world, const std::vector<Json>& kinds,
                           const std::vector<std::string>& lines) {
  auto guesses = guesses_of(lines);
  for (const Json& entry : kinds) {
    const Json* crd = base::find(entry, {"crd"});
    if (crd == nullptr || !crd->is_object()) continue;
    KW_TRY(world.apply(plain_definition(*crd)));
    guesses.erase(base::string_at(entry, {"name"}));
  }
  for (const auto& [name, guess] : guesses) {
    const auto dot = name.find('.');
    const bool there = world.server().api().registry().find(name.substr(dot + 1), guess.version,
                                                            name.substr(0, dot)) != nullptr;
    if (there || guess.kind.empty()) continue;
    KW_TRY(world.apply(permissive_definition(name, guess)));
  }
  return {};
}

}  // namespace kubewatch::rehearsal
