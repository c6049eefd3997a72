// The least rights of rules, and the documents that grant them.
#include "hooks/rbac.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/rule_place.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

std::optional<core::ResourceType> type_of(const core::Gvk& gvk) {
  core::ResourceType type;
  type.gvk = gvk;
  type.plural = base::to_lower(gvk.kind) + "s";
  type.namespaced = gvk.kind != "Namespace";
  if (gvk.kind == "Website") type.subresources.push_back({"status", gvk, {}});
  if (gvk.kind == "Unknown") return std::nullopt;
  return type;
}

std::string rule_text(const std::string& spec) {
  return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n" + spec +
         "  reconcile: {shell: 'true'}\n";
}

std::vector<Rule> rules(const std::string& spec) {
  auto loaded = parse_rules(rule_text(spec), "/tmp/rules.yaml");
  for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
  return std::move(loaded.rules);
}

std::vector<std::string> texts(const std::vector<Right>& rights) {
  std::vector<std::string> out;
  for (const Right& right : rights) out.push_back(right.str());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string> rights(const std::string& spec) {
  const auto loaded = rules(spec);
  const auto found = rights_of({loaded, type_of, {}});
  REQUIRE(found.ok());
  return texts(*found);
}

}  // namespace

TEST_CASE("a rule in named namespaces needs rights in those alone") {
  CHECK(rights("  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n") ==
        std::vector<std::string>{
            "create events.events.k8s.io in namespace shop", "get configmaps in namespace shop",
            "list configmaps in namespace shop", "patch events.events.k8s.io in namespace shop",
            "watch configmaps in namespace shop"});
}

TEST_CASE("a custom kind needs its status, its schema, and patch only for a finalizer") {
  const std::string kind = "  for: {apiVersion: demo.io/v1, kind: Website}\n";
  CHECK(rights(kind) ==
        std::vector<std::string>{"create events.events.k8s.io",
                                 "get customresourcedefinitions.apiextensions.k8s.io "
                                 "\"websites.demo.io\"",
                                 "get websites.demo.io", "list websites.demo.io",
                                 "patch events.events.k8s.io", "patch websites/status.demo.io",
                                 "watch websites.demo.io"});
  const auto with = rights(kind + "  finalize: {shell: 'true'}\n");
  CHECK(std::count(with.begin(), with.end(), "patch websites.demo.io") == 1);
}

TEST_CASE("what a hook may print is written where it is declared, and watched when it is owned") {
  const auto found = rights(
      "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
      "  owns: [{apiVersion: apps/v1, kind: Deployment}]\n"
      "  writes: [{apiVersion: v1, kind: Service, namespaces: [edge]}]\n"
      "  watches: [{name: s, apiVersion: v1, kind: Secret, namespaces: [keys], map: all}]\n");
  for (const char* verb : {"get", "list", "watch", "create", "patch", "delete"}) {
    INFO(verb);
    CHECK(std::count(found.begin(), found.end(),
                     std::string(verb) + " deployments.apps in namespace shop") == 1);
  }
  CHECK(std::count(found.begin(), found.end(), "create services in namespace edge") == 1);
  CHECK(std::count(found.begin(), found.end(), "create services in namespace shop") == 1);
  CHECK(std::count(found.begin(), found.end(), "watch services in namespace edge") == 0);
  CHECK(std::count(found.begin(), found.end(), "list secrets in namespace keys") == 1);
  CHECK(std::count(found.begin(), found.end(), "get secrets in namespace keys") == 0);
  // A hook may print Events that regard what stands there.
  for (const char* place : {"shop", "edge", "keys"}) {
    INFO(place);
    CHECK(std::count(found.begin(), found.end(),
                     std::string("create events.events.k8s.io in namespace ") + place) ==
          (place == std::string("keys") ? 0 : 1));
  }
  // A child in another namespace needs our finalizer on its owner.
  CHECK(std::count(found.begin(), found.end(), "patch configmaps in namespace shop") == 1);
}

