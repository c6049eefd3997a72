// Rule files that change under a reader: written, replaced as editors do it, broken, deleted,
// turned into folders. Over the real inotify.
#include "hooks/rule_reload.hpp"

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/log.hpp"
#include "hooks/rule_folder.hpp"
#include "loop/skipping_time.hpp"
#include "support/catch.hpp"
#include "support/few_watches.hpp"
#include "support/limit.hpp"

using namespace kubewatch;

namespace {

namespace fs = std::filesystem;

// After it only what is seen to change has files read again: each reader looks once unasked.
constexpr Duration kFirstLook{600};

std::string rule_text(const std::string& name, const std::string& script = "exit 0") {
  return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: " + name +
         "}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  reconcile: {shell: " + script +
         "}\n";
}

struct Bench {
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  test::RuleFolder folder;
  std::vector<std::string> log;
  std::vector<std::vector<hooks::Rule>> reads;
  std::optional<hooks::RuleReloader> reloader;

  explicit Bench(const std::string& path) {
    base::capture_log(&log);
    folder.write("rules.yaml", rule_text("a"));
    follow(folder.file(path));
  }
  ~Bench() { base::capture_log(nullptr); }

  void follow(const std::string& path) {
    hooks::RuleReloader::Before before{hooks::rule_files_stamp({path}),
                                       hooks::names_of(hooks::load_rules({path}).rules)};
    reloader.emplace(
        loop, std::vector<std::string>{path},
        [this](std::vector<hooks::Rule> rules) { reads.push_back(std::move(rules)); },
        std::move(before));
    REQUIRE(reloader->start().ok());
  }
  // The names of the rules that were read next, "" when nothing was.
  std::string next(Duration patience = kLimit) {
    const std::size_t before = reads.size();
    const auto read = [&] { return reads.size() > before; };
    // A rule that is missing is looked for once more.
    for (int i = 0; i < 3 && !loop.run_until(read, kFirstLook) && patience > kFirstLook; ++i) {
      time.skip(Duration{2000});
    }
    loop.run_until(read, patience);
    if (reads.size() == before) return "";
    std::string names;
    for (const auto& rule : reads.back()) names += rule.name + " ";
    return names;
  }
  bool complains() {
    return loop.run_until(
        [&] {
          for (const auto& line : log) {
            if (line.find("go on with the rules they have") != std::string::npos) return true;
          }
          return false;
        },
        kLimit);
  }
};

}  // namespace

TEST_CASE("a rule file that is written or replaced by a rename is read again") {
  Bench bench("rules.yaml");
  bench.folder.write("rules.yaml", rule_text("bee"));
  CHECK(bench.next() == "bee ");
  for (int i = 0; i < 3; ++i) {
    const std::string name = "c" + std::to_string(i);
    bench.folder.write(".rules.yaml.swp", rule_text(name));
    fs::rename(bench.folder.file(".rules.yaml.swp"), bench.folder.file("rules.yaml"));
    CHECK(bench.next() == name + " ");
  }
}

TEST_CASE("a rule file that changes after it was read and before it is followed is read again") {
  Bench bench("rules.yaml");
  const std::vector<std::string> paths = {bench.folder.file("rules.yaml")};
  std::string stamp = hooks::rule_files_stamp(paths);
  bench.folder.write("rules.yaml", rule_text("b", "exit 17"));
  bench.reloader.emplace(
      bench.loop, paths,
      [&](std::vector<hooks::Rule> rules) { bench.reads.push_back(std::move(rules)); },
      hooks::RuleReloader::Before{std::move(stamp), {"a"}});
  REQUIRE(bench.reloader->start().ok());
  CHECK(bench.next() == "b ");
}

TEST_CASE("a rule that is missing while its folder is filled anew does not count as removed") {
  Bench bench(".");
  bench.folder.write("more.yaml", rule_text("b"));
  CHECK(bench.next() == "b a ");
  const bool comes_back = GENERATE(true, false);
  fs::remove(bench.folder.file("rules.yaml"));
  CHECK(bench.next(kFirstLook) == "");
  if (comes_back) bench.folder.write("rules.yaml", rule_text("a"));
  CHECK(bench.next() == (comes_back ? "b a " : "b "));
}

