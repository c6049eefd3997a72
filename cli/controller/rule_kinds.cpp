#include "cli/controller/rule_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "apiserver/builtin_kinds.hpp"
#include "base/document_words.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRuleFile = 16U << 20U;
constexpr const char* kDefinition = "CustomResourceDefinition";

class KnownKinds {
 public:
  void add_definition(const Json& document) {
    const std::string kind = base::string_at(document, {"spec", "names", "kind"});
    const std::string scope = base::string_at(document, {"spec", "scope"});
    if (kind.empty() || scope.empty()) return;
    custom_[{base::string_at(document, {"spec", "group"}), kind}] = scope == "Namespaced";
  }

  // Absent: nobody knows.
  std::optional<bool> namespaced(const core::Gvk& gvk) const {
    for (const auto& builtin : builtins_) {
      if (builtin.gvk == gvk) return builtin.namespaced;
    }
    const auto it = custom_.find({gvk.group, gvk.kind});
    if (it == custom_.end()) return std::nullopt;
    return it->second;
  }

  // Of the same group; of a built-in one in the same version.
  std::vector<std::string> beside(const core::Gvk& gvk) const {
    std::set<std::string> out;
    for (const auto& [other, unused] : builtins_) {
      if (other.group == gvk.group && other.version == gvk.version) out.insert(other.kind);
    }
    for (const auto& [kind, unused] : custom_) {
      if (kind.first == gvk.group) out.insert(kind.second);
    }
    return {out.begin(), out.end()};
  }

  // ": it is in apps/v1" where it is another group's; "" where it is nobody's.
  std::string place_of(const std::string& kind) const {
    for (const auto& [other, unused] : builtins_) {
      if (other.kind == kind) return ": it is in " + other.api_version();
    }
    return "";
  }

  // All kinds of it are known.
  bool is_builtin(const core::Gvk& gvk) const {
    return std::any_of(builtins_.begin(), builtins_.end(), [&](const auto& builtin) {
      return builtin.gvk.group == gvk.group && builtin.gvk.version == gvk.version;
    });
  }

 private:
  const std::vector<apiserver::BuiltinKind> builtins_ = apiserver::builtin_kinds();
  std::map<std::pair<std::string, std::string>, bool> custom_;  // group and kind
};

// The entries of one document that name a kind.
class DocumentKinds {
 public:
  DocumentKinds(const std::string& file, const base::YamlDocument& document,
                const KnownKinds& known, std::vector<hooks::Diagnostic>& problems)
      : file_(file), document_(document), known_(known), problems_(problems) {}

  void look() {
    const Json* spec = base::find(document_.value, {"spec"});
    if (spec == nullptr || !spec->is_object()) return;
    for (const char* key : {"for", "owns", "writes", "watches"}) {
      const Json* entries = base::find(*spec, {key});
      if (entries == nullptr) continue;
      const std::string pointer = std::string("/spec/") + key;
      const std::string path = std::string("spec.") + key;
      if (!entries->is_array()) {
        look_at(*entries, pointer, path);
        continue;
      }
      for (std::size_t i = 0; i < entries->size(); ++i) {
        look_at((*entries)[i], fmt::format("{}/{}", pointer, i), fmt::format("{}[{}]", path, i));
      }
    }
  }

 private:
  void look_at(const Json& entry, const std::string& pointer, const std::string& path) {
    const std::string kind = base::string_at(entry, {"kind"});
    if (kind.empty() || base::string_at(entry, {"apiVersion"}).empty()) return;
    const auto gvk = core::gvk_of(entry);
    if (!gvk.ok()) return;
    const auto namespaced = known_.namespaced(*gvk);
    if (!namespaced) return look_at_unknown(entry, *gvk, pointer, path);
    if (*namespaced) return;
    for (const char* key : {"namespaces", "namespaceSelector"}) {
      const Json* value = base::find(entry, {key});
      if (value == nullptr || value->empty()) continue;
      add(document_.marks.key_at(pointer + "/" + key),
          fmt::format("{}.{}: {} is cluster-scoped, its objects are in no namespace", path, key,
                      gvk->str()));
    }
  }

