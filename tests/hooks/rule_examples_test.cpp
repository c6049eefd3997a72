// The shipped examples are rules without problems.
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "hooks/rule_file.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

std::string examples() {
  // This file is tests/hooks/rule_examples_test.cpp of the source tree.
  return (std::filesystem::path(__FILE__).parent_path() / "../../examples")
      .lexically_normal()
      .string();
}

}  // namespace

TEST_CASE("every shipped example loads without a problem") {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples())) {
    // These hold no rules: crd-gen's tests read the first, the case in-cluster-example the second,
    // tests/examples runs the third.
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || name == "types" || name == "in-cluster") continue;
    if (name == "cpp-controller") continue;
    ++folders;
    for (const char* file : {"README.md", "tests.yaml"}) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(entry.path() / file));
    }
    const auto loaded = hooks::load_rules({entry.path().string()});
    for (const base::Remark& problem : loaded.problems) FAIL_CHECK(problem.str());
    CHECK(loaded.rules.size() == 1);
  }
  CHECK(folders >= 9);
}

TEST_CASE("every shipped example file says in its first lines what it shows") {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(examples())) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    const std::string folder = entry.path().parent_path().filename();
    if (folder == "crds" || folder == "generated") continue;
    INFO(entry.path().string());
    const auto text = base::read_file(entry.path().string(), 1U << 20U);
    REQUIRE(text.ok());
    CHECK((text->starts_with("# ") || text->starts_with("// ") ||
           text->starts_with("#!/bin/sh\n# ") || text->starts_with("#!/usr/bin/env python3\n# ")));
  }
}