TEST_CASE("other files beside the rules are none of our business") {
  Bench bench("rules.yaml");
  bench.folder.write("notes.txt", "x");
  bench.folder.write("other.yaml", "y: 1");
  CHECK(bench.next(Duration{600}) == "");
}

TEST_CASE("what is not read of a folder of rules does not have it read again") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", rule_text("a"));
  const auto stamp = [&] { return hooks::rule_files_stamp({folder.path()}); };
  const std::string before = stamp();
  folder.write(".rules.yaml", "y: 1");
  fs::create_symlink("somebody@somewhere.1234", folder.file(".#rules.yaml"));
  fs::create_directory(folder.file("more.yaml"));
  CHECK(stamp() == before);
  folder.write("more.yml", "y: 1");
  CHECK(stamp() != before);
}

TEST_CASE("a broken or deleted rule file keeps the rules, says so, and comes back") {
  Bench bench("rules.yaml");
  bench.folder.write("rules.yaml", "apiVersion: kubewatch.dev/v1\nkind: Nonsense\n");
  CHECK(bench.complains());
  bench.log.clear();
  fs::remove(bench.folder.file("rules.yaml"));
  CHECK(bench.complains());
  CHECK(bench.reads.empty());
  bench.folder.write("rules.yaml", rule_text("a"));
  CHECK(bench.next() == "a ");
}

TEST_CASE("rules that are refused for their hook are read again when that is mended") {
  // Of a folder around the rules nobody tells that the hook has come.
  const std::string hook = GENERATE("hook.sh", "scripts/hook.sh");
  INFO(hook);
  Bench bench("rules.yaml");
  std::string text = rule_text("bee");
  const std::string shell = "{shell: exit 0}";
  text.replace(text.find(shell), shell.size(), "{exec: [./" + hook + "]}");
  bench.folder.write("rules.yaml", text);
  REQUIRE(bench.complains());
  bench.log.clear();
  for (int i = 0; i < 3; ++i) {
    bench.time.skip(Duration{5000});
    CHECK(bench.next(Duration{20}) == "");
  }
  CHECK(bench.log.empty());  // it was told
  fs::create_directory(bench.folder.file("scripts"));
  bench.folder.write(hook, "#!/bin/sh\n");
  bench.time.skip(Duration{5000});
  CHECK(bench.complains());  // another problem
  CHECK(bench.reads.empty());
  fs::permissions(bench.folder.file(hook), fs::perms(0755));
  if (hook != "hook.sh") bench.time.skip(Duration{5000});
  CHECK(bench.next() == "bee ");
  // Nobody looks any more.
  bench.time.skip(Duration{60000});
  CHECK(bench.next(kFirstLook) == "");
  CHECK(bench.reads.size() == 1);
}

TEST_CASE("a wrong rule file that is changed and as wrong is told again") {
  Bench bench("rules.yaml");
  bench.folder.write("rules.yaml", "kind: Nonsense\n");
  REQUIRE(bench.complains());
  bench.log.clear();
  bench.folder.write("rules.yaml", "kind: Nonsense\n# mended\n");
  CHECK(bench.complains());
}

TEST_CASE("a rule file that becomes a folder is read as one") {
  Bench bench("rules.yaml");
  fs::rename(bench.folder.file("rules.yaml"), bench.folder.file("old"));
  fs::create_directory(bench.folder.file("rules.yaml"));
  bench.folder.write("rules.yaml/1.yaml", rule_text("one"));
  bench.folder.write("rules.yaml/2.yaml", rule_text("two"));
  std::string names;
  for (int i = 0; i < 5 && names != "one two "; ++i) names = bench.next();
  CHECK(names == "one two ");
  // And what changes inside of it is seen from then on.
  fs::remove(bench.folder.file("rules.yaml/1.yaml"));
  CHECK(bench.next() == "two ");
}

TEST_CASE("a folder of rules follows its files as they come, go and change") {
  Bench bench("");
  bench.folder.write("more.yaml", rule_text("b"));
  CHECK(bench.next() == "b a ");
  bench.folder.write("more.yaml", rule_text("c"));
  CHECK(bench.next() == "c a ");
  fs::remove(bench.folder.file("more.yaml"));
  CHECK(bench.next() == "a ");
}

