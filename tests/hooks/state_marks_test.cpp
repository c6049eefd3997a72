// What of a rule's surroundings counts as changed over a restart, and how people name kinds.
#include "hooks/state_marks.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "hooks/kind_words.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("the program, its file arguments, files of env and inherited values count") {
  const test::RuleFolder folder;
  folder.script("hook.sh");
  folder.write("table.txt", "one");
  folder.write("key", "secret");
  const std::string text =
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
      "  for: {apiVersion: v1, kind: ConfigMap}\n"
      "  reconcile: {exec: [./hook.sh, table.txt, --fast], inheritEnv: [KWTEST_VALUE],\n"
      "    env: {KEY: {from: {file: key}}}}\n"
      "  finalize: {shell: exit 0}\n";
  const auto loaded = parse_rules(text, folder.file("rules.yaml"));
  REQUIRE(loaded.problems.empty());
  const Rule& rule = loaded.rules.front();
  CHECK(hook_files_of(rule) == std::vector<std::string>{folder.file("hook.sh"),
                                                        folder.file("table.txt"),
                                                        folder.file("key")});
  const auto state = StateStore::open(folder.file("state"), {"boot", "", ""});
  REQUIRE(state.ok());
  HookFiles files;
  ::setenv("KWTEST_VALUE", "1", 1);
  std::string mark = files.mark(rule, **state);
  CHECK(files.mark(rule, **state) == mark);
  CHECK(HookFiles().mark(rule, **state) == mark);
  const auto changed = [&] {
    const std::string now = files.mark(rule, **state);
    return now != std::exchange(mark, now);
  };
  folder.write("table.txt", "another");
  CHECK(changed());
  folder.write("key", "other secret");
  CHECK(changed());
  folder.write("hook.sh", "#!/bin/sh\nexit 1\n");
  CHECK(changed());
  ::setenv("KWTEST_VALUE", "2", 1);
  CHECK(changed());
  ::unlink(folder.file("table.txt").c_str());
  CHECK(changed());
  CHECK_FALSE(changed());
}

TEST_CASE(
    "the script of an interpreter counts whatever follows it, and that of shell is in the rule") {
  const test::RuleFolder folder;
  folder.script("w.sh");
  const auto files_of = [&folder](const std::string& hook) {
    const auto loaded = parse_rules(
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
        "  for: {apiVersion: v1, kind: ConfigMap}\n  reconcile: {" +
            hook + "}\n",
        folder.file("rules.yaml"));
    REQUIRE(loaded.problems.empty());
    return hook_files_of(loaded.rules.front());
  };
  CHECK(files_of("exec: [/bin/sh, w.sh, -c, conf]") ==
        std::vector<std::string>{"/bin/sh", folder.file("w.sh")});
  CHECK(files_of("shell: exit 0").empty());
}

TEST_CASE("a kind is named as kubectl names it") {
  core::ResourceType type;
  type.gvk = {"demo.kubewatch.dev", "v1", "Website"};
  type.plural = "websites";
  type.singular = "website";
  type.short_names = {"web"};
  for (const char* word : {"Website", "website", "websites", "web", "websites.demo.kubewatch.dev",
                           "websites.v1.demo.kubewatch.dev", "WEBSITE"}) {
    INFO(word);
    CHECK(names_kind(word, type));
  }
  for (const char* word : {"", "site", "websites.other.dev", "websites.v2.demo.kubewatch.dev"}) {
    INFO(word);
    CHECK_FALSE(names_kind(word, type));
  }
}
