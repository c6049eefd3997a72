#include "hooks/patch_memory.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

const ChildId kShared{"", "ConfigMap", {"shop", "shared"}};
const ChildId kOther{"", "ConfigMap", {"shop", "other"}};

}  // namespace

TEST_CASE("a state that a patch has left is its owner's, also behind a later one") {
  PatchMemory memory;
  memory.begin("u1", kShared);
  CHECK(memory.patching(kShared) == std::vector<std::string>{"u1"});
  CHECK(memory.patching(kOther).empty());
  CHECK(memory.left_by(kShared, "11") == nullptr);
  memory.end("u1", kShared, "11");
  CHECK(memory.patching(kShared).empty());
  memory.begin("u2", kShared);
  memory.end("u2", kShared, "12");
  memory.begin("u2", kShared);
  memory.end("u2", kShared, "");  // it changed nothing
  REQUIRE(memory.left_by(kShared, "11") != nullptr);
  CHECK(*memory.left_by(kShared, "11") == "u1");
  REQUIRE(memory.left_by(kShared, "12") != nullptr);
  CHECK(*memory.left_by(kShared, "12") == "u2");
  CHECK(memory.left_by(kShared, "13") == nullptr);
  CHECK(memory.left_by(kOther, "12") == nullptr);
  memory.forget_versions();
  CHECK(memory.left_by(kShared, "12") == nullptr);
}

TEST_CASE("several runs may patch the same object at the same time") {
  PatchMemory memory;
  memory.begin("u1", kShared);
  memory.begin("u2", kShared);
  CHECK(memory.patching(kShared) == std::vector<std::string>{"u1", "u2"});
  memory.end("u1", kShared, "11");
  CHECK(memory.patching(kShared) == std::vector<std::string>{"u2"});
}

TEST_CASE("the latest patches are remembered, and no more") {
  PatchMemory memory(2);
  for (const char* version : {"1", "2", "3"}) {
    memory.begin("u1", kShared);
    memory.end("u1", kShared, version);
  }
  CHECK(memory.left_by(kShared, "1") == nullptr);
  CHECK(memory.left_by(kShared, "2") != nullptr);
  CHECK(memory.left_by(kShared, "3") != nullptr);
}

TEST_CASE("a state may be noted of what had no name before, beside a patch that is open") {
  PatchMemory memory;
  memory.begin("u1", kShared);
  memory.left("u1", kShared, "11");
  memory.left("u1", kOther, "");
  CHECK(memory.patching(kShared) == std::vector<std::string>{"u1"});
  REQUIRE(memory.left_by(kShared, "11") != nullptr);
  CHECK(memory.left_by(kOther, "") == nullptr);
}

}  // namespace kubewatch::hooks