TEST_CASE("a rule without for may write Events where it declares children") {
  const std::string kind = "{apiVersion: v1, kind: Service";
  const auto events_of = [](const std::string& spec) {
    std::vector<std::string> out;
    for (const std::string& right : rights(spec)) {
      if (right.starts_with("create events")) out.push_back(right);
    }
    return out;
  };
  const std::string in = "create events.events.k8s.io in namespace ";
  CHECK(events_of("  owns: [" + kind + ", namespaces: [shop]}]\n") ==
        std::vector<std::string>{in + "shop"});
  CHECK(events_of("  owns: [" + kind + "}]\n") ==
        std::vector<std::string>{"create events.events.k8s.io"});
  CHECK(events_of("  owns: [{apiVersion: v1, kind: Namespace}]\n") ==
        std::vector<std::string>{in + "default"});
  CHECK(events_of("  owns: [" + kind + ", namespaceSelector: a=b}]\n") ==
        std::vector<std::string>{"create events.events.k8s.io"});
  CHECK(events_of("  watches: [" + kind + ", name: s}]\n").empty());
}

TEST_CASE("who prints bindings may bind, who prints roles may escalate") {
  const auto found = rights(
      "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
      "  owns:\n"
      "    - {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding}\n"
      "    - {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}\n");
  for (const char* right : {"bind roles.rbac.authorization.k8s.io in namespace shop",
                            "bind clusterroles.rbac.authorization.k8s.io in namespace shop",
                            "escalate roles.rbac.authorization.k8s.io in namespace shop"}) {
    INFO(right);
    CHECK(std::count(found.begin(), found.end(), right) == 1);
  }
}

TEST_CASE("a hook that acts by itself is given no right to write children") {
  const auto loaded = parse_rules(
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
      "  for: {apiVersion: v1, kind: ConfigMap}\n"
      "  owns: [{apiVersion: v1, kind: Service}]\n"
      "  reconcile: {shell: 'true', output: log}\n",
      "/tmp/rules.yaml");
  REQUIRE(loaded.problems.empty());
  const auto found = rights_of({loaded.rules, type_of, {}});
  REQUIRE(found.ok());
  for (const std::string& text : texts(*found)) {
    INFO(text);
    CHECK((text.find("services") == std::string::npos || text == "list services" ||
           text == "watch services"));
  }
}

TEST_CASE("what only the finalize hook prints needs the rights of what reconcile prints") {
  const auto granted = [](const std::string& finalize) {
    const auto loaded = parse_rules(
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
        "  for: {apiVersion: demo.io/v1, kind: Website}\n"
        "  owns: [{apiVersion: v1, kind: Service}]\n"
        "  reconcile: {shell: 'true', output: log}\n  finalize: " +
            finalize,
        "/tmp/rules.yaml");
    REQUIRE(loaded.problems.empty());
    const auto found = rights_of({loaded.rules, type_of, {}});
    REQUIRE(found.ok());
    return texts(*found);
  };
  const auto found = granted("{shell: 'true', apply: true}\n");
  for (const char* right : {"create services", "patch services", "delete services", "get services",
                            "patch websites/status.demo.io"}) {
    INFO(right);
    CHECK(std::count(found.begin(), found.end(), right) == 1);
  }
  const auto logged = granted("{shell: 'true', output: log}\n");
  CHECK(std::count(logged.begin(), logged.end(), "create services") == 0);
}

TEST_CASE("kinds that nobody knows are all named") {
  const auto loaded = rules(
      "  for: {apiVersion: v1, kind: ConfigMap}\n"
      "  owns: [{apiVersion: a.io/v1, kind: Unknown}]\n"
      "  writes: [{apiVersion: b.io/v1, kind: Unknown}]\n");
  const auto found = rights_of({loaded, type_of, {}});
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().message() == "no such kind: a.io/v1 Unknown, b.io/v1 Unknown");
}

TEST_CASE("a rule for every kind of a group has the rights of each kind, and follows definitions") {
  const auto loaded = rules("  for: {group: demo.io, kinds: '*', namespaces: [shop]}\n");
  RightsInput input{loaded, type_of, {}};
  CHECK(left_out(input) == std::vector<std::string>{"controller a: every kind of group demo.io"});
  auto found = rights_of(input);
  REQUIRE(found.ok());
  CHECK(found->empty());

  input.kinds_of_group = [](const StreamRule& rule) {
    CHECK(rule.gvk.group == "demo.io");
    return std::vector<core::Gvk>{{"demo.io", "v1", "Gadget"}, {"demo.io", "v1", "Website"}};
  };
  CHECK(left_out(input).empty());
  found = rights_of(input);
  REQUIRE(found.ok());
  const auto all = texts(*found);
  for (const char* right :
       {"list gadgets.demo.io in namespace shop", "watch websites.demo.io in namespace shop",
        "patch websites/status.demo.io in namespace shop",
        "list customresourcedefinitions.apiextensions.k8s.io",
        "watch customresourcedefinitions.apiextensions.k8s.io"}) {
    INFO(right);
    CHECK(std::count(all.begin(), all.end(), right) == 1);
  }
  for (const std::string& text : all) CHECK(text.find('*') == std::string::npos);
}

