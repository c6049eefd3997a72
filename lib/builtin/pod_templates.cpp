#include "builtin/pod_templates.hpp"

#include <map>

#include "base/strings.hpp"

namespace kubewatch::builtin {

std::string template_path(const std::string& storage_id) {
  static const std::map<std::string, std::string> paths = {
      {"podtemplates", "template"},
      {"cronjobs.batch", "spec.jobTemplate.spec.template"},
      {"replicationcontrollers", "spec.template"},
      {"replicasets.apps", "spec.template"},
      {"deployments.apps", "spec.template"},
      {"statefulsets.apps", "spec.template"},
      {"daemonsets.apps", "spec.template"},
      {"jobs.batch", "spec.template"}};
  const auto it = paths.find(storage_id);
  return it == paths.end() ? "" : it->second;
}

const Json* pod_template(const std::string& storage_id, const Json& object) {
  const std::string path = template_path(storage_id);
  if (path.empty()) return nullptr;
  const Json* found = &object;
  for (const auto& name : base::split(path, '.')) {
    found = base::present_at(*found, {name});
    if (found == nullptr) return nullptr;
  }
  return found;
}

}  // namespace kubewatch::builtin
