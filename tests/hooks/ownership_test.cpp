// Labels, annotation and owner reference of children, and how existing objects are judged by them.
#include "hooks/ownership.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Owner namespaced_owner() {
  return {{"demo.kubewatch.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
}

Owner cluster_owner() {
  return {{"demo.kubewatch.dev", "v1", "Tenant"}, false, {"", "t"}, "uid-2", false};
}

Json config_map(const std::string& ns) {
  Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "c"}}}};
  if (!ns.empty()) object["metadata"]["namespace"] = ns;
  return object;
}

core::ObjectMeta meta_with(std::vector<std::pair<std::string, std::string>> labels) {
  core::ObjectMeta meta;
  meta.name = "c";
  meta.labels = std::move(labels);
  return meta;
}

}  // namespace

TEST_CASE("a child carries controller, owner uid and an annotation that names the owner") {
  const Json child =
      with_ownership(config_map("shop"), "website", namespaced_owner(), OwnerRef::controller);
  CHECK(child["metadata"]["labels"]["kubewatch.dev/controller"] == "website");
  CHECK(child["metadata"]["labels"]["kubewatch.dev/owner-uid"] == "uid-1");
  CHECK(child["metadata"]["annotations"]["kubewatch.dev/owner"] ==
        "demo.kubewatch.dev/v1 Website shop/a");
  const Json reference = child["metadata"]["ownerReferences"][0];
  CHECK(reference == Json{{"apiVersion", "demo.kubewatch.dev/v1"},
                          {"kind", "Website"},
                          {"name", "a"},
                          {"uid", "uid-1"},
                          {"controller", true},
                          {"blockOwnerDeletion", false}});
}

TEST_CASE("an owner reference is set only where Kubernetes allows it") {
  struct Case {
    const char* what;
    Owner owner;
    OwnerRef mode;
    std::string child_namespace;
    bool reference;
    bool finalizer;
  };
  Owner dying = namespaced_owner();
  dying.deleting = true;
  const std::vector<Case> cases = {
      {"same namespace", namespaced_owner(), OwnerRef::controller, "shop", true, false},
      {"other namespace", namespaced_owner(), OwnerRef::controller, "blog", false, true},
      {"cluster-scoped child of a namespaced owner", namespaced_owner(), OwnerRef::controller, "",
       false, true},
      {"child of a cluster-scoped owner", cluster_owner(), OwnerRef::controller, "blog", true,
       false},
      {"cluster-scoped both", cluster_owner(), OwnerRef::plain, "", true, false},
      {"dying owner", dying, OwnerRef::controller, "shop", false, false},
      {"switched off", namespaced_owner(), OwnerRef::none, "shop", false, true},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(may_reference(c.owner, c.mode, c.child_namespace) == c.reference);
    CHECK(needs_finalizer(c.owner, c.mode, c.child_namespace) == c.finalizer);
    const Json child = with_ownership(config_map(c.child_namespace), "w", c.owner, c.mode);
    CHECK(child["metadata"].contains("ownerReferences") == c.reference);
  }
}

TEST_CASE("a plain owner reference does not claim to be the controller") {
  const Json child =
      with_ownership(config_map("shop"), "website", namespaced_owner(), OwnerRef::plain);
  CHECK_FALSE(child["metadata"]["ownerReferences"][0].contains("controller"));
}

TEST_CASE("an existing object belongs to whom its labels say") {
  const std::string controller(kControllerLabel);
  const std::string uid(kOwnerUidLabel);
  CHECK(belongs_to(meta_with({}), "website", "uid-1") == Belongs::nobody);
  CHECK(belongs_to(meta_with({{"app", "x"}}), "website", "uid-1") == Belongs::nobody);
  CHECK(belongs_to(meta_with({{controller, "website"}, {uid, "uid-1"}}), "website", "uid-1") ==
        Belongs::us);
  CHECK(belongs_to(meta_with({{controller, "website"}, {uid, "uid-9"}}), "website", "uid-1") ==
        Belongs::other);
  CHECK(belongs_to(meta_with({{controller, "blog"}, {uid, "uid-1"}}), "website", "uid-1") ==
        Belongs::other);
}

