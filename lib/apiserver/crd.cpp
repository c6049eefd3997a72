#include "apiserver/crd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

Json& object_at(Json& parent, const char* key) {
  Json& out = parent[key];
  if (!out.is_object()) out = Json::object();
  return out;
}

// What a status always says, where nobody has said it.
void fill_status(Json& crd) {
  Json& status = object_at(crd, "status");
  if (!status.contains("conditions")) status["conditions"] = nullptr;
  Json& names = object_at(status, "acceptedNames");
  for (const char* key : {"plural", "kind"}) {
    if (!names.contains(key)) names[key] = "";
  }
  Json& stored = status["storedVersions"];
  if (stored.is_array() && !stored.empty()) return;
  stored = nullptr;
  const Json* versions = base::find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return;
  const auto storage = std::find_if(versions->begin(), versions->end(), [](const Json& version) {
    return base::bool_at(version, {"storage"});
  });
  if (storage != versions->end()) stored = Json::array({string_at(*storage, {"name"})});
}

// The server's own type keeps the parts of a webhook and not the webhook: one without parts is
// none.
void drop_empty_webhook(Json& crd) {
  Json* conversion = base::find(crd, {"spec", "conversion"});
  const Json* webhook = base::find(crd, {"spec", "conversion", "webhook"});
  if (webhook == nullptr) return;
  for (const char* key : {"clientConfig", "conversionReviewVersions"}) {
    const Json* part = base::find(*webhook, {key});
    if (part != nullptr && !part->is_null()) return;
  }
  conversion->erase("webhook");
}

// Takes each name that it may have, on its own; of those that it may not, the last one is told.
class NameChoice {
 public:
  NameChoice(const Json& crd, const TakenNames& taken)
      : taken_(taken), wanted_(crd.at("spec").at("names")) {
    const Json* now = base::find(crd, {"status", "acceptedNames"});
    out_.names = now != nullptr && now->is_object() ? *now : Json::object();
  }

  AcceptedNames choose() {
    take("plural", taken_.resources, "PluralConflict");
    take("singular", taken_.resources, "SingularConflict");
    take_short_names();
    take("kind", taken_.kinds, "KindConflict");
    take("listKind", taken_.kinds, "ListKindConflict");
    copy("categories");
    return std::move(out_);
  }

 private:
  static std::string in_use(const std::string& name) {
    return fmt::format("\"{}\" is already in use", name);
  }

  void copy(const char* key) {
    const Json* value = base::find(wanted_, {key});
    if (value == nullptr) {
      out_.names.erase(key);
    } else {
      out_.names[key] = *value;
    }
  }

  void take(const char* key, const std::set<std::string>& taken, const char* reason) {
    const std::string name = string_at(wanted_, {key});
    if (name == string_at(out_.names, {key})) return;
    if (taken.count(name) == 0) return copy(key);
    out_.reason = reason;
    out_.message = in_use(name);
  }

  void take_short_names() {
    const std::vector<std::string> held = base::strings_at(out_.names, {"shortNames"});
    std::vector<std::string> problems;
    for (const auto& name : base::strings_at(wanted_, {"shortNames"})) {
      if (std::count(held.begin(), held.end(), name) != 0) continue;
      const std::string problem = in_use(name);
      const bool told = std::count(problems.begin(), problems.end(), problem) != 0;
      if (taken_.resources.count(name) != 0 && !told) problems.push_back(problem);
    }
    if (problems.empty()) return copy("shortNames");
    out_.reason = "ShortNamesConflict";
    out_.message = problems.size() == 1 ? problems[0] : "[" + base::join(problems, ", ") + "]";
  }

  const TakenNames& taken_;
  const Json& wanted_;
  AcceptedNames out_;
};

}  // namespace

