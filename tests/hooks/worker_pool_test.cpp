// Workers as real processes: what they answer, and how they go wrong.
#include "hooks/worker_pool.hpp"

#include <signal.h>

#include <cstdlib>
#include <map>

#include "hooks/printed_secrets.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/verdict.hpp"
#include "hooks/worker_line.hpp"
#include "loop/process_table.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

// Each worker writes its number to the file `pids`; `answer` runs for each line with $id set.
std::string worker_script(const std::string& answer) {
  return "echo $$ >> pids\nwhile IFS= read -r line; do\n  id=${line#*\\\"id\\\":\\\"}; "
         "id=${id%%\\\"*}\n" +
         answer + "\ndone\n";
}

const char* const kAnswer = R"(printf '{"id":"%s"}\n' "$id")";

// It answers the invocation `a`, and once more when there is a file `go`; then it reads nothing.
std::string answers_twice() {
  return std::string(kAnswer) + "\n[ \"$id\" != a ] || { while [ ! -e go ]; do sleep 0.02; done; " +
         kAnswer + "; sleep 600; }";
}

// What died and waits for its parent does not count.
bool is_alive(const std::string& pid) {
  std::ifstream file("/proc/" + std::to_string(std::atoi(pid.c_str())) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto row = loop::parse_process_stat(text, 100);
  return row && !row->zombie();
}

struct Rig {
  explicit Rig(const std::string& script, std::size_t slots = 1,
               base::BackoffPolicy restart = {Duration{1}, Duration{1}, 2.0, 0.0},
               std::function<TimePoint()> now = {}) {
    rule.argv = {"/bin/sh", "-c", script};
    rule.directory = folder.path();
    rule.timeout = Duration{20000};
    rule.grace = Duration{200};
    WorkerSurroundings around;
    around.controller = "website";
    around.slots = slots;
    around.restart = restart;
    around.now = std::move(now);
    around.new_home = [this](const std::string& name) -> Result<std::string> {
      if (!home_error.empty()) return Error(ErrorKind::unavailable, home_error);
      std::filesystem::create_directory(folder.file(name));
      return folder.file(name);
    };
    around.environment = [](const std::string& home) -> Result<HookEnvironment> {
      return HookEnvironment{{"PATH=/usr/bin:/bin", "HOME=" + home}, {}};
    };
    around.forget = [this](const std::string& home) { left.push_back(home); };
    pool.emplace(loop, random, guard, rule, std::move(around));
  }

  void start(const std::string& id) {
    HookStart start;
    start.id = id;
    start.input = worker_line("{\"id\":\"" + id + "\"}", {"A=1"});
    start.log_fields = {{"object", "Website shop/" + id}, {"run", id}};
    calls[id] = pool->run(std::move(start), [this, id](HookExit exit) { ends[id] = exit; });
    CHECK(ends.count(id) == 0);
  }
  HookExit end(const std::string& id) {
    REQUIRE(loop.run_until([&] { return ends.count(id) > 0; }, kLimit));
    return ends[id];
  }
  HookExit run(const std::string& id) {
    start(id);
    return end(id);
  }
  Verdict verdict(const std::string& id) { return judge(end(id), rule, {}, {}); }
  std::size_t workers() const {
    std::ifstream file(folder.file("pids"));
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  // A worker that has written its pid is no event: without one the loop would not look again.
  bool until_workers(std::size_t count) {
    loop::Timer look;
    std::function<void()> again = [&] { look = loop.after(Duration{5}, again); };
    again();
    return loop.run_until([&] { return workers() == count; }, kLimit);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder.file(name));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    return text;
  }

  test::RuleFolder folder;
  loop::EventLoop loop;
  base::Random random{1};
  LimitGuard guard{loop};
  HookRule rule;
  std::string home_error;         // why no folder can be made for a worker
  std::vector<std::string> left;  // homes, by workers that are gone
  std::map<std::string, HookExit> ends;
  std::map<std::string, std::unique_ptr<HookCall>> calls;
  std::optional<WorkerPool> pool;
};

}  // namespace

