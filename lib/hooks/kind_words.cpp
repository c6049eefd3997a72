#include "hooks/kind_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::hooks {

bool names_kind(std::string_view word, const core::ResourceType& type) {
  const std::string wanted = base::to_lower(word);
  std::vector<std::string> names = {base::to_lower(type.gvk.kind), type.plural, type.singular};
  names.insert(names.end(), type.short_names.begin(), type.short_names.end());
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (wanted == name || wanted == name + "." + type.gvk.group ||
        wanted == name + "." + type.gvk.version + "." + type.gvk.group) {
      return true;
    }
  }
  return false;
}

bool names_kind(std::string_view word, const core::Gvk& gvk) {
  core::ResourceType type;
  type.gvk = gvk;
  type.plural = base::to_lower(gvk.kind) + "s";
  return names_kind(word, type);
}

Error no_rule_for_kind(const std::string& word, const std::vector<const Rule*>& rules) {
  std::vector<std::string> kinds;
  std::vector<std::string> owners;
  std::vector<std::string> without;
  for (const Rule* rule : rules) {
    if (!rule->has_for) {
      without.push_back(rule->name);
      continue;
    }
    const core::Gvk& gvk = rule->for_.gvk;
    const std::string name = rule->for_.every_kind ? "all kinds of " + gvk.group : gvk.kind;
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) kinds.push_back(name);
    for (const OwnsRule& owned : rule->owns) {
      const bool told = !owners.empty() && owners.back() == rule->name;
      if (!told && names_kind(word, owned.stream.gvk)) owners.push_back(rule->name);
    }
  }
  std::string text = "no rule is for the kind " + word;
  if (!kinds.empty()) text += "; there are rules for " + base::join(kinds, ", ");
  if (!owners.empty()) {
    text += fmt::format("; {} {} it as a child: ask for its owner", base::join(owners, ", "),
                        owners.size() == 1 ? "owns" : "own");
  }
  if (!without.empty()) {
    text += fmt::format("; {} {} no `for`: name such a rule by --controller",
                        base::join(without, ", "), without.size() == 1 ? "has" : "have");
  }
  return Error(ErrorKind::not_found, std::move(text));
}

}  // namespace kubewatch::hooks
