// What a run says of itself is bounded, and holds no part of a secret, whatever its hook prints.
#include <algorithm>

#include "base/log.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;

namespace {

// A rule names it, so it is there first.
struct KeyFile {
  test::RuleFolder keys;
  std::string path = keys.write("key.txt", "hunter22-and-more\n");
};

struct World : KeyFile, test::ScriptedEngine {
  // `other`: what takes the place of the key's file once the rule is read.
  explicit World(const std::string& script, const std::string& more = "",
                 const std::string& other = "")
      : ScriptedEngine("  apply: {validate: none}\n  retry: {maxAttempts: 1}\n", "",
                       "{exec: [./hook.sh], env: {P: {from: {file: " + path + "}}}" + more + "}") {
    folder.write("hook.sh", "#!/bin/sh\n" + script);
    if (!other.empty()) {
      std::filesystem::remove(path);
      std::filesystem::create_symlink(other, path);
    }
    base::capture_log(&log);
    transport.answer(200, list(test::object("demo.dev/v1", "Website", "4", "{}")));
    start();
    REQUIRE(until([&] { return !runs.empty(); }));
    base::capture_log(nullptr);
  }

  bool logged(const std::string& words) const {
    return std::any_of(log.begin(), log.end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }

  std::vector<std::string> log;
  struct Capture {
    ~Capture() { base::capture_log(nullptr); }
  } capture;  // goes first, also where the constructor throws
};

}  // namespace

TEST_CASE("a failure that quotes megabytes of output is cut") {
  const World world(
      "printf 'apiVersion: v1\\nkind: '\nhead -c 2000000 /dev/zero | tr '\\0' b\n"
      "printf '\\nmetadata: {name: x}\\n'\n");
  const std::string& message = world.runs[0].message;
  CHECK(world.runs[0].outcome == "invalid-output");
  CHECK(message.size() < 4300);
  CHECK(message.find("the server has no kind v1 bbb") != std::string::npos);
  CHECK(message.find("(cut: it has ") != std::string::npos);
  for (const std::string& line : world.log) CHECK(line.size() < 20'000);
}

TEST_CASE("a file of env that became no regular file fails the run, for reading it may never end") {
  const World world("true\n", "", "/dev/zero");
  CHECK(world.runs[0].outcome == "failed");
  CHECK(world.runs[0].message.find(world.path + ": it is no regular file") != std::string::npos);
}

TEST_CASE("a secret at the end of a Result's message is masked before the message is cut") {
  const World world(
      "printf 'apiVersion: kubewatch.dev/v1\\nkind: Result\\nmessage: \"'\n"
      "head -c 1015 /dev/zero | tr '\\0' x\nprintf '%s\"\\n' \"$P\"\n");
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message == std::string(1015, 'x') + "***");
}

TEST_CASE("a hook that is killed in a line shows no beginning of a secret") {
  const World world("printf 'on stderr %.12s' \"$P\" >&2\nkill -9 $$\n");
  INFO(world.runs[0].message);
  CHECK(world.runs[0].message.ends_with("(last line of stderr: on stderr ***)"));
  CHECK(world.runs[0].stderr_tail == "on stderr ***\n");
  CHECK(world.logged("on stderr ***"));
  CHECK_FALSE(world.logged("hunter"));
  // One that ends by itself has said what it would.
  const World ended("printf 'on stderr %.12s' \"$P\" >&2\nexit 1\n");
  CHECK(ended.runs[0].stderr_tail == "on stderr hunter22-and\n");
}

TEST_CASE("nor does its stdout where that is a log") {
  const World world("printf 'on stdout %.12s' \"$P\"\nkill -9 $$\n", ", output: log");
  CHECK(world.logged("on stdout ***"));
  CHECK_FALSE(world.logged("hunter"));
}

TEST_CASE("where stdout is a log, what is left out of it is counted") {
  const World world("seq 1 10000\n", ", output: log");
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.logged(" 500 "));
  CHECK_FALSE(world.logged(" 10000 "));
  CHECK(world.logged(" lines of stdout were left out: too many"));
  const World all("seq 1 500\n", ", output: log");
  CHECK_FALSE(all.logged("left out"));
}