TEST_CASE("one worker answers many runs, with exit codes and documents") {
  Rig rig(worker_script(R"(case $id in
  three) printf '{"id":"%s","exit":75,"documents":[{"kind":"Result"}]}\n' "$id";;
  *) printf '%s' '{"id":'; printf '"%s"}\n' "$id";;
esac)"));
  CHECK(rig.run("one").code == std::optional<int>(0));
  const HookExit two = rig.run("two");
  CHECK(two.out.empty());
  CHECK(two.is_list);
  CHECK(two.max_rss > 0);
  const HookExit three = rig.run("three");
  CHECK(three.code == std::optional<int>(75));
  CHECK(three.out == R"([{"kind":"Result"}])");
  CHECK(rig.workers() == 1);
}

TEST_CASE("as many workers as runs at the same time, up to the slots") {
  Rig rig(worker_script(R"(while [ ! -e go ]; do sleep 0.02; done; printf '{"id":"%s"}\n' "$id")"),
          2);
  for (const char* id : {"a", "b", "c"}) rig.start(id);
  REQUIRE(rig.until_workers(2));
  rig.folder.write("go", "");
  for (const char* id : {"a", "b", "c"}) {
    rig.end(id);
    CHECK(rig.verdict(id).message.empty());
  }
  CHECK(rig.workers() == 2);
}

TEST_CASE("an answer that is none ends the run as invalid output and replaces the worker") {
  Rig rig(worker_script(R"(case $id in
  wrong) echo '{"id":"other"}';;
  twice) printf '{"id":"twice"}\n{"id":"twice"}\n';;
  garbage) echo 'hello there';;
  *) printf '{"id":"%s"}\n' "$id";;
esac)"));
  const std::map<std::string, std::string> wanted = {{"wrong", "the wrong id \"other\""},
                                                     {"twice", "more than one line"},
                                                     {"garbage", "a line that is no answer"}};
  std::size_t workers = 0;
  for (const auto& [id, words] : wanted) {
    rig.start(id);
    const Verdict verdict = rig.verdict(id);
    CHECK(verdict.outcome == Outcome::invalid_output);
    INFO(verdict.message);
    CHECK(verdict.message.find(words) != std::string::npos);
    CHECK(rig.run("after " + id).code == std::optional<int>(0));
    CHECK(rig.workers() == ++workers + 1);
  }
}

TEST_CASE("a worker that dies before it answers, or in the middle of its answer, fails the run") {
  Rig rig(worker_script(R"(case $id in
  dies) exit 3;;
  half) printf '{"id":"ha'; exit 0;;
  killed) kill -9 $$;;
  *) printf '{"id":"%s"}\n' "$id";;
esac)"));
  const std::map<std::string, std::string> wanted = {
      {"dies", "the worker ended (exit code 3) before it answered"},
      {"half", "the worker ended (exit code 0) in the middle of a line, before it answered"},
      {"killed", "the worker ended (signal SIGKILL) before it answered"}};
  for (const auto& [id, words] : wanted) {
    rig.start(id);
    CHECK(rig.verdict(id).outcome == Outcome::failed);
    CHECK(rig.verdict(id).message == words);
    // Of one that left by itself it is known that nothing more would have come.
    CHECK(was_ended(rig.ends.at(id)));
    CHECK(why_cut_off(rig.ends.at(id)).empty() == (id != "killed"));
    CHECK(rig.run("after " + id).code == std::optional<int>(0));
  }
}

