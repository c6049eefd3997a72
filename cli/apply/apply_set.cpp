#include "cli/apply/apply_set.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/sha256.hpp"
#include "base/strings.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kTooling = "applyset.kubernetes.io/tooling";
constexpr const char* kGroupKinds = "applyset.kubernetes.io/contains-group-kinds";
constexpr const char* kNamespaces = "applyset.kubernetes.io/additional-namespaces";

std::set<std::string> comma_separated(const std::string& text) {
  std::set<std::string> out;
  for (const auto& word : base::split(text, ',')) {
    if (const auto trimmed = base::trim(word); !trimmed.empty()) out.insert(std::string(trimmed));
  }
  return out;
}

std::string joined(const std::set<std::string>& words) {
  return base::join(std::vector<std::string>(words.begin(), words.end()), ",");
}

}  // namespace

std::string apply_set_id(const core::Gvk& gvk, const core::ObjectKey& parent) {
  const std::string text = base::join({parent.name, parent.namespace_, gvk.kind, gvk.group}, ".");
  return "applyset-" + base::base64url_encode(base::sha256(text)) + "-v1";
}

Result<ParentName> parse_parent(std::string_view text) {
  ParentName out;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) out.type = text.substr(0, slash);
  out.name = text.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (out.type.empty() || out.name.empty() || out.name.find('/') != std::string::npos) {
    return Error(ErrorKind::invalid, fmt::format("--applyset={}: must be [TYPE[.GROUP]/]NAME, a "
                                                 "name alone being that of a Secret",
                                                 text));
  }
  return out;
}

void SetContents::add(const core::ResourceType& type, const core::ObjectKey& member,
                      const std::string& parent_namespace) {
  group_kinds.insert(type.gvk.group_kind());
  if (type.namespaced && member.namespace_ != parent_namespace) {
    namespaces.insert(member.namespace_);
  }
}

SetContents SetContents::with(const SetContents& other) const {
  SetContents out = *this;
  out.group_kinds.insert(other.group_kinds.begin(), other.group_kinds.end());
  out.namespaces.insert(other.namespaces.begin(), other.namespaces.end());
  return out;
}

Result<SetContents> read_parent(const Json& parent, const std::string& id) {
  const std::string name = fmt::format("{} \"{}\"", base::string_at(parent, {"kind"}),
                                       base::string_at(parent, {"metadata", "name"}));
  const std::string tooling = base::string_at(parent, {"metadata", "annotations", kTooling});
  const std::string tool = tooling.substr(0, tooling.find('/'));
  if (tooling.empty()) {
    return Error(
        ErrorKind::invalid,
        fmt::format("{} exists and is no ApplySet: it has no annotation {}; choose another "
                    "name for the set",
                    name, kTooling));
  }
  if (tool != kToolingName) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} is the ApplySet of {} instead of {}: only {} may change what "
                             "belongs to it",
                             name, tooling, kToolingName, tool));
  }
  const std::string label = base::string_at(parent, {"metadata", "labels", kParentIdLabel});
  if (label != id) {
    return Error(ErrorKind::invalid, fmt::format("{} has the label {}={}, where {} is due", name,
                                                 kParentIdLabel, label, id));
  }
  SetContents out;
  out.group_kinds =
      comma_separated(base::string_at(parent, {"metadata", "annotations", kGroupKinds}));
  out.namespaces =
      comma_separated(base::string_at(parent, {"metadata", "annotations", kNamespaces}));
  return out;
}

Json parent_manifest(const core::Gvk& gvk, const core::ObjectKey& key, const std::string& id,
                     const SetContents& contents, const std::string& tool_version) {
  Json metadata = {
      {"name", key.name},
      {"labels", {{kParentIdLabel, id}}},
      {"annotations",
       {{kTooling, std::string(kToolingName) + "/v" + tool_version},
        {kGroupKinds, joined(contents.group_kinds)},
        // Empty as well: without it an older list would stay where another manager wrote it.
        {kNamespaces, joined(contents.namespaces)}}}};
  if (!key.namespace_.empty()) metadata["namespace"] = key.namespace_;
  return {{"apiVersion", gvk.api_version()}, {"kind", gvk.kind}, {"metadata", std::move(metadata)}};
}

std::string set_of(const Json& object) {
  return base::string_at(object, {"metadata", "labels", kPartOfLabel});
}

Error in_other_set(const std::string& other) {
  return Error(
      ErrorKind::conflict,
      fmt::format("it belongs to another ApplySet, {}, and an object can be part of one only",
                  other));
}

Result<void> join_set(Json& manifest, const std::string& id) {
  const std::string other = set_of(manifest);
  if (!other.empty() && other != id) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} \"{}\" carries {}={}: it belongs to another ApplySet",
                             base::string_at(manifest, {"kind"}),
                             base::string_at(manifest, {"metadata", "name"}), kPartOfLabel, other));
  }
  Json& labels = manifest["metadata"]["labels"];
  if (!labels.is_null() && !labels.is_object()) {
    return Error(ErrorKind::invalid, fmt::format("metadata.labels of {} \"{}\" is no mapping",
                                                 base::string_at(manifest, {"kind"}),
                                                 base::string_at(manifest, {"metadata", "name"})));
  }
  labels[kPartOfLabel] = id;
  return {};
}

}  // namespace kubewatch::cli