TEST_CASE("subresources that recorded outputs patch are granted where their kind is declared") {
  const auto patched = patched_subresources(
      {Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})"),
       Json::parse(R"({"kind":"Result","patches":[
           {"apiVersion":"apps/v1","kind":"Deployment","name":"a","subresource":"scale","patch":{}},
           {"apiVersion":"apps/v1","kind":"Deployment","name":"a","patch":{}}]})"),
       Json::parse(R"({"id":"1","documents":[{"kind":"Result","patches":[
           {"apiVersion":"v1","kind":"Pod","name":"a","subresource":"resize","patch":{}}]}]})")});
  REQUIRE(patched.ok());
  REQUIRE(patched->size() == 2);
  CHECK((*patched)[1].subresource == "resize");
  CHECK_FALSE(patched_subresources({Json::parse(R"({"kind":"Result","patches":7})")}).ok());

  const auto loaded = rules(
      "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
      "  owns: [{apiVersion: apps/v1, kind: Deployment}]\n");
  RightsInput input{loaded, type_of, {}};
  input.patched = *patched;
  const auto found = rights_of(input);
  REQUIRE(found.ok());
  const auto all = texts(*found);
  CHECK(std::count(all.begin(), all.end(), "patch deployments/scale.apps in namespace shop") == 1);
  for (const std::string& text : all) CHECK(text.find("resize") == std::string::npos);
}

TEST_CASE("documents grant exactly the rights, without stars, roles where namespaces are named") {
  const auto loaded = rules(
      "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
      "  watches: [{name: spaces, apiVersion: v1, kind: Namespace, map: all}]\n");
  const auto found = rights_of({loaded, type_of, ElectionRights{"ops", true}});
  REQUIRE(found.ok());
  RbacOptions options;
  options.name = "bot";
  options.namespace_ = "ops";
  const auto documents = rbac_documents(*found, options);
  std::vector<std::string> names;
  for (const Json& document : documents) {
    CHECK(base::dump_json(document).find('*') == std::string::npos);
    names.push_back(base::string_at(document, {"kind"}) + " " +
                    base::string_at(document, {"metadata", "namespace"}) + "/" +
                    base::string_at(document, {"metadata", "name"}));
  }
  CHECK(names == std::vector<std::string>{"ServiceAccount ops/bot", "ClusterRole /ops-bot",
                                          "ClusterRoleBinding /ops-bot", "Role ops/bot",
                                          "RoleBinding ops/bot", "Role shop/bot",
                                          "RoleBinding shop/bot"});
  CHECK(documents[1]["rules"] ==
        Json::parse(R"([{"apiGroups":[""],"resources":["namespaces"],"verbs":["list","watch"]}])"));
  CHECK(documents[3]["rules"] ==
        Json::parse(R"([{"apiGroups":["coordination.k8s.io"],"resources":["leases"],
                         "verbs":["get","list","create","update","delete"]}])"));
  CHECK(documents[5]["rules"] == Json::parse(R"([{"apiGroups":[""],"resources":["configmaps"],
                         "verbs":["get","list","watch"]},
                        {"apiGroups":["events.k8s.io"],"resources":["events"],
                         "verbs":["create","patch"]}])"));
  CHECK(documents[6]["subjects"] ==
        Json::parse(R"([{"kind":"ServiceAccount","name":"bot","namespace":"ops"}])"));
}

TEST_CASE("registration is an account of its own, for the rules' own kinds") {
  const auto loaded = rules(
      "  for: {apiVersion: demo.io/v1, kind: Website}\n"
      "  owns: [{apiVersion: v1, kind: ConfigMap}]\n");
  const RightsInput input{loaded, type_of, {}};
  const auto documents = registration_documents(loaded, input, {});
  REQUIRE(documents.size() == 3);
  CHECK(documents[0]["metadata"]["name"] == "kubewatch-registration");
  CHECK(documents[1]["rules"] == Json::parse(R"([{"apiGroups":["apiextensions.k8s.io"],
                         "resources":["customresourcedefinitions"],"verbs":["create"]},
                        {"apiGroups":["apiextensions.k8s.io"],
                         "resources":["customresourcedefinitions"],
                         "resourceNames":["websites.demo.io"],"verbs":["get","update","patch"]}])"));
  const auto plain = rules("  for: {apiVersion: v1, kind: ConfigMap}\n");
  CHECK(registration_documents(plain, {plain, type_of, {}}, {}).empty());
}

