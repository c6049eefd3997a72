#include "hooks/kind_schemas.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "schema/typed.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kUnknownField = "field not declared in schema";
constexpr std::string_view kValue = ", got &{";
const core::Gvk kCrd{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};

schema::MergeNodePtr schema_in(const Json& crd, const std::string& version) {
  const Json* versions = base::find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return nullptr;
  for (const Json& item : *versions) {
    if (base::string_at(item, {"name"}) != version) continue;
    const Json* schema = base::find(item, {"schema", "openAPIV3Schema"});
    return schema == nullptr ? nullptr : schema::crd_merge_schema(*schema);
  }
  return nullptr;
}

}  // namespace

// Messages quote the value that is wrong: no part of a Secret may leave by that (P6).
Result<SchemaVerdict> check_schema(const schema::MergeNode& node, const Json& manifest,
                                   bool built_in) {
  const auto checked = schema::check_value(node, manifest, false);
  if (checked.ok()) return SchemaVerdict::fits;
  std::vector<std::string> problems;
  for (const std::string& line : base::split(checked.error().message(), '\n')) {
    const std::string_view text = base::trim(line);
    const std::string_view shown = text.substr(0, text.find(kValue));
    // Without a path it is the rest of a value of several lines.
    if (shown.empty() || (shown.front() != '.' && !problems.empty())) continue;
    if (shown == "errors:") continue;
    if (built_in && shown.find(kUnknownField) != std::string_view::npos) continue;
    problems.emplace_back(shown);
  }
  if (problems.empty()) return SchemaVerdict::to_ask;
  if (built_in && base::string_at(manifest, {"kind"}) == "Secret") {
    return Error(ErrorKind::invalid,
                 "it is no valid Secret: data and stringData map names to text");
  }
  return Error(ErrorKind::invalid, base::join(problems, "; "));
}

void KindSchemas::with(const std::vector<core::Gvk>& kinds, const client::ResourceMap* resources,
                       TimePoint oldest, std::function<void()> done) {
  auto left = std::make_shared<std::size_t>(1);
  auto one_less = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (const core::Gvk& gvk : kinds) {
    // In the order of what it costs: this is asked before each run.
    if (gvk.group.find('.') == std::string::npos || resources == nullptr) continue;
    const auto it = known_.find(gvk);
    if (it != known_.end() && it->second.read_at >= oldest) continue;
    const core::ResourceType* type = resources->find(gvk);
    const core::ResourceType* crds = resources->find(kCrd);
    if (type == nullptr || crds == nullptr || schema::builtin_merge_schema(gvk) != nullptr) {
      known_[gvk] = {nullptr, client_.loop().now()};
      continue;
    }
    ++*left;
    requests_.run<Result<Json>>(
        [this, gvk, one_less](const Result<Json>& crd) {
          if (!crd.ok()) base::vlog(2, "no schema of " + gvk.str() + ": " + crd.error().render());
          known_[gvk] = {crd.ok() ? schema_in(*crd, gvk.version) : nullptr, client_.loop().now()};
          one_less();
        },
        [&](client::ObjectCallback callback) {
          return client_.get(*crds, {"", type->plural + "." + gvk.group}, std::move(callback));
        });
  }
  one_less();
}

Result<SchemaVerdict> KindSchemas::check(const core::Gvk& gvk, const Json& manifest) const {
  if (const auto node = schema::builtin_merge_schema(gvk)) {
    return check_schema(*node, manifest, true);
  }
  const auto it = known_.find(gvk);
  if (it == known_.end() || it->second.node == nullptr) return SchemaVerdict::fits;
  return check_schema(*it->second.node, manifest, false);
}

}  // namespace kubewatch::hooks
