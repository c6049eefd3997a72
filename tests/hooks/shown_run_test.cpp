// What a run says of itself is bounded, and holds no part of a secret, whatever its hook prints.
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
  explicit World(const std::string& script)
      : ScriptedEngine("  apply: {validate: none}\n  retry: {maxAttempts: 1}\n", "",
                       "{exec: [./hook.sh], env: {P: {from: {file: " + path + "}}}}") {
    folder.write("hook.sh", "#!/bin/sh\n" + script);
    base::capture_log(&log);
    transport.answer(200, list(test::object("demo.dev/v1", "Website", "4", "{}")));
    start();
    REQUIRE(until([&] { return !runs.empty(); }));
    base::capture_log(nullptr);
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

TEST_CASE("a secret at the end of a Result's message is masked before the message is cut") {
  const World world(
      "printf 'apiVersion: kubewatch.dev/v1\\nkind: Result\\nmessage: \"'\n"
      "head -c 1015 /dev/zero | tr '\\0' x\nprintf '%s\"\\n' \"$P\"\n");
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message == std::string(1015, 'x') + "***");
}