  // What looks like no kind that is known here may be one of a newer server; what differs from one
  // by its case alone is none anywhere. An optional kind may be missing.
  void look_at_unknown(const Json& entry, const core::Gvk& gvk, const std::string& pointer,
                       const std::string& path) {
    const std::vector<std::string> kinds = known_.beside(gvk);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const std::string& other) {
      return base::to_lower(other) == base::to_lower(gvk.kind);
    });
    const Json* optional = base::find(entry, {"optional"});
    const bool may_lack = optional != nullptr && *optional == true;
    if (same == kinds.end() && (may_lack || !known_.is_builtin(gvk))) return;
    std::string meant = known_.place_of(gvk.kind);
    if (same != kinds.end()) meant = ", did you mean " + base::in_quotes(*same) + "?";
    if (meant.empty()) meant = base::did_you_mean(gvk.kind, kinds);
    if (meant.empty()) return;
    add(document_.marks.value_at(pointer + "/kind"),
        fmt::format("{}.kind: {} has no kind {}{}", path, gvk.api_version(),
                    base::in_quotes(gvk.kind), meant));
  }

  void add(base::YamlMark mark, std::string message) {
    problems_.push_back({file_, mark.line, mark.column, std::move(message)});
  }

  const std::string& file_;
  const base::YamlDocument& document_;
  const KnownKinds& known_;
  std::vector<hooks::Diagnostic>& problems_;
};

hooks::LoadedRules check_kinds(const std::vector<std::string>& paths, hooks::LoadedRules out) {
  KnownKinds known;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) continue;
    for (const Json& crd : definitions_beside_rules(path)) known.add_definition(crd);
  }
  std::set<std::string> files;
  for (const hooks::Rule& rule : out.rules) files.insert(rule.file);
  for (const hooks::Diagnostic& problem : out.problems) files.insert(problem.file);
  for (const std::string& file : files) {
    const auto text = base::read_file(file, kMostRuleFile);
    if (!text.ok()) continue;
    const auto documents = base::parse_yaml(*text);
    if (!documents.ok()) continue;
    for (const base::YamlDocument& document : *documents) {
      if (base::string_at(document.value, {"kind"}) != "Controller") continue;
      DocumentKinds(file, document, known, out.problems).look();
    }
  }
  std::stable_sort(out.problems.begin(), out.problems.end(), [](const auto& a, const auto& b) {
    return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
  });
  return out;
}

}  // namespace

std::vector<Json> definitions_beside_rules(const std::string& folder) {
  std::vector<Json> out;
  std::error_code failed;
  fs::directory_iterator it(folder, failed);
  for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    if (extension != ".yaml" && extension != ".yml" && extension != ".json") continue;
    const auto text = base::read_file(it->path().string(), kMostRuleFile);
    if (!text.ok() || text->find(kDefinition) == std::string::npos) continue;
    auto documents = base::parse_yaml_values(*text);
    if (!documents.ok()) continue;
    for (Json& document : *documents) {
      Json* items = base::find(document, {"items"});
      const bool is_list = base::string_at(document, {"kind"}).ends_with("List") &&
                           items != nullptr && items->is_array();
      for (Json& one : is_list ? *items : Json::array({std::move(document)})) {
        if (base::string_at(one, {"kind"}) == kDefinition) out.push_back(std::move(one));
      }
    }
  }
  return out;
}

hooks::LoadedRules load_checked_rules(const std::vector<std::string>& paths) {
  return check_kinds(paths, hooks::load_rules(paths));
}

hooks::LoadedRules load_checked_rules_to_read(const std::vector<std::string>& paths) {
  return check_kinds(paths, hooks::load_rules_to_read(paths));
}

}  // namespace kubewatch::cli
