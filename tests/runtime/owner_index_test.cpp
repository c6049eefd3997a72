#include "runtime/owner_index.hpp"

#include "runtime/changes.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::change_of;
using test::meta_named;
using Keys = std::vector<core::ObjectKey>;

namespace {

const OwnerMatch kWebsites{{"demo.dev", "v1", "Website"}, true, OwnerKind::controller};

OwnerIndex websites() {
  OwnerIndex index;
  index.set("uid-a", {"shop", "a"});
  index.set("uid-b", {"shop", "b"});
  return index;
}

core::OwnerReference website(const std::string& name, const std::string& uid,
                             bool controller = true, const std::string& version = "demo.dev/v1") {
  return {version, "Website", name, uid, controller};
}

core::ObjectMeta child(std::vector<core::OwnerReference> owners) {
  core::ObjectMeta meta = meta_named("child");
  meta.owners = std::move(owners);
  return meta;
}

}  // namespace

TEST_CASE("a child concerns the owner that it names by uid, kind and name") {
  struct Row {
    core::OwnerReference reference;
    bool concerns;
  };
  const std::vector<Row> rows = {
      {website("a", "uid-a"), true},
      {website("a", "uid-a", true, "demo.dev/v1beta1"), true},  // another served version
      {website("a", "uid-a", false), false},                    // not its controller
      {website("a", "uid-old"), false},                         // recreated since
      {website("b", "uid-a"), false},                           // name and uid disagree
      {website("a", "uid-a", true, "other.dev/v1"), false},
      {website("a", "uid-a", true, "a/b/c"), false},
      {{"demo.dev/v1", "Site", "a", "uid-a", true}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.reference.api_version, row.reference.name, row.reference.uid);
    const Keys keys = owners_of(change_of(child({row.reference})), kWebsites, websites());
    CHECK(keys == (row.concerns ? Keys{{"shop", "a"}} : Keys{}));
  }
}

TEST_CASE("any owner counts when it is asked for, each once and in order") {
  OwnerMatch any = kWebsites;
  any.references = OwnerKind::any;
  const auto change = change_of(child(
      {website("b", "uid-b", false), website("a", "uid-a", true), website("a", "uid-a", false)}));
  CHECK(owners_of(change, any, websites()) == Keys{{"shop", "a"}, {"shop", "b"}});
}

TEST_CASE("a child that changes hands concerns the owner it had as well") {
  StoreChange change = change_of(child({website("b", "uid-b")}));
  change.previous_meta = child({website("a", "uid-a")});
  CHECK(owners_of(change, kWebsites, websites()) == Keys{{"shop", "a"}, {"shop", "b"}});
}

TEST_CASE("a deleted child concerns its owner, and who was recreated under its owner's name") {
  const auto gone = [](const std::string& uid) {
    return change_of(child({website("a", uid)}), ChangeType::deleted);
  };
  CHECK(owners_of(gone("uid-a"), kWebsites, websites()) == Keys{{"shop", "a"}});
  CHECK(owners_of(gone("uid-old"), kWebsites, websites()) == Keys{{"shop", "a"}});
}

TEST_CASE("a cluster-scoped owner is found from any namespace") {
  OwnerMatch match = kWebsites;
  match.namespaced = false;
  OwnerIndex index;
  index.set("uid-a", {"", "a"});
  CHECK(owners_of(change_of(child({website("a", "uid-a")})), match, index) == Keys{{"", "a"}});
}

TEST_CASE("an owner index forgets a uid only with its own key") {
  OwnerIndex index = websites();
  index.remove("uid-a", {"shop", "b"});
  REQUIRE(index.find("uid-a") != nullptr);
  index.remove("uid-a", {"shop", "a"});
  CHECK(index.find("uid-a") == nullptr);
  CHECK(index.size() == 1);
}
