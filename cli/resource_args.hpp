// kubectl's resource arguments: TYPE[.VERSION][.GROUP] NAME..., TYPE/NAME..., a,b,c; -f, -R, -k;
// -l,
// --field-selector, -A, --all, several -n. The first half only reads words; resolve_targets() asks
// discovery.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/manifests.hpp"
#include "cli/session.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

struct ResourceFlags {
  bool from_files() const { return !files.empty() || !kustomize.empty(); }

  std::vector<std::string> words;  // the positional arguments
  std::vector<std::string> files;  // -f
  bool recursive = false;
  std::string kustomize;  // -k
  Selection selection;
  bool all = false;
};

// What a verb takes.
struct ResourceRules {
  bool files = true;        // -f, -R, -k
  bool selectors = true;    // -l, --field-selector, -A
  bool all_flag = false;    // --all
  bool all_implied = true;  // a TYPE alone means all objects; false: needs a name, -l or --all
  bool recursive = false;   // the default of -R (kubectl wait: true)
  std::string help = "TYPE[.VERSION][.GROUP] [NAME...], TYPE/NAME..., or several TYPEs as a,b,c";
};

void bind_resources(CLI::App& app, ResourceFlags& flags, const ResourceRules& rules);
// -f, -R, -k alone. `recursive`: the default of -R.
void bind_resource_files(CLI::App& app, ResourceFlags& flags, bool recursive);

// One TYPE word and the names asked of it; no names: all objects.
struct TypeAndNames {
  std::string type;  // as given, without commas
  std::vector<std::string> names;
};
// Errors: invalid, in kubectl's words.
Result<std::vector<TypeAndNames>> parse_resource_words(const std::vector<std::string>& words);
// TYPE.VERSION[.GROUP] was asked for, not TYPE[.GROUP].
bool names_version(const std::string& word, const core::Gvk& gvk);
// "websites.ex.io is served as v1 now, not as v1beta1: going on with that"; `pinned`: waiting for
// the version that was asked for.
std::string served_as_text(const core::ResourceType& now, const std::string& before, bool pinned);
// What no path can have. Errors: invalid, in kubectl's words.
Result<void> check_name(const std::string& name);
// What flags and words say together, without a server; the second: where files name the objects.
// Errors: invalid, in kubectl's words.
Result<void> check_resources(const ResourceFlags& flags, const ResourceRules& rules);
Result<void> check_resource_files(const ResourceFlags& flags);

// One object, or all that the selectors choose, of one kind in one namespace.
struct Target {
  core::ResourceType type;
  std::string namespace_;  // "" for all namespaces, and for cluster-scoped kinds
  std::string name;        // "" = all that label_selector and field_selector choose
  std::string label_selector;
  std::string field_selector;
  std::string source;  // the file that named it, "" for words
  Json manifest;       // what the file says of it; null for words
  // "deployment.apps/web", "deployments.apps".
  std::string str() const;
};

// In the order of the words. `namespaces`: of -n; empty: the context's. Files are read, kinds
// looked up; objects are not asked for. Errors: as check_resources; not_found for an unknown type;
// those of the files (see read_manifests) and of discovery.
Result<std::vector<Target>> resolve_targets(Session& session, const ResourceFlags& flags,
                                            const ResourceRules& rules,
                                            const std::vector<std::string>& namespaces);

// The manifests that -f and -k name, and -l chooses among; no server is asked. Errors: invalid,
// whatever is wrong with a file, or where -k finds neither kustomize nor kubectl; timeout of these.
Result<std::vector<Manifest>> read_resource_files(loop::EventLoop& loop,
                                                  const ResourceFlags& flags);

// That there was none: not_found where -l left it so, else invalid.
Error nothing_in_files(const ResourceFlags& flags);

// What the server says of a manifest's kind.
struct ManifestKind {
  std::optional<core::ResourceType> type;
  // Without a type, in kubectl's words: not_found; unavailable where the API group did not answer,
  // so that nobody may take the kind for gone.
  std::optional<Error> missing;
};
// Errors: of discovery; invalid for what is no manifest.
Result<ManifestKind> look_up_kind(Session& session, const Manifest& manifest);
// The same for who needs the type: what is missing is an error, too.
Result<core::ResourceType> resolve_manifest(Session& session, const Manifest& manifest);
// The namespace to use for a manifest: its own, `asked` (of -n, "" when not given), `fallback`.
// Errors: invalid in kubectl's words where its own is not the asked one.
Result<std::string> namespace_of(const Manifest& manifest, bool namespaced,
                                 const std::string& asked, const std::string& fallback);

// "a,b" and repeated -n as one list, each once. Errors: invalid for what is no namespace's name.
Result<std::vector<std::string>> split_namespaces(const std::vector<std::string>& given);

}  // namespace kubewatch::cli
