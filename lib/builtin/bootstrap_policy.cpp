#include "builtin/bootstrap_policy.hpp"

#include <string>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::builtin {

namespace {

// See tests/builtin/bootstrap_policy.py for its form.
constexpr const char kPolicy[] =
#include "builtin/bootstrap_policy.inc"
    ;

constexpr const char* kRoleGroup = "rbac.authorization.k8s.io";

std::string aggregation_label(const std::string& role) {
  return std::string(kRoleGroup) + "/aggregate-to-" + role;
}

// "KIND NAME", "NAMESPACE/NAME": the part before the first one and the part after it; "" and all,
// where there is none.
std::pair<std::string, std::string> halves(const std::string& text, char between) {
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return {"", text};
  return {text.substr(0, at), text.substr(at + 1)};
}

Json rule_of(const std::string& text) {
  const auto parts = base::split(text, '|');
  Json out = {{"verbs", base::split(parts[0], ',')}};
  if (parts.size() == 2) {
    out["nonResourceURLs"] = base::split(parts[1], ',');
    return out;
  }
  out["apiGroups"] = base::split(parts[1], ',');
  out["resources"] = base::split(parts[2], ',');
  if (parts.size() > 3) out["resourceNames"] = base::split(parts[3], ',');
  return out;
}

Json subject_of(const std::string& text) {
  const auto [kind, name] = halves(text, ' ');
  if (kind != "ServiceAccount") return {{"kind", kind}, {"apiGroup", kRoleGroup}, {"name", name}};
  const auto [space, account] = halves(name, '/');
  return {{"kind", kind}, {"name", account}, {"namespace", space}};
}

void fill_role(const Json& line, Json& role) {
  role["rules"] = Json::array();
  for (std::size_t i = 2; i < line.size(); ++i) {
    const auto text = line[i].get<std::string>();
    if (text[0] == '>') {
      role["metadata"]["labels"][aggregation_label(text.substr(1))] = "true";
    } else if (text[0] == '<') {
      const Json labels = {{aggregation_label(text.substr(1)), "true"}};
      role["aggregationRule"]["clusterRoleSelectors"].push_back({{"matchLabels", labels}});
    } else {
      role["rules"].push_back(rule_of(text));
    }
  }
  if (role["rules"].empty()) role.erase("rules");
}

void fill_binding(const Json& line, Json& binding) {
  const auto [kind, name] = halves(line[2].get<std::string>(), '/');
  binding["roleRef"] = {{"apiGroup", kRoleGroup}, {"kind", kind}, {"name", name}};
  for (std::size_t i = 3; i < line.size(); ++i) {
    binding["subjects"].push_back(subject_of(line[i].get<std::string>()));
  }
}

Json object_of(const Json& line) {
  const auto kind = line[0].get<std::string>();
  const auto place = line[1].get<std::string>();
  const auto [space, name] =
      kind.starts_with("Cluster") ? std::pair(std::string(), place) : halves(place, '/');
  Json out = {{"apiVersion", std::string(kRoleGroup) + "/v1"},
              {"kind", kind},
              {"metadata",
               {{"name", name},
                {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
                {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}}}}};
  if (!space.empty()) out["metadata"]["namespace"] = space;
  if (kind.ends_with("Binding")) {
    fill_binding(line, out);
  } else {
    fill_role(line, out);
  }
  return out;
}

}  // namespace

std::vector<Json> bootstrap_policy() {
  std::vector<Json> out;
  const Json lines = Json::parse(kPolicy);
  out.reserve(lines.size());
  for (const Json& line : lines) out.push_back(object_of(line));
  return out;
}

}  // namespace kubewatch::builtin