TEST_CASE("a line that nobody asked for replaces the worker before the next run") {
  Rig rig(worker_script(std::string(kAnswer) + "\n[ \"$id\" != a ] || { while [ ! -e go ]; do "
                                               "sleep 0.02; done; echo by the way; }"));
  CHECK(rig.run("a").code == std::optional<int>(0));
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.folder.write("go", "");
  const auto told = [&] {
    for (const std::string& line : log) {
      if (line.find("nobody asked for") != std::string::npos) return true;
    }
    return false;
  };
  CHECK(rig.loop.run_until(told, kLimit));
  base::capture_log(nullptr);
  CHECK(rig.run("b").code == std::optional<int>(0));
  CHECK(rig.workers() == 2);
}

TEST_CASE("an answer that comes twice is told of its run, and the next run gets another worker") {
  Rig rig(worker_script(answers_twice()));
  std::vector<std::string> log;
  base::capture_log(&log);
  CHECK(rig.run("a").code == std::optional<int>(0));
  rig.start("b");
  rig.folder.write("go", "");
  CHECK(rig.end("b").code == std::optional<int>(0));
  base::capture_log(nullptr);
  CHECK(rig.workers() == 2);
  const auto told = [&log](const std::string& words, const std::string& object) {
    std::size_t out = 0;
    for (const std::string& line : log) {
      if (line.find(words) == std::string::npos) continue;
      ++out;
      INFO(line);
      CHECK(line.find("Website shop/" + object) != std::string::npos);
    }
    return out;
  };
  CHECK(told("the worker answered this run twice", "a") == 1);
  CHECK(told("run=a", "a") == 1);
  CHECK(told("the run is given to another worker", "b") == 1);
  CHECK(told("the worker printed", "") == 0);
}

TEST_CASE("a run that is to end while its worker does, which answered twice, goes to no other") {
  Rig rig(worker_script("[ \"$id\" = a ] || sleep 600\n" + answers_twice()));
  CHECK(rig.run("a").code == std::optional<int>(0));
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.start("b");
  rig.folder.write("go", "");
  REQUIRE(rig.loop.run_until([&] { return !log.empty(); }, kLimit));
  rig.calls["b"]->terminate();
  CHECK(rig.end("b").canceled);
  base::capture_log(nullptr);
}

TEST_CASE("a timeout ends the worker, even one that ignores TERM, and the next run gets another") {
  Rig rig("trap '' TERM\n" + worker_script(std::string("[ \"$id\" != slow ] || { sleep 600 & echo "
                                                       "$! > child; wait; }\n") +
                                           kAnswer));
  rig.run("warm");  // the time is not that of a worker's start
  rig.rule.timeout = Duration{1500};
  rig.start("slow");
  CHECK(rig.verdict("slow").outcome == Outcome::timeout);
  CHECK_FALSE(rig.read("child").empty());
  // The kernel ends it when it gets to it.
  CHECK(rig.loop.run_until([&] { return !is_alive(rig.read("child")); }, kLimit));
  rig.rule.timeout = Duration{20000};
  CHECK(rig.run("next").code == std::optional<int>(0));
  CHECK(rig.workers() == 2);
}

TEST_CASE("an answer longer than limits.output is not waited for") {
  Rig rig(worker_script("head -c 100000 /dev/zero | tr '\\0' x; sleep 600"));
  rig.rule.max_output = 65536;
  rig.start("a");
  CHECK(rig.verdict("a").outcome == Outcome::invalid_output);
  CHECK(rig.verdict("a").message.find("more than 65536 bytes") != std::string::npos);
}

TEST_CASE("stderr of a worker carries the object it belongs to") {
  Rig rig(worker_script(std::string("echo \"about $id\" >&2\n") + kAnswer));
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.run("a");
  rig.run("b");
  base::capture_log(nullptr);
  std::vector<std::string> about;
  for (const std::string& line : log) {
    if (line.find("about ") != std::string::npos) about.push_back(line);
  }
  REQUIRE(about.size() == 2);
  CHECK(about[0].find("about a") != std::string::npos);
  CHECK(about[0].find("Website shop/a") != std::string::npos);
  CHECK(about[1].find("Website shop/b") != std::string::npos);
  CHECK(rig.calls["b"]->last_line() == "about b");
}

