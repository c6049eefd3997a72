// URL paths of the Kubernetes API.
#include "core/url.hpp"

#include "base/strings.hpp"

namespace kubewatch::core {
namespace {

// Dots are unreserved, but a segment of only dots would be taken out by whoever normalises the
// path.
std::string segment(const std::string& text) {
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  return base::percent_encode(text);
}

}  // namespace

std::string group_version_path(const GroupVersion& gv) {
  const std::string root = gv.group.empty() ? "/api/" : "/apis/" + segment(gv.group) + "/";
  return root + segment(gv.version);
}

std::string collection_path(const ResourceType& type, const std::string& namespace_) {
  std::string path = group_version_path({type.gvk.group, type.gvk.version});
  if (type.namespaced && !namespace_.empty()) path += "/namespaces/" + segment(namespace_);
  return path + "/" + segment(type.plural);
}

std::string object_path(const ResourceType& type, const ObjectKey& key,
                        const std::string& subresource) {
  std::string path = collection_path(type, key.namespace_) + "/" + segment(key.name);
  if (!subresource.empty()) path += "/" + segment(subresource);
  return path;
}

}  // namespace kubewatch::core