TEST_CASE("a rule file behind a link that moves, as volumes of ConfigMaps do it, is read again") {
  Bench bench("rules.yaml");
  fs::create_directory(bench.folder.file("v1"));
  fs::create_directory(bench.folder.file("v2"));
  bench.folder.write("v1/r.yaml", rule_text("one"));
  bench.folder.write("v2/r.yaml", rule_text("two"));
  fs::create_directory_symlink("v1", bench.folder.file("data"));
  fs::create_symlink("data/r.yaml", bench.folder.file("r.yaml"));
  bench.follow(bench.folder.file("r.yaml"));
  fs::create_directory_symlink("v2", bench.folder.file("data-new"));
  fs::rename(bench.folder.file("data-new"), bench.folder.file("data"));
  CHECK(bench.next() == "two ");
}

TEST_CASE("rule files of a folder that are links are read again when they change elsewhere") {
  Bench bench("rules.yaml");
  fs::create_directory(bench.folder.file("rules"));
  fs::create_directory(bench.folder.file("far"));
  bench.folder.write("far/r.yaml", rule_text("one"));
  bench.follow(bench.folder.file("rules"));
  fs::create_symlink("../far/r.yaml", bench.folder.file("rules/r.yaml"));
  CHECK(bench.next() == "one ");
  bench.folder.write("far/r.yaml", rule_text("two"));
  CHECK(bench.next() == "two ");
  // Not yet there when the folder was looked at.
  fs::create_symlink("../further/s.yaml", bench.folder.file("rules/s.yaml"));
  CHECK(bench.complains());
  fs::create_directory(bench.folder.file("further"));
  bench.folder.write("further/s.yaml", rule_text("three"));
  CHECK(bench.next() == "two three ");
}

TEST_CASE(
    "a link in the middle of the way to a rule file is followed when it is pointed elsewhere") {
  Bench bench("rules.yaml");
  const auto point = [&bench](const std::string& link, const std::string& target) {
    fs::create_symlink(target, bench.folder.file("new-link"));
    fs::rename(bench.folder.file("new-link"), bench.folder.file(link));
  };
  for (const char* name : {"rules", "app", "app/releases", "app/releases/1", "app/releases/2",
                           "app/releases/1/more", "app/releases/2/more", "app/links"}) {
    fs::create_directory(bench.folder.file(name));
  }
  bench.folder.write("app/releases/1/more/site.yaml", rule_text("one"));
  bench.folder.write("app/releases/2/more/site.yaml", rule_text("two"));
  point("app/current", "releases/1");
  point("app/links/site.yaml", bench.folder.file("app/current/more/site.yaml"));
  point("rules/site.yaml", "../app/links/site.yaml");
  for (const char* path : {"rules", "rules/site.yaml", "app/current/more"}) {
    INFO(path);
    point("app/current", "releases/1");
    bench.follow(bench.folder.file(path));
    REQUIRE(bench.next(kFirstLook) == "");
    point("app/current", "releases/2");
    CHECK(bench.next() == "two ");
  }
  bench.follow(bench.folder.file("rules"));
  REQUIRE(bench.next(kFirstLook) == "");
  point("app/links/site.yaml", "../releases/1/more/site.yaml");
  CHECK(bench.next() == "one ");
}

TEST_CASE("where no inotify watch is left the start says so, and later it is said once") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", rule_text("a"));
  const auto said = test::with_few_watches(0, [&]() -> std::string {
    std::vector<std::string> log;
    base::capture_log(&log);
    loop::EventLoop loop;
    hooks::RuleReloader reloader(loop, {folder.path()}, [](std::vector<hooks::Rule>) {}, {});
    const auto started = reloader.start();
    if (started.ok()) return "started";
    // Follows again, as after each change.
    const auto look = [&] {
      bool over = false;
      const auto timer = loop.after(kFirstLook, [&] { over = true; });
      loop.run_until([&] { return over; }, kLimit);
    };
    look();
    if (!log.empty()) return "told again: " + log.front();
    return started.error().message().substr(0, 13);
  });
  if (!said) {
    WARN("no user namespaces here");
    return;
  }
  CHECK(*said == "cannot watch ");
}

