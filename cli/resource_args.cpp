// The half of resource_args.hpp that asks discovery.
#include "cli/resource_args.hpp"

#include <fmt/format.h>

#include "cli/kustomize.hpp"
#include "cli/printers/object_printer.hpp"
#include "core/meta.hpp"
#include "core/selector.hpp"

namespace kubewatch::cli {

namespace {

// All namespaces that a kind is to be looked at in.
std::vector<std::string> namespaces_of(const core::ResourceType& type, const ResourceFlags& flags,
                                       const std::vector<std::string>& given,
                                       const std::string& fallback) {
  if (!type.namespaced || flags.selection.all_namespaces) return {""};
  return given.empty() ? std::vector<std::string>{fallback} : given;
}

Result<std::vector<Target>> targets_of_files(Session& session, const ResourceFlags& flags,
                                             const std::vector<std::string>& namespaces) {
  if (namespaces.size() > 1) {
    return Error(ErrorKind::invalid, "several namespaces cannot be given with -f or -k");
  }
  const std::string asked = namespaces.empty() ? "" : namespaces.front();
  KW_ASSIGN(auto manifests, read_resource_files(session.loop(), flags));
  std::vector<Target> out;
  for (auto& manifest : manifests) {
    KW_ASSIGN(auto type, resolve_manifest(session, manifest));
    Target target;
    KW_ASSIGN(target.namespace_,
              namespace_of(manifest, type.namespaced, asked, session.client().config().namespace_));
    target.type = std::move(type);
    target.name = base::string_at(manifest.object, {"metadata", "name"});
    target.source = std::move(manifest.source);
    target.manifest = std::move(manifest.object);
    out.push_back(std::move(target));
  }
  return out;
}

void add_targets(const core::ResourceType& type, const TypeAndNames& asked,
                 const ResourceFlags& flags, const std::vector<std::string>& namespaces,
                 std::vector<Target>& out) {
  for (const auto& namespace_ : namespaces) {
    Target target;
    target.type = type;
    target.namespace_ = namespace_;
    target.label_selector = flags.selection.label_selector;
    target.field_selector = flags.selection.field_selector;
    if (asked.names.empty()) out.push_back(target);
    for (const auto& name : asked.names) {
      target.name = name;
      out.push_back(target);
    }
  }
}

}  // namespace

std::string Target::str() const {
  return name.empty() ? type.qualified_plural() : object_name(type, name);
}

Result<ManifestKind> look_up_kind(Session& session, const Manifest& manifest) {
  auto gvk = core::gvk_of(manifest.object);
  if (!gvk.ok()) return std::move(gvk).error().with_context(manifest.source);
  KW_ASSIGN(auto type, session.type_of(*gvk));
  if (type) return ManifestKind{std::move(type), std::nullopt};
  KW_ASSIGN(const auto map, session.resources());
  const bool silent = map->did_not_answer(*gvk);
  Error missing(
      silent ? ErrorKind::unavailable : ErrorKind::not_found,
      fmt::format("resource mapping not found for name: \"{}\" namespace: \"{}\" from \"{}\": no "
                  "matches for kind \"{}\" in version \"{}\"; ensure CRDs are installed first{}",
                  base::string_at(manifest.object, {"metadata", "name"}),
                  base::string_at(manifest.object, {"metadata", "namespace"}), manifest.source,
                  gvk->kind, gvk->api_version(), failed_groups(*map)));
  return ManifestKind{std::nullopt, std::move(missing)};
}

Result<core::ResourceType> resolve_manifest(Session& session, const Manifest& manifest) {
  KW_ASSIGN(auto kind, look_up_kind(session, manifest));
  if (kind.missing) return std::move(*kind.missing);
  return std::move(*kind.type);
}

Error nothing_in_files(const ResourceFlags& flags) {
  const std::string& chosen = flags.selection.label_selector;
  if (chosen.empty()) return {ErrorKind::invalid, "no objects in the given files"};
  return {ErrorKind::not_found, "no objects in the given files match -l " + chosen};
}

Result<std::vector<Manifest>> read_resource_files(loop::EventLoop& loop,
                                                  const ResourceFlags& flags) {
  auto read = flags.kustomize.empty() ? read_manifests(flags.files, flags.recursive, true)
                                      : build_kustomization(loop, flags.kustomize);
  // A file that is missing or broken is wrong usage, whatever the file system said of it.
  if (!read.ok() && read.error().kind() != ErrorKind::timeout) {
    return Error(ErrorKind::invalid, read.error().render());
  }
  if (!read.ok() || flags.selection.label_selector.empty()) return read;
  KW_ASSIGN(const auto selector, core::LabelSelector::parse(flags.selection.label_selector));
  std::vector<Manifest> out;
  for (auto& manifest : *read) {
    if (selector.matches(core::meta_of(manifest.object).labels)) out.push_back(std::move(manifest));
  }
  return out;
}

Result<std::vector<Target>> resolve_targets(Session& session, const ResourceFlags& flags,
                                            const ResourceRules& rules,
                                            const std::vector<std::string>& namespaces) {
  KW_TRY(check_resources(flags, rules));
  if (flags.from_files()) {
    return targets_of_files(session, flags, namespaces);
  }
  KW_ASSIGN(const auto words, parse_resource_words(flags.words));
  std::vector<Target> out;
  for (const auto& one : words) {
    KW_ASSIGN(const auto types, session.resolve(one.type));
    for (const auto& type : types) {
      add_targets(type, one, flags,
                  namespaces_of(type, flags, namespaces, session.client().config().namespace_),
                  out);
    }
  }
  return out;
}

}  // namespace kubewatch::cli
