#include "base/files.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("documents are in files that end in .yaml, .yml or .json") {
  for (const char* name : {"a.yaml", "folder/b.yml", "c.d.json", ".hidden.yaml"}) {
    CHECK(base::holds_documents(name));
  }
  for (const char* name : {"a.YAML", "yaml", "folder.yaml/b", "a.yaml~", ".yaml", "a.yaml.", ""}) {
    CHECK_FALSE(base::holds_documents(name));
  }
}