Result<void> normalise_crd(Json& crd) {
  const auto shape = schema::check_crd_shape(crd);
  if (!shape) {
    return undecodable({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                       shape.error().message());
  }
  schema::crd_defaults(crd);
  drop_empty_webhook(crd);
  // Also where a write of the status says nothing of it: the default is no change then.
  fill_status(crd);
  return {};
}

void prepare_crd(Json& crd) {
  crd.erase("status");
  fill_status(crd);
}

namespace {

// `dependencies` with nothing in it are refused, wherever they stand.
void keep_empty_dependencies(const Json& from, Json& to) {
  constexpr const char* key = "dependencies";
  if (from.is_array() && to.is_array() && from.size() == to.size()) {
    for (std::size_t i = 0; i < from.size(); ++i) keep_empty_dependencies(from[i], to[i]);
  }
  if (!from.is_object() || !to.is_object()) return;
  for (const auto& [name, below] : from.items()) {
    const auto it = to.find(name);
    if (it != to.end()) keep_empty_dependencies(below, *it);
  }
  const auto found = from.find(key);
  if (found != from.end() && *found == Json::object()) to[key] = *found;
}

// `subresources: {status: {}}` is an empty object that means something; the merge schema takes it
// for an empty map and drops it. Puts back what `from` has.
void keep_empty_parts(const Json& from, Json& to) {
  const Json* sources = base::find(from, {"spec", "versions"});
  Json* targets = base::find(to, {"spec", "versions"});
  if (sources == nullptr || targets == nullptr || !sources->is_array()) return;
  for (const auto& source : *sources) {
    const Json* status = base::find(source, {"subresources", "status"});
    const Json* schema = base::find(source, {"schema"});
    for (auto& target : *targets) {
      if (string_at(target, {"name"}) != string_at(source, {"name"})) continue;
      if (status != nullptr && status->is_object()) target["subresources"]["status"] = *status;
      Json* below = base::find(target, {"schema"});
      if (schema != nullptr && below != nullptr) keep_empty_dependencies(*schema, *below);
    }
  }
}

}  // namespace

void restore_crd(const Json& from, Json& to) {
  keep_empty_parts(from, to);
  fill_status(to);
}

void validate_crd(const Json* live, const Json& crd, const std::string& subresource,
                  FieldErrors& errors) {
  if (subresource == "status") {
    errors.append(schema::errors_of(schema::check_crd_status(crd)));
    return;
  }
  schema::CrdCheckOptions options;
  options.live = live;
  options.rules = &schema::rule_checker();
  options.name = false;
  errors.append(schema::errors_of(schema::check_crd(crd, options)));
}

void TakenNames::add(const Json& crd) {
  const Json* names = base::find(crd, {"status", "acceptedNames"});
  if (names == nullptr) return;
  for (const char* key : {"plural", "singular"}) resources.insert(string_at(*names, {key}));
  for (auto& name : base::strings_at(*names, {"shortNames"})) resources.insert(std::move(name));
  for (const char* key : {"kind", "listKind"}) kinds.insert(string_at(*names, {key}));
  // That nothing was accepted takes nothing.
  resources.erase("");
  kinds.erase("");
}

bool TakenNames::within(const TakenNames& other) const {
  const auto has = [](const std::set<std::string>& all, const std::set<std::string>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  return has(other.resources, resources) && has(other.kinds, kinds);
}

AcceptedNames choose_names(const Json& crd, const TakenNames& taken) {
  return NameChoice(crd, taken).choose();
}

void set_condition(Json& status, const std::string& type, const std::string& value,
                   const std::string& reason, const std::string& message, WallTime now) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const Json next = {{"type", type},
                     {"status", value},
                     {"reason", reason},
                     {"message", message},
                     {"lastTransitionTime", base::format_rfc3339(now)}};
  for (auto& one : conditions) {
    if (string_at(one, {"type"}) != type) continue;
    const Json since = one.value("lastTransitionTime", Json());
    const bool same = string_at(one, {"status"}) == value;
    one = next;
    if (same && !since.is_null()) one["lastTransitionTime"] = since;
    return;
  }
  conditions.push_back(next);
}

namespace {

constexpr const char kApproval[] = "api-approved.kubernetes.io";

bool is_protected(const std::string& group) {
  for (const std::string_view domain : {"k8s.io", "kubernetes.io"}) {
    if (group == domain || group.ends_with("." + std::string(domain))) return true;
  }
  return false;
}

// Groups of Kubernetes' own need somebody's word for it; whether there is one at all was checked.
void set_approval(const Json& crd, Json& status, WallTime now) {
  if (!is_protected(string_at(crd, {"spec", "group"}))) return;
  const std::string word = string_at(crd, {"metadata", "annotations", kApproval});
  const char* type = "KubernetesAPIApprovalPolicyConformant";
  if (word.starts_with("unapproved")) {
    set_condition(status, type, "False", "UnapprovedAnnotation",
                  "not approved: " + base::json_quoted(word), now);
  } else {
    set_condition(status, type, "True", "ApprovedAnnotation", "approved in " + word, now);
  }
}

}  // namespace

Json crd_status(const Json& crd, const TakenNames& taken, WallTime now) {
  Json filled = crd;
  fill_status(filled);
  Json& status = filled["status"];
  // Names that are as they should be are not looked at again, nor what is said of them.
  if (status["acceptedNames"] != crd.at("spec").at("names")) {
    AcceptedNames accepted = choose_names(filled, taken);
    status["acceptedNames"] = std::move(accepted.names);
    if (!accepted.reason.empty()) {
      set_condition(status, "NamesAccepted", "False", accepted.reason, accepted.message, now);
    } else {
      set_condition(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
    }
    // What was established once stays so, with the names that it has.
    if (accepted.reason.empty() && !is_established(filled)) {
      set_condition(status, "Established", "True", "InitialNamesAccepted",
                    "the initial names have been accepted", now);
    } else if (!is_established(filled)) {
      set_condition(status, "Established", "False", "NotAccepted", "not all names are accepted",
                    now);
    }
  }
  set_approval(crd, status, now);
  Json& stored = status["storedVersions"];
  for (const auto& version : crd.at("spec").at("versions")) {
    const Json name = string_at(version, {"name"});
    const bool known = std::find(stored.begin(), stored.end(), name) != stored.end();
    if (base::bool_at(version, {"storage"}) && !known) stored.push_back(name);
  }
  return std::move(status);
}

bool is_established(const Json& crd) {
  return schema::is_crd_established(crd);
}

}  // namespace kubewatch::apiserver