TEST_CASE("what one run told a worker stays masked in the lines of later runs") {
  Rig rig(worker_script(std::string("echo \"I know hunter22\" >&2\n") + kAnswer));
  rig.run("a");
  SecretMask mask;
  mask.add_value("hunter22");
  rig.calls["a"]->release(mask);
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.run("b");
  base::capture_log(nullptr);
  CHECK(rig.calls["b"]->last_line() == "I know ***");
}

TEST_CASE("a worker that is killed in a line shows no beginning of what it was told") {
  Rig rig(worker_script("[ $id != b ] || { printf 'I know hunter22-an' >&2; kill -9 $$; }\n" +
                        std::string(kAnswer)));
  rig.run("a");
  SecretMask mask;
  mask.add_value("hunter22-and-more");
  rig.calls["a"]->release(mask);
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.start("b");
  CHECK(rig.verdict("b").outcome == Outcome::failed);
  base::capture_log(nullptr);
  CHECK(rig.calls["b"]->last_line() == "I know ***");
  CHECK(rig.calls["b"]->stderr_tail() == "I know ***\n");
  for (const std::string& line : log) CHECK(line.find("hunter") == std::string::npos);
}

TEST_CASE("a worker that was told too many secrets is replaced before its lines are left out") {
  Rig rig(worker_script(std::string("echo fine >&2\n") + kAnswer));
  std::vector<std::string> log;
  base::capture_log(&log);
  for (int run = 0; run < 12; ++run) {
    const std::string id = "r" + std::to_string(run);
    rig.run(id);
    SecretMask mask;
    for (int i = 0; i < 2000; ++i) {
      mask.add_value("secret-" + std::to_string(run) + "-" + std::to_string(i));
    }
    rig.calls[id]->release(mask);
    CHECK(rig.calls[id]->last_line() == "fine");
  }
  base::capture_log(nullptr);
  CHECK(rig.workers() == 2);
}

TEST_CASE("what a worker says after its answer waits for the mask of the run it is about") {
  // The answer holds a Secret that no input holds; the worker speaks of it before we have looked.
  Rig rig(worker_script(std::string(kAnswer) + "\necho \"made hunter22\" >&2\n: > said"));
  std::vector<std::string> log;
  base::capture_log(&log);
  HookStart start;
  start.id = "a";
  start.input = worker_line("{\"id\":\"a\"}", {});
  start.log_fields = {{"object", "Website shop/a"}};
  start.hold_lines = true;
  rig.calls["a"] = rig.pool->run(std::move(start), [&](HookExit exit) { rig.ends["a"] = exit; });
  rig.end("a");
  const auto said = [&] { return std::filesystem::exists(rig.folder.file("said")); };
  for (int i = 0; i < 2000 && !said(); ++i) {
    rig.loop.run_until([] { return false; }, Duration{10});
  }
  REQUIRE(said());
  rig.loop.run_until([] { return false; }, Duration{20});  // it is in the pipe: one turn reads it
  SecretMask mask;
  mask.add_value("hunter22");
  rig.calls["a"]->release(mask);
  base::capture_log(nullptr);
  CHECK(rig.calls["a"]->last_line() == "made ***");
  bool told = false;
  for (const std::string& line : log) {
    INFO(line);
    CHECK(line.find("hunter22") == std::string::npos);
    if (line.find("made ***") != std::string::npos) {
      told = true;
      CHECK(line.find("Website shop/a") != std::string::npos);
    }
  }
  CHECK(told);
}

