#include "cli/controller/checked_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "apiserver/builtin_kinds.hpp"
#include "base/document_words.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/resource.hpp"
#include "hooks/rule_node.hpp"

namespace kubewatch::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRuleFile = 16U << 20U;
constexpr const char* kDefinition = "CustomResourceDefinition";

// What can be said of kinds without a server.
class LocalKinds {
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

// Adds what is wrong with the kinds that rules name while they are read.
class KindCheck : public hooks::RuleProbe {
 public:
  explicit KindCheck(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      std::error_code ignored;
      if (!fs::is_directory(path, ignored)) continue;
      for (const Json& crd : definitions_beside_rules(path)) local_.add_definition(crd);
    }
  }

  void on_kind(const hooks::RuleNode& place, const core::Gvk& gvk) override {
    const auto namespaced = local_.namespaced(gvk);
    if (!namespaced) return look_at_unknown(place, gvk);
    if (*namespaced) return;
    for (const char* key : {"namespaces", "namespaceSelector"}) {
      if (!place.has(key) || place.child(key).value().empty()) continue;
      place.child(key).problem_at_key(
          fmt::format("{} is cluster-scoped, its objects are in no namespace", gvk.str()));
    }
  }

 private:
  // What looks like no kind that is known here may be one of a newer server; what differs from one
  // by its case alone is none anywhere. An optional kind may be missing.
  void look_at_unknown(const hooks::RuleNode& place, const core::Gvk& gvk) const {
    const std::vector<std::string> kinds = local_.beside(gvk);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const std::string& other) {
      return base::to_lower(other) == base::to_lower(gvk.kind);
    });
    const bool may_lack = place.has("optional") && place.child("optional").value() == true;
    if (same == kinds.end() && (may_lack || !local_.is_builtin(gvk))) return;
    std::string meant = local_.place_of(gvk.kind);
    if (same != kinds.end()) meant = ", did you mean " + base::in_quotes(*same) + "?";
    if (meant.empty()) meant = base::did_you_mean(gvk.kind, kinds);
    if (meant.empty()) return;
    place.child("kind").problem(
        fmt::format("{} has no kind {}{}", gvk.api_version(), base::in_quotes(gvk.kind), meant));
  }

  LocalKinds local_;
};

}  // namespace

std::vector<Json> definitions_beside_rules(const std::string& folder) {
  std::vector<Json> out;
  std::error_code failed;
  fs::directory_iterator it(folder, failed);
  for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
    if (!base::holds_documents(it->path().string())) continue;
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
  KindCheck check(paths);
  return hooks::load_rules(paths, &check);
}

hooks::LoadedRules load_checked_rules_to_read(const std::vector<std::string>& paths) {
  KindCheck check(paths);
  return hooks::load_rules_to_read(paths, &check);
}

}  // namespace kubewatch::cli