TEST_CASE("what another object controls is told from what is ours or nobody's") {
  core::ObjectMeta meta = meta_with({});
  CHECK(other_controller(meta, "uid-1") == nullptr);
  meta.owners.push_back({"v1", "ConfigMap", "plain", "uid-8"});
  CHECK(other_controller(meta, "uid-1") == nullptr);
  meta.owners.push_back({"apps/v1", "Deployment", "web", "uid-9", true});
  REQUIRE(other_controller(meta, "uid-1") != nullptr);
  CHECK(other_controller(meta, "uid-1")->name == "web");
  CHECK(other_controller(meta, "") != nullptr);  // a rule without `for`
  CHECK(other_controller(meta, "uid-9") == nullptr);
  CHECK_FALSE(may_be_taken_over(meta, namespaced_owner()));
}

TEST_CASE("a reference blocks its own owner alone") {
  core::ObjectMeta meta = meta_with({});
  meta.owners.push_back({"v1", "ConfigMap", "o", "uid-8", true, true});
  meta.owners.push_back({"v1", "ConfigMap", "p", "uid-1"});
  CHECK(blocks_owner(meta, "uid-8"));
  CHECK_FALSE(blocks_owner(meta, "uid-1"));
}

TEST_CASE("a child that lost one of our labels belongs to nobody, not to another owner") {
  const std::string controller(kControllerLabel);
  const std::string uid(kOwnerUidLabel);
  CHECK(belongs_to(meta_with({{controller, "website"}}), "website", "uid-1") == Belongs::nobody);
  CHECK(belongs_to(meta_with({{uid, "uid-1"}}), "website", "uid-1") == Belongs::us);
  CHECK(belongs_to(meta_with({{controller, "blog"}}), "website", "uid-1") == Belongs::other);
}

TEST_CASE("applied_by looks for an Apply entry of the object itself") {
  Json object = config_map("shop");
  object["metadata"]["managedFields"] = {
      {{"manager", "kubewatch/w"}, {"operation", "Apply"}, {"subresource", "status"}},
      {{"manager", "kubewatch/w"}, {"operation", "Update"}},
      {{"manager", "kubectl"}, {"operation", "Apply"}}};
  CHECK_FALSE(applied_by(object, "kubewatch/w"));
  CHECK(applied_by(object, "kubectl"));
  CHECK(managed_by(object, "kubewatch/w"));
  CHECK(managers_text(object) == "kubectl, kubewatch/w");
  CHECK(managers_text(config_map("shop")) == "nobody known");
}

TEST_CASE("what an earlier object of the same name has left is told from another owner's child") {
  const Owner owner = namespaced_owner();
  core::ObjectMeta left =
      meta_with({{"kubewatch.dev/controller", "website"}, {"kubewatch.dev/owner-uid", "uid-0"}});
  left.annotations = {{"kubewatch.dev/owner", "demo.kubewatch.dev/v1 Website shop/a"}};
  CHECK(is_of_earlier_life(left, "website", owner));
  CHECK(may_be_taken_over(left, owner));
  CHECK_FALSE(is_of_earlier_life(left, "blog", owner));
  core::ObjectMeta own = left;
  own.labels[1].second = "uid-1";
  CHECK_FALSE(is_of_earlier_life(own, "website", owner));
  core::ObjectMeta others = left;
  others.annotations[0].second = "demo.kubewatch.dev/v1 Website shop/b";
  CHECK_FALSE(is_of_earlier_life(others, "website", owner));
  // The garbage collector is about to delete it, or another object controls it.
  core::ObjectMeta referring = left;
  referring.owners = {{"demo.kubewatch.dev/v1", "Website", "a", "uid-0", true}};
  CHECK_FALSE(may_be_taken_over(referring, owner));
  core::ObjectMeta controlled = left;
  controlled.owners = {{"apps/v1", "Deployment", "d", "uid-9", true}};
  CHECK_FALSE(may_be_taken_over(controlled, owner));
  controlled.owners[0].controller = false;
  CHECK(may_be_taken_over(controlled, owner));
}