TEST_CASE("an answer that is none is there to be looked through for Secrets") {
  const auto run = [](const std::string& answer) {
    Rig rig(worker_script("echo 'made hunter22' >&2\necho '" + answer + "'"));
    HookStart start;
    start.id = "a";
    start.input = worker_line("{\"id\":\"a\"}", {});
    start.hold_lines = true;
    rig.calls["a"] = rig.pool->run(std::move(start), [&](HookExit exit) { rig.ends["a"] = exit; });
    return rig.end("a");
  };
  const std::string secret = R"({"kind":"Secret","stringData":{"p":"hunter22"}})";
  for (const std::string& answer :
       {R"({"id":"wrong","documents":[)" + secret + "]}", R"({"documents":[)" + secret}) {
    const HookExit exit = run(answer);
    REQUIRE(exit.broken);
    SecretMask mask;
    CHECK(mask_printed(exit.out, was_ended(exit), mask) == answer.ends_with("]}"));
    CHECK(mask.mask("made hunter22") == "made ***");
  }
}

TEST_CASE("a worker that cannot be started fails its run and says why") {
  Rig rig("");
  rig.rule.argv = {"/nonexistent/worker"};
  rig.start("a");
  CHECK(rig.verdict("a").outcome == Outcome::failed);
  CHECK(rig.verdict("a").message.find("/nonexistent/worker") != std::string::npos);
}

TEST_CASE("runs that wait because workers end without an answer say so, and the log does once") {
  Rig rig(worker_script("exit 3"), 1, {Duration{60000}, Duration{60000}, 2.0, 0.0});
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.start("a");
  rig.start("b");
  CHECK(rig.calls["b"]->held_by().empty());  // it waits for the other run
  rig.end("a");
  rig.start("c");
  base::capture_log(nullptr);
  CHECK(rig.calls["a"]->held_by().empty());
  for (const char* id : {"b", "c"}) {
    INFO(rig.calls[id]->held_by());
    CHECK(rig.calls[id]->held_by().find("a worker ended without an answer; the next is started "
                                        "in ") == 0);
  }
  std::size_t told = 0;
  for (const std::string& line : log) {
    if (line.find("the next is started in") == std::string::npos) continue;
    ++told;
    CHECK(line.find("controller=website runs_waiting=1") != std::string::npos);
  }
  CHECK(told == 1);
}

TEST_CASE("a worker for which no private folder can be made fails its run and names the folder") {
  Rig rig(worker_script(kAnswer));
  rig.home_error = "cannot make the private folder /full/home: No space left on device";
  rig.start("a");
  CHECK(rig.verdict("a").outcome == Outcome::failed);
  CHECK(rig.verdict("a").message.find("/full/home: No space left") != std::string::npos);
}

TEST_CASE("shutdown ends idle workers by TERM first and waits for them") {
  Rig rig("trap 'echo bye > said; exit 0' TERM\n" + worker_script(kAnswer));
  rig.run("a");
  bool over = false;
  rig.rule.grace = Duration{20000};
  rig.pool->shut_down([&] { over = true; });
  CHECK_FALSE(over);
  REQUIRE(rig.loop.run_until([&] { return over; }, kLimit));
  CHECK_FALSE(is_alive(rig.read("pids")));
  CHECK(rig.left == std::vector<std::string>{rig.folder.file("worker-1")});
}

TEST_CASE("ending a run ends its worker, one that waits for a worker is over at once") {
  Rig rig(worker_script("sleep 600"));
  rig.start("a");
  rig.start("b");
  REQUIRE(rig.until_workers(1));
  rig.calls["b"]->terminate();
  CHECK(rig.end("b").canceled);
  CHECK(rig.ends.count("a") == 0);
  rig.calls["a"]->terminate();
  CHECK(rig.end("a").canceled);
}

TEST_CASE("a run that is dropped leaves no worker at work for it") {
  Rig rig(worker_script("[ \"$id\" != a ] || sleep 600\n" + std::string(kAnswer)));
  rig.start("a");
  REQUIRE(rig.until_workers(1));
  rig.calls.erase("a");
  CHECK(rig.run("b").code == std::optional<int>(0));
  CHECK(rig.workers() == 2);
  CHECK(rig.ends.count("a") == 0);
}

