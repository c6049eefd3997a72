#include "cli/apply/manifest_notes.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("what the server keeps is named, and dropped where asked") {
  Json manifest = R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "a", "uid": "1", "resourceVersion": "2", "generation": 3,
                 "creationTimestamp": null, "managedFields": [], "selfLink": "/x",
                 "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
    "data": {"a": "b"}, "status": {}})"_json;
  const auto named = server_fields_of(manifest, false);
  CHECK(named == std::vector<std::string>{
                     ".metadata.resourceVersion", ".metadata.uid", ".metadata.creationTimestamp",
                     ".metadata.generation", ".metadata.managedFields", ".metadata.selfLink",
                     ".metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]",
                     ".status"});
  CHECK(strip_server_fields(manifest, false) == named);
  CHECK(manifest == R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
                        "data": {"a": "b"}})"_json);
  CHECK(server_fields_of(manifest, false).empty());
}

TEST_CASE("an apply of the status keeps the status") {
  Json manifest = R"({"metadata": {"name": "a"}, "status": {"ready": true}})"_json;
  CHECK(strip_server_fields(manifest, true).empty());
  CHECK(manifest["status"]["ready"] == true);
}

TEST_CASE("a default of the server that becomes owned is told, what is new or was owned is not") {
  const Json before = R"({"metadata": {"managedFields": [
      {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:spec": {"f:shared": {}}}}]},
    "spec": {"shared": 1, "defaulted": "x", "changed": "old"}})"_json;
  Json after = R"({"metadata": {"managedFields": [
      {"manager": "kubewatch", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:spec": {"f:shared": {}, "f:defaulted": {}, "f:changed": {}, "f:new": {}}}},
      {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:spec": {"f:shared": {}}}}]},
    "spec": {"shared": 1, "defaulted": "x", "changed": "mine", "new": 1}})"_json;
  CHECK(taken_defaults(before, after, "kubewatch", 8) ==
        std::vector<std::string>{".spec.defaulted"});
  CHECK(taken_defaults(before, after, "other", 8).empty());
  CHECK(taken_defaults(before, after, "kubewatch", 0).empty());
  after["metadata"]["managedFields"] = "nonsense";
  CHECK(taken_defaults(before, after, "kubewatch", 8).empty());
}

}  // namespace kubewatch::cli
