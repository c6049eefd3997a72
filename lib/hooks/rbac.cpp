#include "hooks/rbac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/strings.hpp"
#include "hooks/optional_kinds.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/result_extras.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::hooks {

namespace {

constexpr const char* kRbacVersion = "rbac.authorization.k8s.io/v1";
constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";

using Names = std::vector<std::string>;

// The rights of one rule.
class RuleRights {
 public:
  RuleRights(const Rule& rule, const RightsInput& input, std::set<std::string>& unknown,
             std::vector<Right>& out)
      : rule_(rule), input_(input), unknown_(unknown), out_(out) {}

  void collect() {
    if (rule_.has_for) {
      const auto type = find(rule_.for_.gvk);
      if (!type) return;
      namespaced_ = type->namespaced;
      of_the_object(*type);
      selected_namespaces(rule_.for_, "/spec/for");
    } else {
      namespaced_ = false;  // children may be anywhere
    }
    credentials(rule_.reconcile, "/spec/reconcile");
    if (rule_.finalize) credentials(rule_.finalize->hook, "/spec/finalize");
    for (std::size_t i = 0; i < rule_.owns.size(); ++i) {
      const StreamRule& stream = rule_.owns[i].stream;
      const std::string pointer = fmt::format("/spec/owns/{}", i);
      child(stream.gvk, stream.namespaces, true, pointer, !stream.namespace_selector.empty());
      selected_namespaces(stream, pointer);
    }
    for (std::size_t i = 0; i < rule_.writes.size(); ++i) {
      child(rule_.writes[i].gvk, rule_.writes[i].namespaces, false,
            fmt::format("/spec/writes/{}", i));
    }
    for (std::size_t i = 0; i < rule_.watches.size(); ++i) {
      const StreamRule& stream = rule_.watches[i].stream;
      const auto watched = find(stream.gvk);
      if (!watched) continue;
      const std::string pointer = fmt::format("/spec/watches/{}", i);
      add({"list", "watch"}, *watched, "", stream.namespaces, pointer);
      selected_namespaces(stream, pointer);
    }
    regarding_events();
  }

 private:
  std::optional<core::ResourceType> find(const core::Gvk& gvk) {
    auto type = input_.type_of(gvk);
    // Of an optional kind that is not there nothing can be asked for.
    const auto optional = optional_kinds(rule_);
    const bool may_lack = std::find(optional.begin(), optional.end(), gvk) != optional.end();
    if (!type && !may_lack) unknown_.insert(gvk.str());
    return type;
  }

  void add(const Names& verbs, const core::ResourceType& type, const std::string& subresource,
           const Names& namespaces, const std::string& pointer) {
    const Names places = type.namespaced && !namespaces.empty() ? namespaces : Names{""};
    for (const std::string& place : places) {
      for (const std::string& verb : verbs) {
        out_.push_back({verb, type.gvk.group,
                        type.plural + (subresource.empty() ? "" : "/" + subresource), place, "",
                        rule_.name, pointer});
      }
    }
  }

  void of_the_object(const core::ResourceType& type) {
    const Names& places = rule_.for_.namespaces;
    add({"get", "list", "watch"}, type, "", places, "/spec/for");
    const auto namespaced = [&](const core::Gvk& gvk) -> std::optional<bool> {
      const auto child_type = input_.type_of(gvk);
      if (!child_type) return std::nullopt;
      return child_type->namespaced;
    };
    if (may_need_finalizer(rule_, type.namespaced, namespaced)) {
      add({"patch"}, type, "", places, rule_.finalize ? "/spec/finalize" : "/spec/owns");
    }
    if (prints() && type.has_subresource("status")) {
      add({"patch"}, type, "status", places, "/spec/for");
      shape(type);
    }
    // Few hooks make or delete objects of their own kind: for those it stands under `writes`.
    if (writes_by_itself()) {
      add({"update", "patch"}, type, "", places, "/spec/for");
      if (type.has_subresource("status")) {
        add({"update", "patch"}, type, "status", places, "/spec/for");
      }
    }
    // Events of a cluster-scoped object are in namespace default.
    events(type.namespaced ? places : Names{"default"}, "/spec/for");
  }

  // Their labels are followed.
  void selected_namespaces(const StreamRule& stream, const std::string& pointer) {
    if (stream.namespace_selector.empty()) return;
    for (const char* verb : {"list", "watch"}) {
      out_.push_back({verb, "", "namespaces", "", "", rule_.name, pointer});
    }
  }

