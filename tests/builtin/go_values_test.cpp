#include "builtin/go_values.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

TEST_CASE("metadata of a template is shown as it goes over the wire, line by line") {
  const auto claim = [](const char* metadata) {
    return Json{{"metadata", Json::parse(metadata)}, {"spec", Json::object()}};
  };
  const Json before = claim("{}");
  const Json after = claim(R"({"labels":{},"ownerReferences":[{"apiVersion":"a/v1","kind":"K",
      "name":"n","uid":"u","blockOwnerDeletion":false}],
      "managedFields":[{"manager":"m","fieldsV1":{"f:a":{".":{}}}},{"fieldsV1":{}}]})");
  CHECK(go_difference("PersistentVolumeClaimTemplate", before, after)
            .starts_with("@@ -1,4 +1,26 @@\n"
                         " {\n"
                         "+ \"ownerReferences\": [\n"
                         "+  {\n"
                         "+   \"apiVersion\": \"a/v1\",\n"
                         "+   \"kind\": \"K\",\n"
                         "+   \"name\": \"n\",\n"
                         "+   \"uid\": \"u\",\n"
                         "+   \"blockOwnerDeletion\": false\n"
                         "+  }\n"
                         "+ ],\n"
                         "+ \"managedFields\": [\n"
                         "+  {\n"
                         "+   \"manager\": \"m\",\n"
                         "+   \"fieldsV1\": {\n"
                         "+    \"f:a\": {\n"
                         "+     \".\": {}\n"
                         "+    }\n"
                         "+   }\n"
                         "+  },\n"
                         "+  {\n"
                         "+   \"fieldsV1\": {}\n"
                         "+  }\n"
                         "+ ],\n"
                         "  \"Spec\": {\n"));
}

}  // namespace kubewatch::builtin
