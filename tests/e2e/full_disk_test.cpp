// Files that cannot grow any more (a limit of the process stands in for a full disk), and folders
// that are gone: the controller goes on and names what it cannot keep.
#include <filesystem>

#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

E2E_CASE("with no room for --state or a hook's files the others run, and the file is named") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", std::string(R"x(
[ "$TITLE" = big ] && head -c 1000000 /dev/zero > "$KW_WORKDIR/big"
)x") + kPrintConfigMap);
  // Blocks of 512 bytes: hooks inherit it, and a few dozen lines of the state are more.
  Program kubewatch(
      w.loop(),
      kubewatch_command(w,
                        {"run-controller", "-f", w.folder() + "/rules.yaml", "--socket", "none",
                         "--state", w.folder() + "/state"},
                        w.kubeconfig(), {"/bin/sh", "-c", "ulimit -f 8; exec \"$@\"", "sh"}));
  w.apply(website("large", "big"));
  constexpr int kCount = 60;
  for (int i = 0; i < kCount; ++i) w.apply(website("s" + std::to_string(i), "one"));
  CHECK(w.eventually([&] { return w.list("ConfigMap").size() >= kCount; }, Duration{60000}));
  CHECK(w.eventually([&] {
    return kubewatch.says("the state over restarts is not kept any more") &&
           kubewatch.says(w.folder() + "/state/handled.log: File too large");
  }));
  INFO(kubewatch.err);
  CHECK_FALSE(w.get("ConfigMap", "large-page"));
  CHECK(kubewatch.says("Website " + w.ns() + "/large"));
  CHECK(kubewatch.running());
  w.apply(website("large", "small"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "large-page").has_value(); }));
  CHECK(kubewatch.end() == 0);
  // What could not be written down is not believed by the next start either.
  CHECK(w.read("state/handled.log").empty());
}

E2E_CASE("the private folder of a controller that somebody cleans away is made again") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh",
           std::string("[ -d \"$HOME\" ]\necho x > \"$KW_WORKDIR/kept\"\n") + kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  std::filesystem::remove_all(w.folder() + "/work");
  w.apply(website("b", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "b-page").has_value(); }));
  w.settle();

  // In its place something that is no folder: it says which, and goes on when that is gone.
  std::filesystem::remove_all(w.folder() + "/work");
  w.file("work", "");
  w.apply(website("c", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("c", "failed") > 0; }));
  CHECK(w.runs().back().message.find("cannot make the private folder " + w.folder() + "/work") !=
        std::string::npos);
  std::filesystem::remove(w.folder() + "/work");
  CHECK(w.eventually([&] { return w.get("ConfigMap", "c-page").has_value(); }));
}

}  // namespace kubewatch::e2e