TEST_CASE("a worker whose program changed ends after its run, and a new one gets the next") {
  Rig rig("");
  const auto program = [&rig](const char* code) {
    rig.folder.script("worker.sh");
    rig.folder.write("worker.sh",
                     "#!/bin/sh\n" + worker_script("while [ ! -e go ]; do sleep 0.02; done\n"
                                                   "printf '{\"id\":\"%s\",\"exit\":" +
                                                   std::string(code) + "}\\n' \"$id\""));
  };
  rig.rule.argv = {"/bin/sh", rig.folder.file("worker.sh")};
  program("1");
  rig.start("a");
  REQUIRE(rig.until_workers(1));
  program("22");  // of another size, whatever the clock of the file system
  rig.folder.write("go", "");
  CHECK(rig.end("a").code == std::optional<int>(1));
  CHECK(rig.run("b").code == std::optional<int>(22));
  CHECK(rig.run("c").code == std::optional<int>(22));
  CHECK(rig.workers() == 2);
  // Gone for a moment: no reason to end what works.
  std::filesystem::remove(rig.folder.file("worker.sh"));
  CHECK(rig.run("d").code == std::optional<int>(22));
  program("3");
  CHECK(rig.run("e").code == std::optional<int>(3));
  CHECK(rig.workers() == 3);
}

TEST_CASE("a worker that writes a file of its own command line is not ended after each run") {
  Rig rig("");
  const auto program = [&rig](const char* answer) {
    rig.folder.script("worker.sh");
    rig.folder.write("worker.sh", "#!/bin/sh\n" + worker_script("echo \"$id\" >> \"$1\"\n" +
                                                                std::string(answer)));
  };
  program(kAnswer);
  rig.folder.write("state.txt", "");
  rig.rule.argv = {rig.folder.file("worker.sh"), "state.txt"};
  std::vector<std::string> log;
  base::capture_log(&log);
  for (int i = 0; i < 20; ++i) {
    CHECK(rig.run("run" + std::to_string(i)).code == std::optional<int>(0));
  }
  base::capture_log(nullptr);
  CHECK(rig.workers() <= 5);  // four, unless that took longer than the first pause
  std::size_t told = 0;
  for (const std::string& line : log) {
    if (line.find("changes again and again") == std::string::npos) continue;
    ++told;
    CHECK(line.find(rig.folder.file("state.txt")) != std::string::npos);
  }
  CHECK(told == 1);
  // The program itself is followed as ever.
  program(R"(printf '{"id":"%s","exit":22}\n' "$id")");
  CHECK(rig.run("last").code == std::optional<int>(22));
}

TEST_CASE("a worker over its limits is ended, and the run says which") {
  Rig rig(worker_script("i=0; while [ $i -lt 8 ]; do sleep 600 & i=$((i+1)); done; wait"));
  rig.rule.limits.processes = 4;
  rig.start("a");
  CHECK(rig.verdict("a").outcome == Outcome::failed);
  CHECK(rig.verdict("a").message == "ended: used more than limits.processes 4");
}

TEST_CASE("a run waits for no worker whose pause has ended, whenever it was that somebody looked") {
  // Time stands still until the clock has been asked so often since the run came; then the pause is
  // over.
  for (int looks = 0; looks < 8; ++looks) {
    INFO(looks);
    TimePoint time{Duration{1000}};
    std::optional<int> left;
    Rig rig(R"(if [ ! -e died ]; then touch died; read -r line; exit 3; fi
)" + worker_script(kAnswer),
            1, {Duration{50}, Duration{50}, 2.0, 0.0}, [&] {
              if (left && (*left)-- == 0) time += Duration{60000};
              return time;
            });
    CHECK(rig.run("one").died);
    left = looks;
    CHECK(rig.run("two").code == std::optional<int>(0));
  }
}
