// What a hook says on stderr is masked in the log, in messages and in the list of runs, also where
// it was cut.
#include "hooks/hook_log.hpp"

#include "hooks/scripted_engine.hpp"
#include "loop/lines.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {
namespace {

// As a splitter gives it.
std::string cut_line(const std::string& text, std::size_t most) {
  std::string out;
  const auto take = [&](std::string_view line, std::string_view) {
    out = line;
    return true;
  };
  loop::LineSplitter lines(most);
  lines.feed(text + "\n", take);
  return out;
}

SecretMask knowing(const std::string& value) {
  SecretMask out;
  out.add_value(value);
  return out;
}

}  // namespace

TEST_CASE("a line that was cut shows no beginning of a secret") {
  const std::string line = cut_line("it is hunter22-and-more", 14);
  CHECK(line == "it is hunter22 [cut: the line is longer than 14 bytes]");
  std::vector<std::string> logged;
  HookLog log({}, knowing("hunter22-and-more"), false);
  base::capture_log(&logged);
  log.line(line, TimePoint{});
  base::capture_log(nullptr);
  REQUIRE(logged.size() == 1);
  CHECK(logged[0].find("it is *** [cut: the line is longer than 14 bytes]") != std::string::npos);
  CHECK(logged[0].find("hunter") == std::string::npos);
  CHECK(log.last_line() == "it is *** [cut: the line is longer than 14 bytes]");
}

TEST_CASE("what only looks like the words of a cut is masked") {
  HookLog log({}, knowing("hunter22"), false);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  log.line("x [cut: the line is longer than hunter22 bytes]", TimePoint{});
  base::capture_log(nullptr);
  CHECK(log.last_line() == "x [cut: the line is longer than *** bytes]");
  REQUIRE(logged.size() == 1);
  CHECK(logged[0].find("hunter22") == std::string::npos);
}

TEST_CASE("a secret where a message or the tail ends is masked before they are cut") {
  HookLog log({}, SecretMask(), false);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  log.line(std::string(4090, 'x') + "hunter22-and-more", TimePoint{});
  log.release(knowing("hunter22-and-more"), TimePoint{});
  CHECK(log.tail() == std::string(4090, 'x') + "***\n");
  log.line(std::string(295, 'x') + "hunter22-and-more", TimePoint{});
  log.release(knowing("hunter22-and-more"), TimePoint{});
  base::capture_log(nullptr);
  CHECK(log.last_line() == std::string(295, 'x') + "***");
}

TEST_CASE("lines beyond the limit are in the tail, masked") {
  HookLog log({}, knowing("hunter22"), false);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  for (int i = 0; i < 600; ++i) log.line("it is hunter22 " + std::to_string(i), TimePoint{});
  base::capture_log(nullptr);
  CHECK(logged.size() == 500);
  CHECK(log.last_line() == "it is *** 599");
  CHECK(log.tail().ends_with("it is *** 598\nit is *** 599\n"));
}

TEST_CASE("how many lines were left out is told, of held ones when they are released") {
  const auto warnings = [](const std::vector<std::string>& logged) {
    std::vector<std::string> out;
    for (const std::string& line : logged) {
      if (line.find("left out") != std::string::npos) out.push_back(line.substr(line.find("WARN")));
    }
    return out;
  };
  for (const bool hold : {false, true}) {
    HookLog log({}, {}, hold);
    std::vector<std::string> logged;
    base::capture_log(&logged);
    for (int i = 0; i < 5000; ++i) log.line(std::to_string(i), TimePoint{});
    log.end();
    log.release({}, TimePoint{});
    CHECK(warnings(logged) ==
          std::vector<std::string>{"WARN  4500 lines of stderr were left out: too many "
                                   "stream=stderr"});
    // A worker says more while its answer is read.
    log.line("again", TimePoint{});
    log.release({}, TimePoint{});
    base::capture_log(nullptr);
    CHECK(warnings(logged).size() == 2);
    CHECK(logged.back().find("1 line of stderr was left out: too many") != std::string::npos);
  }
  HookLog log({}, {}, true);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  for (int i = 0; i < 600; ++i) log.line(std::string(4096, 'x'), TimePoint{});
  log.end();
  log.release({}, TimePoint{});
  base::capture_log(nullptr);
  CHECK(warnings(logged) ==
        std::vector<std::string>{"WARN  344 lines of stderr were left out: too long together "
                                 "stream=stderr"});
}

TEST_CASE("lines of stdout that are only logged are not taken for ours") {
  using test::ScriptedEngine;
  ScriptedEngine world("", "", "{shell: 'seq 1 2002; echo no >&2', output: log}");
  world.transport.answer(200, test::list(test::object(test::kSite, "Website", "4", "{}")));
  std::vector<std::string> logged;
  base::capture_log(&logged);
  world.start();
  world.watch("websites");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  base::capture_log(nullptr);
  std::size_t count = 0;
  for (const std::string& line : logged) {
    if (line.find(" run=") == std::string::npos) continue;
    ++count;
    INFO(line);
    CHECK(line.ends_with(line.find("INFO  no ") == std::string::npos ? " stream=stdout"
                                                                     : " stream=stderr"));
  }
  // Twice what stderr may say, which has a limit of its own: the first ones, and those of more time
  // where it took that; what was left out; and one of stderr.
  CHECK(count >= 1002);
  CHECK(count < 2002);
}

TEST_CASE("stdout that is only logged is logged while the hook runs, however much it is") {
  using test::ScriptedEngine;
  ScriptedEngine world(
      "", "",
      "{shell: 'echo early; while [ ! -e go ]; do sleep 0.05; done; read -r line || :; "
      "echo \"$line\" | cut -c 1-40; head -c 6000000 /dev/zero | tr \"\\0\" x; "
      "echo; printf the-end', output: log}");
  world.transport.answer(200, test::list(test::object(test::kSite, "Website", "4", "{}")));
  std::vector<std::string> logged;
  base::capture_log(&logged);
  const auto has = [&logged](const std::string& words) {
    return std::ranges::any_of(logged, [&](const std::string& line) {
      return line.find(words) != std::string::npos && line.ends_with(" stream=stdout");
    });
  };
  std::string kept = "nothing was asked";
  world.on_exchange = [&kept](const hooks::HookExchange& exchange) { kept = exchange.exit.out; };
  world.start();
  world.watch("websites");
  CHECK(world.until([&] { return has("INFO  early "); }));
  CHECK(world.runs.empty());
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  base::capture_log(nullptr);
  CHECK(world.runs[0].outcome == "done");
  CHECK(has("kubewatch.dev/v1"));  // stdin is the document still
  CHECK(has("INFO  the-end "));
  CHECK(kept.empty());
}

TEST_CASE("a line in which its writer was ended shows no beginning of a secret") {
  for (const bool hold : {false, true}) {
    HookLog log({}, knowing("hunter22-and-more"), hold);
    std::vector<std::string> logged;
    base::capture_log(&logged);
    log.line("hunter", TimePoint{});
    log.line("it is hunter22-an", TimePoint{}, true);
    log.release(knowing("hunter22-and-more"), TimePoint{});
    base::capture_log(nullptr);
    CHECK(log.last_line() == "it is ***");
    CHECK(log.tail() == "hunter\nit is ***\n");
    REQUIRE(logged.size() == 2);
    CHECK(logged[1].find("it is ***") != std::string::npos);
    CHECK(logged[1].find("hunter") == std::string::npos);
  }
}

}  // namespace kubewatch::hooks