TEST_CASE("a part of a rule is found in its file") {
  const test::RuleFolder folder;
  const auto file = folder.write(
      "rules.yaml", "# first\n" + rule_text("  for: {apiVersion: v1, kind: ConfigMap}\n"
                                            "  owns:\n"
                                            "    - {apiVersion: v1, kind: Service}\n"));
  CHECK(place_in_rule(file, "a", "/spec/owns/0") == file + ":8");
  CHECK(place_in_rule(file, "none", "/spec/owns/0") == file);
  CHECK(place_in_rule("/none", "a", "/spec/for") == "/none");
}

TEST_CASE("writes that a hook sends through credentials: cache need rights of ours") {
  const auto found = rights_of(
      {parse_rules("apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
                   "  for: {apiVersion: demo.io/v1, kind: Website, namespaces: [shop]}\n"
                   "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
                   "  reconcile: {shell: 'true', output: log, credentials: cache}\n",
                   "/tmp/rules.yaml")
           .rules,
       type_of,
       {}});
  REQUIRE(found.ok());
  const auto all = texts(*found);
  for (const char* right :
       {"create configmaps in namespace shop", "update configmaps in namespace shop",
        "delete configmaps in namespace shop", "update websites/status.demo.io in namespace shop",
        "patch websites.demo.io in namespace shop"}) {
    INFO(right);
    CHECK(std::count(all.begin(), all.end(), right) == 1);
  }
}

TEST_CASE(
    "what few hooks do through credentials: cache is granted where the rule or a file says so") {
  const auto rights_with = [](const std::string& spec, std::vector<PatchedSubresource> patched) {
    const auto loaded = parse_rules(
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
        "  for: {apiVersion: demo.io/v1, kind: Website, namespaces: [shop]}\n"
        "  owns: [{apiVersion: apps/v1, kind: Deployment}]\n" +
            spec + "  reconcile: {shell: 'true', output: log, credentials: cache}\n",
        "/tmp/rules.yaml");
    for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
    RightsInput input{loaded.rules, type_of, {}};
    input.patched = std::move(patched);
    const auto found = rights_of(input);
    REQUIRE(found.ok());
    return texts(*found);
  };
  const auto has = [](const std::vector<std::string>& all, const std::string& right) {
    return std::find(all.begin(), all.end(), right + " in namespace shop") != all.end();
  };
  const auto plain = rights_with("", {});
  const auto declared = rights_with("  writes: [{apiVersion: demo.io/v1, kind: Website}]\n",
                                    {{{"apps", "v1", "Deployment"}, "scale"}});
  for (const char* right : {"create websites.demo.io", "delete websites.demo.io",
                            "update deployments/scale.apps", "patch deployments/scale.apps"}) {
    INFO(right);
    CHECK_FALSE(has(plain, right));
    CHECK(has(declared, right));
  }
}

TEST_CASE("of an optional kind that is not there no right is asked for") {
  const std::string kind = "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n";
  const std::string owns = "  owns: [{apiVersion: demo.io/v1, kind: Unknown";
  CHECK(rights(kind) == rights(kind + owns + ", optional: true}]\n"));
  const auto loaded = rules(kind + owns + "}]\n");
  CHECK_FALSE(rights_of({loaded, type_of, {}}).ok());
}

TEST_CASE(
    "of an optional kind that nobody was asked about it is said that its rights are left out") {
  const auto loaded = rules(
      "  for: {apiVersion: demo.io/v1, kind: Unknown, optional: true}\n"
      "  owns: [{apiVersion: demo.io/v1, kind: Website, optional: true}]\n");
  RightsInput input{loaded, type_of, {}};
  CHECK(left_out(input).empty());
  input.is_doubtful = [](const core::Gvk&) { return true; };
  CHECK(left_out(input) ==
        std::vector<std::string>{"controller a: the optional kind demo.io/v1 Unknown"});
}