  // Some hook's stdout is carried out.
  bool prints() const {
    return rule_.reconcile.output_manifests ||
           (rule_.finalize && rule_.finalize->hook.output_manifests);
  }

  // By credentials: cache, which passes its writes on with our rights.
  bool writes_by_itself() const {
    const auto by_cache = [](const HookRule& hook) {
      return hook.credentials.kind == CredentialsRule::Kind::cache;
    };
    return by_cache(rule_.reconcile) || (rule_.finalize && by_cache(rule_.finalize->hook));
  }

  void credentials(const HookRule& hook, const std::string& pointer) {
    if (hook.credentials.service_account.empty()) return;
    out_.push_back({"create", "", "serviceaccounts/token", input_.own_namespace,
                    hook.credentials.service_account, rule_.name, pointer});
  }

  // What the schema says of status.conditions, and of manifests that are checked before they are
  // written.
  void shape(const core::ResourceType& type, const std::string& pointer = "/spec/for") {
    if (type.gvk.group.find('.') == std::string::npos) return;
    if (schema::builtin_merge_schema(type.gvk) != nullptr) return;
    out_.push_back({"get", "apiextensions.k8s.io", "customresourcedefinitions", "",
                    type.plural + "." + type.gvk.group, rule_.name, pointer});
  }

  void events(const Names& places, const std::string& pointer) {
    for (const std::string& place : places.empty() ? Names{""} : places) {
      for (const char* verb : {"create", "patch"}) {
        out_.push_back({verb, "events.k8s.io", "events", place, "", rule_.name, pointer});
      }
    }
  }

  // Hooks may print events that regard other objects, wherever they may write at all.
  void regarding_events() {
    if (!prints()) return;
    for (const auto& [places, pointer] : event_places_) events(places, pointer);
  }

  // Where children of a kind may be: in their owner's namespace and those listed; an owner without
  // a namespace may have them anywhere.
  Names places_of(const Names& listed) const {
    if (!namespaced_) return listed;
    if (rule_.for_.namespaces.empty()) return {};
    std::set<std::string> all(listed.begin(), listed.end());
    all.insert(rule_.for_.namespaces.begin(), rule_.for_.namespaces.end());
    return {all.begin(), all.end()};
  }

  void child(const core::Gvk& gvk, const Names& listed, bool watched, const std::string& pointer,
             bool anywhere = false) {
    const auto type = find(gvk);
    if (!type) return;
    const Names places = anywhere ? Names{} : places_of(listed);
    event_places_.emplace_back(type->namespaced ? places : Names{"default"}, pointer);
    add({"list"}, *type, "", places, pointer);
    if (watched) add({"watch"}, *type, "", places, pointer);
    if (writes_by_itself()) add({"update"}, *type, "", places, pointer);
    if (!prints() && !writes_by_itself()) return;
    // Server-side apply of what is not there needs create as well as patch.
    add({"get", "create", "patch", "delete"}, *type, "", places, pointer);
    for (const PatchedSubresource& one : input_.patched) {
      if (one.gvk.group != gvk.group || one.gvk.kind != gvk.kind) continue;
      add({"patch"}, *type, one.subresource, places, pointer);
      if (writes_by_itself()) add({"update"}, *type, one.subresource, places, pointer);
    }
    if (rule_.apply.validate != Validate::none) shape(*type, pointer);
    grants(*type, places, pointer);
  }

  // Who hands out rights must have them, or be allowed to give what it has not.
  void grants(const core::ResourceType& type, const Names& places, const std::string& pointer) {
    if (type.gvk.group != kRbacGroup) return;
    if (!type.gvk.kind.ends_with("Binding")) {
      return add({"escalate"}, type, "", places, pointer);
    }
    core::ResourceType role = type;
    for (const char* plural : {"clusterroles", "roles"}) {
      role.plural = plural;
      add({"bind"}, role, "", places, pointer);
    }
  }

