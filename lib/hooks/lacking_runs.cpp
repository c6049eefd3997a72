// Which runs wait for whole lists, and for what.
#include "hooks/lacking_runs.hpp"

#include "hooks/rule_place.hpp"

namespace kubewatch::hooks {

bool LackingRuns::hold(const core::ObjectKey& key, const Lack& lack) {
  Lack& told = lacking_[key];
  const bool known = told.expression == lack.expression;
  told = lack;
  return !known;
}

std::vector<core::ObjectKey> LackingRuns::held_by(const std::string& place) const {
  std::vector<core::ObjectKey> out;
  for (const auto& [key, lack] : lacking_) {
    if (lack.expression.starts_with(place + "/")) out.push_back(key);
  }
  return out;
}

bool LackingRuns::waits_for_itself(const core::ObjectKey& key) const {
  const auto it = lacking_.find(key);
  return it != lacking_.end() && it->second.expression.ends_with("/refs");
}

std::string LackingRuns::in_words(const Lack& lack) const {
  std::string& place = places_[lack.expression];
  if (place.empty()) place = place_in_rule(rule_.file, rule_.document, lack.expression);
  return place + ": " + lack.why;
}

std::string LackingRuns::in_words(const core::ObjectKey& key) const {
  const auto it = lacking_.find(key);
  return it == lacking_.end() ? "" : in_words(it->second);
}

}  // namespace kubewatch::hooks
