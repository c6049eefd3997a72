#include "cli/apply/apply_set.hpp"

#include "support/catch.hpp"

namespace kubewatch::cli {
namespace {

const core::Gvk kSecret{"", "v1", "Secret"};
const core::ObjectKey kKey{"default", "site"};

core::ResourceType type(const std::string& group, const std::string& kind, bool namespaced) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.namespaced = namespaced;
  return out;
}

}  // namespace

TEST_CASE("the id of an ApplySet is the KEP's: name, namespace, kind and group hashed") {
  // As other tools compute it for the same parent.
  CHECK(apply_set_id(kSecret, kKey) == "applyset-UTq3F1gZka44BOmUMqRgjPhDwgTFwYRt5mnDagVXCb8-v1");
  CHECK(apply_set_id({"", "v1", "ConfigMap"}, kKey) != apply_set_id(kSecret, kKey));
}

TEST_CASE("a parent is named as [TYPE[.GROUP]/]NAME") {
  CHECK(parse_parent("site")->type == "secrets");
  CHECK(parse_parent("configmaps/site")->type == "configmaps");
  CHECK(parse_parent("sites.example.com/a")->name == "a");
  for (const char* text : {"", "a/", "/a", "a/b/c"}) CHECK_FALSE(parse_parent(text).ok());
}

TEST_CASE("a parent that was written is read back the same") {
  SetContents contents;
  contents.add(type("apps", "Deployment", true), {"default", "a"}, "default");
  contents.add(type("", "ConfigMap", true), {"blog", "a"}, "default");
  contents.add(type("", "Namespace", false), {"", "blog"}, "default");
  CHECK(contents.group_kinds == std::set<std::string>{"ConfigMap", "Deployment.apps", "Namespace"});
  CHECK(contents.namespaces == std::set<std::string>{"blog"});
  const std::string id = apply_set_id(kSecret, kKey);
  const Json parent = parent_manifest(kSecret, kKey, id, contents, "0.1.0");
  CHECK(parent["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] ==
        "ConfigMap,Deployment.apps,Namespace");
  CHECK(parent["metadata"]["annotations"]["applyset.kubernetes.io/tooling"] == "kubewatch/v0.1.0");
  const auto read = read_parent(parent, id);
  REQUIRE(read.ok());
  CHECK(*read == contents);
}

TEST_CASE("an object that is no ApplySet, another tool's or another set's is refused as parent") {
  const std::string id = apply_set_id(kSecret, kKey);
  const Json good = parent_manifest(kSecret, kKey, id, {}, "0.1.0");
  Json bare = good;
  bare["metadata"].erase("annotations");
  CHECK(read_parent(bare, id).error().render().find("is no ApplySet") != std::string::npos);
  Json other = good;
  other["metadata"]["annotations"]["applyset.kubernetes.io/tooling"] = "kubectl/v1.31";
  CHECK(read_parent(other, id).error().render().find("kubectl/v1.31 instead of kubewatch") !=
        std::string::npos);
  Json relabelled = good;
  relabelled["metadata"]["labels"][kParentIdLabel] = "applyset-x-v1";
  CHECK_FALSE(read_parent(relabelled, id).ok());
}

TEST_CASE("a member gets the set's label, and one of another set is refused") {
  Json manifest = R"({"kind": "ConfigMap", "metadata": {"name": "a"}})"_json;
  REQUIRE(join_set(manifest, "one").ok());
  CHECK(manifest["metadata"]["labels"][kPartOfLabel] == "one");
  CHECK(join_set(manifest, "one").ok());
  CHECK_FALSE(join_set(manifest, "two").ok());
  Json odd = R"({"kind": "ConfigMap", "metadata": {"name": "a", "labels": ["x"]}})"_json;
  CHECK_FALSE(join_set(odd, "one").ok());
}

TEST_CASE("what a set held and what it is to hold are looked through together") {
  SetContents before{{"ConfigMap"}, {"a"}};
  SetContents now{{"Secret"}, {"b"}};
  CHECK(before.with(now) == SetContents{{"ConfigMap", "Secret"}, {"a", "b"}});
}

}  // namespace kubewatch::cli
