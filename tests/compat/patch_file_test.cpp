// Operations that a hook writes into KUBERNETES_PATCH_PATH.
#include "compat/patch_file.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

Result<std::vector<Operation>> read(const std::string& text) {
  std::set<std::string> unknown;
  auto parsed = parse_patch_file(text, unknown);
  CHECK(unknown.empty());
  return parsed;
}

std::string problem_of(const std::string& text) {
  const auto parsed = read(text);
  REQUIRE_FALSE(parsed.ok());
  return parsed.error().render();
}

}  // namespace

TEST_CASE("JSON lines, JSON in a row and YAML documents are all operations") {
  const std::string one = R"({"operation":"Delete","kind":"Pod","namespace":"a","name":"b"})";
  for (const std::string& text : {one + "\n" + one, one + one, "---\n" + one + "\n---\n" + one}) {
    const auto parsed = read(text);
    INFO(text);
    REQUIRE(parsed.ok());
    REQUIRE(parsed->size() == 2);
    CHECK(parsed->at(1).str() == "Delete Pod a/b");
  }
  CHECK(read("")->empty());
  CHECK(read(" \n")->empty());
}

TEST_CASE("operations above the limit are refused while they are read") {
  const std::string one = R"({"operation":"Delete","kind":"Pod","name":"b"})"
                          "\n";
  for (const std::string between : {"", "---\n", "---\n---\n"}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += one + between;
    const auto most = read(text);
    REQUIRE(most.ok());
    CHECK(most->size() == 10'000);
    CHECK(problem_of(text + one + "{").find("more than 10000 operations") != std::string::npos);
  }
}

TEST_CASE("all nine operations are read") {
  const auto parsed = read(R"(
operation: Create
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "n"}}
---
operation: CreateOrUpdate
object: |
  {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","uid":"u"}}
---
{operation: CreateIfNotExists, object: {apiVersion: v1, kind: Namespace, metadata: {name: a}}}
---
{operation: Delete, kind: Pod, namespace: "n", name: a}
---
{operation: DeleteInBackground, kind: Pod, namespace: "n", name: a}
---
{operation: DeleteNonCascading, apiVersion: apps/v1, kind: Deployment, namespace: "n", name: a}
---
{operation: JQPatch, kind: Pod, namespace: "n", name: a, jqFilter: '.x = 1', subresource: status}
---
operation: MergePatch
kind: Pod
name: a
ignoreMissingObject: true
mergePatch: |
  metadata:
    labels: {a: b}
---
{operation: JSONPatch, kind: Pod, name: a, jsonPatch: '[{"op":"remove","path":"/x"}]'}
)");
  INFO((parsed.ok() ? "" : parsed.error().render()));
  REQUIRE(parsed.ok());
  REQUIRE(parsed->size() == 9);
  CHECK(parsed->at(0).str() == "Create ConfigMap n/a");
  CHECK(parsed->at(1).object["metadata"].size() == 1);  // what a server sets is forgotten
  CHECK(parsed->at(6).filter.has_value());
  CHECK(parsed->at(6).subresource == "status");
  CHECK(parsed->at(7).patch["metadata"]["labels"]["a"] == "b");
  CHECK(parsed->at(7).ignore_missing);
  CHECK(parsed->at(8).patch.is_array());
}

TEST_CASE("a wrong operation is refused with its document and field") {
  CHECK(problem_of("operation: Patch\n").find("document 1") != std::string::npos);
  CHECK(problem_of("operation: Patch\n").find("JQPatch") != std::string::npos);
  const std::string fine = "{operation: Delete, kind: Pod, name: a}\n---\n";
  CHECK(problem_of(fine + "{operation: Delete, kind: Pod}").find("document 2") !=
        std::string::npos);
  CHECK(problem_of("{operation: Delete, kind: Pod}").find("name is missing") != std::string::npos);
  CHECK(problem_of("{operation: Create, object: {kind: Pod}}").find("apiVersion") !=
        std::string::npos);
  CHECK(problem_of("{operation: MergePatch, kind: Pod, name: a}").find("mergePatch is missing") !=
        std::string::npos);
  CHECK(problem_of("{operation: JSONPatch, kind: Pod, name: a, jsonPatch: {}}").find("list") !=
        std::string::npos);
  CHECK(problem_of("{operation: JQPatch, kind: Pod, name: a, jqFilter: '.['}").find("jqFilter") !=
        std::string::npos);
  CHECK(problem_of("{operation: Delete, kind: Pod, name: a, subresource: status}")
            .find("subresource") != std::string::npos);
  CHECK_FALSE(read("{operation: Delete, kind: Pod, name").ok());
  CHECK_FALSE(read("just text").ok());
  CHECK_FALSE(read(std::string(17U << 20U, ' ')).ok());
}

TEST_CASE("fields that mean nothing to an operation are passed over and unknown ones are named") {
  const auto redundant = read(R"(
operation: CreateOrUpdate
apiVersion: v1
kind: ConfigMap
namespace: other
name: b
jsonPatch: []
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "n"}}
---
{operation: Delete, kind: Pod, name: a, object: {}, mergePatch: {}, jqFilter: .}
)");
  INFO((redundant.ok() ? "" : redundant.error().render()));
  REQUIRE(redundant.ok());
  CHECK(redundant->at(0).str() == "CreateOrUpdate ConfigMap n/a");
  CHECK(redundant->at(1).str() == "Delete Pod a");
  std::set<std::string> unknown;
  const auto more = parse_patch_file(
      "{operation: Delete, kind: Pod, name: a, namespce: shop}\n---\n"
      "{operation: Delete, kind: Pod, name: b, namespce: shop, comment: x}\n",
      unknown);
  REQUIRE(more.ok());
  CHECK(more->size() == 2);
  CHECK(unknown == std::set<std::string>{"comment: unknown field",
                                         "namespce: unknown field, did you mean namespace?"});
}

TEST_CASE("of a hook that failed only status that it insists on is written") {
  auto parsed = read(R"(
{operation: MergePatch, kind: P, name: a, mergePatch: {}, subresource: status, ignoreHookError: true}
---
{operation: MergePatch, kind: P, name: b, mergePatch: {}, subresource: status}
---
{operation: MergePatch, kind: P, name: c, mergePatch: {}, ignoreHookError: true}
)");
  REQUIRE(parsed.ok());
  const auto left = despite_failure(*std::move(parsed));
  REQUIRE(left.size() == 1);
  CHECK(left[0].name == "a");
}

TEST_CASE("a subresource may be written as a path") {
  auto parsed = read(R"(
{operation: MergePatch, kind: P, name: a, mergePatch: {}, subresource: /status, ignoreHookError: true}
)");
  REQUIRE(parsed.ok());
  REQUIRE(parsed->size() == 1);
  CHECK(parsed->at(0).subresource == "status");
  const auto left = despite_failure(*std::move(parsed));
  CHECK(left.size() == 1);
  CHECK(problem_of("{operation: Delete, kind: Pod, name: a, subresource: /status}")
            .find("subresource") != std::string::npos);
}