  const Rule& rule_;
  const RightsInput& input_;
  std::set<std::string>& unknown_;
  std::vector<Right>& out_;
  bool namespaced_ = true;
  std::vector<std::pair<Names, std::string>> event_places_;
};

std::optional<std::vector<core::Gvk>> kinds_of(const Rule& rule, const RightsInput& input) {
  if (!input.kinds_of_group) return std::nullopt;
  return input.kinds_of_group(rule.for_);
}

// A controller for each kind of the group; and who follows the group watches its definitions.
void collect_group(const Rule& rule, const std::vector<core::Gvk>& kinds, const RightsInput& input,
                   std::set<std::string>& unknown, std::vector<Right>& out) {
  for (const char* verb : {"list", "watch"}) {
    out.push_back({verb, "apiextensions.k8s.io", "customresourcedefinitions", "", "", rule.name,
                   "/spec/for"});
  }
  for (const core::Gvk& gvk : kinds) {
    Rule one = rule;
    one.for_.gvk = gvk;
    one.for_.every_kind = false;
    RuleRights(one, input, unknown, out).collect();
  }
}

// Rights of one place, as rules of a role: resources of a group with the same verbs together.
Json role_rules(const std::vector<Right>& rights) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> verbs;
  for (const Right& right : rights) {
    verbs[{right.group, right.name, right.resource}].insert(right.verb);
  }
  std::map<std::tuple<std::string, std::string, std::set<std::string>>, Names> grouped;
  for (const auto& [what, allowed] : verbs) {
    grouped[{std::get<0>(what), std::get<1>(what), allowed}].push_back(std::get<2>(what));
  }
  Json rules = Json::array();
  for (const auto& [key, resources] : grouped) {
    Json rule = {{"apiGroups", {std::get<0>(key)}}, {"resources", resources}};
    if (!std::get<1>(key).empty()) rule["resourceNames"] = {std::get<1>(key)};
    Json list = Json::array();
    for (const char* verb :
         {"get", "list", "watch", "create", "update", "patch", "delete", "bind", "escalate"}) {
      if (std::get<2>(key).count(verb) > 0) list.push_back(verb);
    }
    rule["verbs"] = std::move(list);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Json metadata(const std::string& name, const std::string& namespace_) {
  Json out = {{"name", name}};
  if (!namespace_.empty()) out["namespace"] = namespace_;
  return out;
}

// Role and binding of one place; "" = cluster-wide.
void add_role(const std::string& place, const std::vector<Right>& rights, const std::string& name,
              const RbacOptions& options, std::vector<Json>& out) {
  const std::string kind = place.empty() ? "ClusterRole" : "Role";
  out.push_back({{"apiVersion", kRbacVersion},
                 {"kind", kind},
                 {"metadata", metadata(name, place)},
                 {"rules", role_rules(rights)}});
  out.push_back({{"apiVersion", kRbacVersion},
                 {"kind", kind + "Binding"},
                 {"metadata", metadata(name, place)},
                 {"roleRef", {{"apiGroup", kRbacGroup}, {"kind", kind}, {"name", name}}},
                 {"subjects",
                  {{{"kind", "ServiceAccount"},
                    {"name", options.name},
                    {"namespace", options.namespace_}}}}});
}

bool is_same(const Right& a, const Right& b) {
  return a.verb == b.verb && a.group == b.group && a.resource == b.resource && a.name == b.name;
}

// A right that holds in all namespaces needs no role in one.
std::vector<Right> without_covered(const std::vector<Right>& rights) {
  std::vector<Right> out;
  for (const Right& right : rights) {
    const bool covered =
        !right.namespace_.empty() && std::any_of(rights.begin(), rights.end(), [&](const auto& o) {
          return o.namespace_.empty() && is_same(o, right);
        });
    if (!covered) out.push_back(right);
  }
  return out;
}

}  // namespace

std::string Right::str() const {
  return fmt::format("{} {}{}{}{}", verb, resource, group.empty() ? "" : "." + group,
                     name.empty() ? "" : " \"" + name + "\"",
                     namespace_.empty() ? "" : " in namespace " + namespace_);
}

Result<std::vector<Right>> rights_of(const RightsInput& input) {
  std::set<std::string> unknown;
  std::vector<Right> out;
  for (const Rule& rule : input.rules) {
    if (!rule.for_.every_kind) {
      RuleRights(rule, input, unknown, out).collect();
    } else if (const auto kinds = kinds_of(rule, input)) {
      collect_group(rule, *kinds, input, unknown, out);
    }
  }
  if (!unknown.empty()) {
    return Error(
        ErrorKind::not_found,
        fmt::format("no such kind: {}", base::join(Names(unknown.begin(), unknown.end()), ", ")));
  }
  if (!input.election) return out;
  Names verbs = {"get", "create", "update"};
  if (input.election->shards) verbs.insert(verbs.end(), {"list", "delete"});
  for (const std::string& verb : verbs) {
    out.push_back({verb, "coordination.k8s.io", "leases", input.election->namespace_, "", "", ""});
  }
  return out;
}

std::vector<std::string> left_out(const RightsInput& input) {
  std::vector<std::string> out;
  for (const Rule& rule : input.rules) {
    if (rule.for_.every_kind && !kinds_of(rule, input)) {
      out.push_back(fmt::format("controller {}: every kind of group {}", rule.name,
                                rule.for_.gvk.group.empty() ? "\"\"" : rule.for_.gvk.group));
    }
    for (const core::Gvk& gvk : optional_kinds(rule)) {
      if (input.type_of(gvk) || !input.is_doubtful || !input.is_doubtful(gvk)) continue;
      out.push_back(fmt::format("controller {}: the optional kind {}", rule.name, gvk.str()));
    }
  }
  return out;
}

Result<std::vector<PatchedSubresource>> patched_subresources(const std::vector<Json>& documents) {
  std::vector<PatchedSubresource> out;
  for (const Json& document : documents) {
    if (!document.is_object()) return Error(ErrorKind::invalid, "a document that is no mapping");
    if (document.contains("documents") && document["documents"].is_array()) {
      KW_ASSIGN(auto of_worker, patched_subresources(document["documents"]));
      out.insert(out.end(), of_worker.begin(), of_worker.end());
    }
    if (base::string_at(document, {"kind"}) != "Result" || !document.contains("patches")) continue;
    KW_ASSIGN(const auto patches, read_patches(document["patches"]));
    for (const HookPatch& patch : patches) {
      if (patch.subresource.empty()) continue;
      KW_ASSIGN(auto gvk, core::gvk_of(patch.target));
      out.push_back({std::move(gvk), patch.subresource});
    }
  }
  return out;
}

std::vector<Json> rbac_documents(const std::vector<Right>& rights, const RbacOptions& options) {
  std::vector<Json> out;
  out.push_back({{"apiVersion", "v1"},
                 {"kind", "ServiceAccount"},
                 {"metadata", metadata(options.name, options.namespace_)}});
  std::map<std::string, std::vector<Right>> places;
  for (const Right& right : without_covered(rights)) places[right.namespace_].push_back(right);
  for (const auto& [place, of_place] : places) {
    // Two accounts of the same name in two namespaces must not share a cluster role.
    const std::string name = place.empty() ? options.namespace_ + "-" + options.name : options.name;
    add_role(place, of_place, name, options, out);
  }
  return out;
}

std::vector<Json> registration_documents(const std::vector<Rule>& rules, const RightsInput& input,
                                         const RbacOptions& options) {
  std::set<std::string> names;
  const auto note = [&](const core::Gvk& gvk) {
    const bool custom = gvk.group.find('.') != std::string::npos && !gvk.group.ends_with(".k8s.io");
    const auto type = custom ? input.type_of(gvk) : std::nullopt;
    if (type) names.insert(type->plural + "." + gvk.group);
  };
  for (const Rule& rule : rules) {
    if (rule.for_.every_kind) {
      for (const core::Gvk& gvk : kinds_of(rule, input).value_or(std::vector<core::Gvk>())) {
        note(gvk);
      }
    } else {
      note(rule.for_.gvk);
    }
    for (const OwnsRule& owns : rule.owns) note(owns.stream.gvk);
    for (const WritesRule& writes : rule.writes) note(writes.gvk);
  }
  std::vector<Json> out;
  if (names.empty()) return out;
  RbacOptions registrar = options;
  registrar.name += "-registration";
  out.push_back({{"apiVersion", "v1"},
                 {"kind", "ServiceAccount"},
                 {"metadata", metadata(registrar.name, registrar.namespace_)}});
  std::vector<Right> rights;
  const Right base{"", "apiextensions.k8s.io", "customresourcedefinitions", "", "", "", ""};
  // Create cannot be limited to names: the server does not know the name then.
  Right create = base;
  create.verb = "create";
  rights.push_back(create);
  for (const std::string& name : names) {
    for (const char* verb : {"get", "update", "patch"}) {
      Right right = base;
      right.verb = verb;
      right.name = name;
      rights.push_back(right);
    }
  }
  add_role("", rights, registrar.namespace_ + "-" + registrar.name, registrar, out);
  return out;
}

}  // namespace kubewatch::hooks