TEST_CASE("a folder that cannot be followed any more is told once") {
  const test::RuleFolder folder;
  const std::string rules = folder.file("rules");
  fs::create_directory(rules);
  const auto said = test::with_few_watches(10, [&]() -> std::string {
    std::vector<std::string> log;
    base::capture_log(&log);
    loop::EventLoop loop;
    int reads = 0;
    hooks::RuleReloader reloader(
        loop, {rules}, [&](std::vector<hooks::Rule>) { ++reads; },
        {hooks::rule_files_stamp({rules}), {}},
        [](const std::vector<std::string>&) { return hooks::LoadedRules{}; });
    if (const auto started = reloader.start(); !started.ok()) return started.error().render();
    if (!test::allow_watches(0)) return "the limit stays";
    // Each of them is another folder, of which the one around it tells.
    for (int i = 1; i <= 2; ++i) {
      fs::rename(rules, folder.file("old" + std::to_string(i)));
      fs::create_directory(rules);
      std::ofstream(rules + "/" + std::to_string(i) + ".yaml") << "x";
      if (!loop.run_until([&] { return reads == i; }, kLimit)) return "not read";
    }
    return std::to_string(log.size()) + " " + (log.empty() ? "" : log.front());
  });
  if (!said) {
    WARN("no user namespaces here");
    return;
  }
  CHECK(said->substr(0, 2) == "1 ");
  CHECK(said->find("only read again on SIGHUP") != std::string::npos);
  CHECK(said->find("cannot watch " + rules + ":") != std::string::npos);
}

TEST_CASE("links that lead round in circles are looked at once") {
  Bench bench("rules.yaml");
  fs::create_directory(bench.folder.file("rules"));
  fs::create_symlink("b.yaml", bench.folder.file("rules/a.yaml"));
  fs::create_symlink("a.yaml", bench.folder.file("rules/b.yaml"));
  bench.follow(bench.folder.file("rules"));
  CHECK(bench.reads.empty());
  bench.folder.write("c.yaml", rule_text("one"));
  for (const char* name : {"rules/a.yaml", "rules/b.yaml"}) fs::remove(bench.folder.file(name));
  fs::rename(bench.folder.file("c.yaml"), bench.folder.file("rules/c.yaml"));
  CHECK(bench.next() == "one ");
}

TEST_CASE("the last rule of a folder is removed when a person asks, and may come back") {
  Bench bench("");
  for (int round = 0; round < 2; ++round) {
    INFO(round);
    const std::size_t reads = bench.reads.size();
    // Perhaps it is about to be mounted.
    fs::remove(bench.folder.file("rules.yaml"));
    CHECK(bench.complains());
    bench.time.skip(Duration{5000});
    CHECK(bench.next(kFirstLook) == "");
    bench.log.clear();
    bench.reloader->read_again();
    REQUIRE(bench.reads.size() == reads + 1);
    CHECK(bench.reads.back().empty());
    REQUIRE(bench.log.size() == 1);
    CHECK(bench.log[0].find("no rule is left") != std::string::npos);
    // What is no rule changes nothing, and is nothing wrong.
    bench.folder.write("other.yaml", "apiVersion: v1\nkind: ConfigMap\n# " +
                                         std::string(1 + std::size_t(round), 'x') + "\n");
    CHECK(bench.next() == "");
    CHECK(bench.reads.size() == reads + 2);
    CHECK(bench.log.size() == 1);
    bench.folder.write("rules.yaml", rule_text("a"));
    CHECK(bench.next() == "a ");
    bench.log.clear();
  }
}

TEST_CASE("a folder of rules that is gone, or a file, is missing and not empty, whoever asks") {
  Bench bench("rules.yaml");
  fs::create_directory(bench.folder.file("rules"));
  bench.folder.write("rules/r.yaml", rule_text("a"));
  for (const char* path : {"rules", "rules.yaml"}) {
    bench.follow(bench.folder.file(path));
    fs::remove_all(bench.folder.file(path));
    bench.log.clear();
    bench.reloader->read_again();
    CHECK(bench.reads.empty());
    CHECK(bench.complains());
  }
}

TEST_CASE("asked to, the rules are read again though nothing changed") {
  Bench bench("rules.yaml");
  bench.reloader->read_again();
  REQUIRE(bench.reads.size() == 1);
  const auto first = bench.reads[0][0].fingerprint;
  CHECK(first != 0);
  bench.reloader->read_again();
  CHECK(bench.reads[1][0].fingerprint == first);
  bench.folder.write("rules.yaml", rule_text("a", "exit 1"));
  bench.reloader->read_again();
  CHECK(bench.reads[2][0].fingerprint != first);
}
