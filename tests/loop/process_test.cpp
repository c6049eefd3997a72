// Child processes: results, input, output, limits, environment, start errors.
#include "loop/process.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "process_fixture.hpp"

namespace kubewatch::loop {
namespace {

TEST_CASE("exit codes and signals are told apart") {
  EventLoop loop;
  CHECK(run(loop, shell("exit 0")).code == 0);
  const ProcessExit failed = run(loop, shell("exit 75"));
  CHECK(failed.code == 75);
  CHECK_FALSE(failed.signal.has_value());
  const ProcessExit killed = run(loop, shell("kill -9 $$"));
  CHECK(killed.signal == SIGKILL);
  CHECK_FALSE(killed.code.has_value());
  CHECK_FALSE(killed.timed_out);
  CHECK_FALSE(killed.canceled);
}

TEST_CASE("stdout is captured whole and stderr line by line") {
  EventLoop loop;
  Run one;
  one.start(loop, shell("printf 'a\\nb'; printf 'x\\n\\ny\\0z\\nlast' >&2"));
  one.wait(loop);
  CHECK(one.exit->out == "a\nb");
  REQUIRE(one.lines.size() == 4);
  CHECK(one.lines[0] == "x");
  CHECK(one.lines[1].empty());
  CHECK(one.lines[2] == std::string("y\0z", 3));
  CHECK(one.lines[3] == "last");
}

TEST_CASE("stderr lines arrive while the child runs") {
  EventLoop loop;
  Run one;
  one.start(loop, shell("echo early >&2; read never < /dev/null; sleep 100"));
  REQUIRE(loop.run_until([&] { return one.lines.size() == 1; }, kLimit));
  CHECK_FALSE(one.exit.has_value());
}

TEST_CASE("a stderr line above the limit is cut and marked, and the next one is whole") {
  EventLoop loop;
  ProcessOptions options = shell("printf '0123456789ABC\\nnext\\n0123456789' >&2");
  options.max_stderr_line = 10;
  Run one;
  one.start(loop, std::move(options));
  one.wait(loop);
  REQUIRE(one.lines.size() == 3);
  CHECK(one.lines[0] == "0123456789 [cut: the line is longer than 10 bytes]");
  CHECK(one.lines[1] == "next");
  CHECK(one.lines[2] == "0123456789");
}

TEST_CASE("where it is asked for, what a child did not end as a line comes with its exit") {
  EventLoop loop;
  ProcessOptions options = shell("printf 'one\\nhal' >&2; kill -9 $$");
  options.keep_begun = true;
  Run killed;
  killed.start(loop, options);
  killed.wait(loop);
  CHECK(killed.lines == std::vector<std::string>{"one"});
  CHECK(killed.exit->begun == "hal");
  CHECK(killed.exit->signal == std::optional<int>(SIGKILL));
  options.argv.back() = "printf 'one\\n' >&2";
  Run whole;
  whole.start(loop, options);
  whole.wait(loop);
  CHECK(whole.lines == std::vector<std::string>{"one"});
  CHECK(whole.exit->begun.empty());
}

TEST_CASE("the input is on stdin and at the path in the variable, and can be read twice") {
  EventLoop loop;
  ProcessOptions options =
      shell("cat; cat \"$KW_INPUT\"; sh -c 'cat $KW_INPUT'; echo \"$KW_INPUT\"");
  options.input = "in\n";
  options.input_path_variable = "KW_INPUT";
  options.environment.push_back("KW_INPUT=/etc/passwd");
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/";
  const std::string out = run(loop, options).out;
  CHECK(out.starts_with("in\nin\nin\n" + path));
  // Nothing of it stays.
  std::ifstream left(out.substr(out.find(path), out.size() - out.find(path) - 1));
  std::string text;
  CHECK_FALSE((std::getline(left, text) && text == "in"));
}

TEST_CASE("programs that are started without descriptors above stderr open the input by its path") {
  EventLoop loop;
  // As Python, Java and sudo start them; and a child that uses low numbers for itself.
  ProcessOptions options = shell(
      "(exec 3<&- 4<&- 5<&-; sh -c 'cat \"$KW_INPUT\"'); (exec 0</dev/null; cat \"$KW_INPUT\");"
      "exec 3</dev/null; cat \"$KW_INPUT\"");
  options.input = "in\n";
  options.input_path_variable = "KW_INPUT";
  CHECK(run(loop, options).out == "in\nin\nin\n");
}

TEST_CASE("of an input with a path no descriptor is left, however the child ends") {
  const auto open_files = [] {
    const std::filesystem::directory_iterator folder("/proc/self/fd");
    return std::distance(begin(folder), end(folder));
  };
  EventLoop loop;
  static_cast<void>(run(loop, shell("exit 0")));
  const auto before = open_files();
  for (const char* line : {"exit 0", "kill -9 $$", "exec sleep 600"}) {
    Run one;
    ProcessOptions options = shell(line);
    options.input = "in\n";
    options.input_path_variable = "KW_INPUT";
    one.start(loop, std::move(options));
    if (line != std::string_view("exec sleep 600")) one.wait(loop);  // else it is destroyed
  }
  CHECK(open_files() == before);
}

TEST_CASE("the input cannot be written, not even through its path") {
  EventLoop loop;
  ProcessOptions options = shell(
      "(echo x >&0) 2>/dev/null && echo open; (echo x > \"$KW_INPUT\") 2>/dev/null && echo open;"
      "(echo x >> \"$KW_INPUT\") 2>/dev/null && echo open;"
      "(echo x >> /proc/self/fd/0) 2>/dev/null && echo open; cat");
  options.input = "input";
  options.input_path_variable = "KW_INPUT";
  CHECK(run(loop, options).out == "input");
}

TEST_CASE("10 MB of input that nobody reads harm nobody, and read in full they arrive") {
  EventLoop loop;
  ProcessOptions unread = shell("exit 3");
  unread.input.assign(10U << 20U, 'i');
  CHECK(run(loop, unread).code == 3);
  ProcessOptions read = shell("wc -c");
  read.input.assign(10U << 20U, 'i');
  std::istringstream count(run(loop, std::move(read)).out);
  std::size_t bytes = 0;
  count >> bytes;
  CHECK(bytes == 10U << 20U);
}

TEST_CASE("the environment is exactly what was given") {
  EventLoop loop;
  setenv("KW_LEAK", "secret", 1);
  ProcessOptions options;
  options.argv = {"/usr/bin/env"};
  options.environment = {"A=1", "B=two words\nand lines", "C="};
  std::string out = run(loop, std::move(options)).out;
  unsetenv("KW_LEAK");
  // A subreaper adds its mark.
  const std::size_t mark = out.find("KUBEWATCH_PROCESS_MARK=");
  if (mark != std::string::npos) out.erase(mark);
  CHECK(out == "A=1\nB=two words\nand lines\nC=\n");
}

TEST_CASE("the child has its own group, default signals, no descriptors of ours, 1024 files") {
  EventLoop loop;
  const int leak = open("/dev/null", O_RDONLY);
  REQUIRE(leak > 2);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto hangup_before = ::signal(SIGHUP, SIG_IGN);
  const auto output_of = [&loop](std::vector<std::string> argv) {
    ProcessOptions options;
    options.argv = std::move(argv);
    return run(loop, std::move(options)).out;
  };
  const std::string files = output_of({"/bin/ls", "/proc/self/fd"});
  const std::string signals = output_of({"/bin/grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"});
  const std::string limit = output_of({"/bin/sh", "-c", "ulimit -n"});
  const std::string group = output_of({"/bin/sh", "-c", "echo $(( $$ == $(ps -o pgid= -p $$) ))"});
  ::signal(SIGHUP, hangup_before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(leak);
  // 3 is the folder that ls reads.
  CHECK(files == "0\n1\n2\n3\n");
  CHECK(signals == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  CHECK(std::stol(limit) <= 1024);
  CHECK(group == "1\n");
}

TEST_CASE("the folder is where the child starts") {
  EventLoop loop;
  const TempDir folder;
  ProcessOptions options = shell("pwd");
  options.directory = folder.path;
  CHECK(run(loop, options).out == folder.path + "\n");
  folder.file("hook", "#!/bin/sh\necho relative\n", 0755);
  options = ProcessOptions{};
  options.argv = {"./hook"};
  options.directory = folder.path;
  CHECK(run(loop, options).out == "relative\n");
}

TEST_CASE("limits end a child that goes beyond them") {
  EventLoop loop;
  const TempDir folder;
  ProcessOptions files =
      shell("dd if=/dev/zero of=big bs=1M count=4 2>/dev/null; echo $?; wc -c < big");
  files.directory = folder.path;
  files.limits.file_bytes = 1U << 20U;
  CHECK(run(loop, files).out.find("1048576") != std::string::npos);
  ProcessOptions cpu = shell("while :; do :; done");
  cpu.limits.cpu_seconds = 1;
  const ProcessExit burnt = run(loop, std::move(cpu));
  CHECK((burnt.signal == SIGXCPU || burnt.signal == SIGKILL));
  const auto milliseconds = [](const timeval& time) {
    return time.tv_sec * 1000 + time.tv_usec / 1000;
  };
  CHECK(milliseconds(burnt.usage.ru_utime) + milliseconds(burnt.usage.ru_stime) > 500);
  ProcessOptions memory = shell("x=$(head -c 50000000 /dev/zero | tr '\\0' x); echo ${#x}");
  memory.limits.memory_bytes = 16U << 20U;
  CHECK(run(loop, memory).out.find("50000000") == std::string::npos);
}

TEST_CASE("stdout above its limit ends the group and is said so") {
  EventLoop loop;
  ProcessOptions options = shell("sleep 1000 & head -c 1000000000 /dev/zero");
  options.max_stdout = 1U << 20U;
  const ProcessExit result = run(loop, std::move(options));
  CHECK(result.output_overflow);
  CHECK(result.out.size() == 1U << 20U);
  CHECK(result.signal == SIGKILL);
  ProcessOptions exact = shell("head -c 1000 /dev/zero");
  exact.max_stdout = 1000;
  const ProcessExit fits = run(loop, std::move(exact));
  CHECK_FALSE(fits.output_overflow);
  CHECK(fits.out.size() == 1000);
}

TEST_CASE("a child that prints 1 GB leaves the loop to the others") {
  EventLoop loop;
  ProcessOptions options = shell("head -c 1000000000 /dev/zero >&2");
  int turns = 0;
  Timer tick;
  Callback again = [&] {
    ++turns;
    tick = loop.after(Duration{1}, again);
  };
  again();
  Run one;
  one.start(loop, std::move(options));
  one.wait(loop);
  CHECK(one.exit->code == 0);
  REQUIRE(one.lines.size() == 1);
  CHECK(one.lines[0].size() < (66U << 10U));
  CHECK(turns > 20);
}

TEST_CASE("a child that closes its pipes early goes on to its exit") {
  EventLoop loop;
  const ProcessExit result = run(loop, shell("exec 0<&- 1>&- 2>&-; sleep 0.05; exit 4"));
  CHECK(result.code == 4);
  CHECK(result.elapsed >= Duration{40});
}

TEST_CASE("that a child closes its pipes wakes nobody, its exit does") {
  EventLoop loop;
  const auto turns_of_nothing = [&loop] {
    const auto before = loop.stalls().turns;
    loop.run_until([] { return false; }, Duration{20});
    return loop.stalls().turns - before;
  };
  const auto usual = turns_of_nothing();
  const TempDir folder;
  const std::string closed = folder.path + "/closed";
  const std::string go_on = folder.path + "/go-on";
  REQUIRE(mkfifo(closed.c_str(), 0600) == 0);
  REQUIRE(mkfifo(go_on.c_str(), 0600) == 0);
  // Both ways: to open them waits for nobody.
  const int said = open(closed.c_str(), O_RDWR | O_CLOEXEC);
  const int say = open(go_on.c_str(), O_RDWR | O_CLOEXEC);
  Run one;
  one.start(loop, shell("exec 1>&- 2>&-; echo closed > " + closed + "; read line < " + go_on +
                        "; exit 4"));
  char byte = 0;
  CHECK(read(said, &byte, 1) == 1);
  CHECK(turns_of_nothing() <= usual);
  CHECK_FALSE(one.exit.has_value());
  CHECK(write(say, "now\n", 4) == 4);
  one.wait(loop);
  CHECK(one.exit->code == 4);
  CHECK_FALSE(one.exit->pipes_held);
  close(said);
  close(say);
}

TEST_CASE("a grandchild that holds only one of the pipes is told of as well") {
  EventLoop loop;
  for (const char* line : {"sleep 1000 2>/dev/null &", "sleep 1000 >/dev/null &"}) {
    INFO(line);
    ProcessOptions options = shell(line);
    options.drain = Duration{30};
    const ProcessExit held = run(loop, std::move(options));
    CHECK(held.code == 0);
    CHECK(held.pipes_held);
  }
}

TEST_CASE("what a reader in the background still writes after the exit is read") {
  EventLoop loop;
  ProcessOptions options = shell("(sleep 0.05; echo late) & echo early");
  options.drain = kLimit / 2;  // the end of the pipe ends it
  const ProcessExit result = run(loop, std::move(options));
  CHECK(result.code == 0);
  CHECK(result.out == "early\nlate\n");
  CHECK_FALSE(result.pipes_held);
}

TEST_CASE("programs that cannot be started are told apart, each with its path") {
  EventLoop loop;
  const TempDir folder;
  struct Case {
    std::string path;
    ErrorKind kind;
    std::string says;
  };
  const std::vector<Case> cases = {
      {folder.path + "/missing", ErrorKind::not_found, "no such file"},
      {folder.file("plain", "#!/bin/sh\n", 0644) + "/x", ErrorKind::not_found, "no such file"},
      {folder.file("noexec", "#!/bin/sh\n", 0644), ErrorKind::forbidden, "chmod +x"},
      {folder.path, ErrorKind::forbidden, "folder"},
      {folder.file("noshebang", "echo hi\n", 0755), ErrorKind::invalid, "is the #! line missing?"},
      {folder.file("empty", "", 0755), ErrorKind::invalid, "is the #! line missing?"},
      {folder.file("badint", "#!/no/such/shell -e\n", 0755), ErrorKind::invalid,
       "its interpreter /no/such/shell was not found"},
      {folder.file("dos", "#!/bin/sh\r\n", 0755), ErrorKind::invalid, "carriage return"},
      {"", ErrorKind::invalid, "without a program"},
  };
  for (const Case& c : cases) {
    ProcessOptions options;
    options.argv = {c.path};
    const auto started = Process::start(loop, options, nullptr, nullptr);
    INFO(c.path);
    REQUIRE_FALSE(started.ok());
    INFO(started.error().message());
    CHECK(started.error().kind() == c.kind);
    CHECK(started.error().message().find(c.says) != std::string::npos);
    CHECK(started.error().message().find(c.path) != std::string::npos);
    if (c.path.empty()) continue;
    // The same is told at its end of one that nobody waited for.
    options.ahead = true;
    const ProcessExit ended = run(loop, options);
    REQUIRE(ended.refused);
    CHECK(ended.refused->message() == started.error().message());
    CHECK(ended.refused->kind() == c.kind);
    CHECK_FALSE(ended.code);
  }
  ProcessOptions nowhere = shell("true");
  nowhere.directory = folder.path + "/gone";
  const auto started = Process::start(loop, nowhere, nullptr, nullptr);
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().kind() == ErrorKind::not_found);
  CHECK(started.error().message().find(nowhere.directory) != std::string::npos);
  nowhere.ahead = true;
  const ProcessExit ended = run(loop, nowhere);
  REQUIRE(ended.refused);
  CHECK(ended.refused->message() == started.error().message());
  CHECK(waitpid(-1, nullptr, WNOHANG) <= 0);
}

TEST_CASE("NUL characters and nameless variables are refused before anything runs") {
  using namespace std::string_literals;
  EventLoop loop;
  ProcessOptions argument = shell("true");
  argument.argv.push_back("a\0b"s);
  ProcessOptions variable = shell("true");
  variable.environment.push_back("A=secret\0"s);
  ProcessOptions nameless = shell("true");
  nameless.environment.push_back("=x");
  ProcessOptions bare = shell("true");
  bare.environment.push_back("BARE");
  for (const ProcessOptions& options : {argument, variable, nameless, bare}) {
    const auto started = Process::start(loop, options, nullptr, nullptr);
    REQUIRE_FALSE(started.ok());
    CHECK(started.error().kind() == ErrorKind::invalid);
    CHECK(started.error().message().find("secret") == std::string::npos);
  }
}

TEST_CASE("200 children at once all end as they should, and nothing is left over") {
  EventLoop loop;
  const bool ahead = GENERATE(false, true);
  std::vector<std::unique_ptr<Run>> runs;
  for (int i = 0; i < 200; ++i) {
    auto one = std::make_unique<Run>();
    ProcessOptions options = shell("cat; echo err >&2; exit " + std::to_string(i % 100));
    options.input = std::to_string(i);
    options.ahead = ahead;
    one->start(loop, std::move(options));
    runs.push_back(std::move(one));
  }
  REQUIRE(loop.run_until(
      [&] {
        return std::all_of(runs.begin(), runs.end(), [](auto& r) { return r->exit.has_value(); });
      },
      kLimit));
  for (int i = 0; i < 200; ++i) {
    const Run& one = *runs[static_cast<std::size_t>(i)];
    CHECK(one.exit->code == i % 100);
    CHECK(one.exit->out == std::to_string(i));
    CHECK(one.lines == std::vector<std::string>{"err"});
  }
  runs.clear();
  errno = 0;
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("one that is not waited for is ended like any other, however early") {
  EventLoop loop;
  for (int i = 0; i < 20; ++i) {
    ProcessOptions options = shell("trap '' TERM; sleep 100");
    options.ahead = true;
    options.grace = Duration{50};
    Run terminated;
    terminated.start(loop, options);
    terminated.process->terminate();
    Run destroyed;
    destroyed.start(loop, options);
    destroyed.process.reset();
    terminated.wait(loop);
    CHECK(terminated.exit->canceled);
    CHECK(terminated.exit->signal);
  }
  errno = 0;
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a process says when it has its own memory") {
  EventLoop loop;
  ProcessOptions options = shell("echo; sleep 100");
  Run waited;
  waited.start(loop, options);
  CHECK(waited.process->begun());
  options.ahead = true;
  options.on_output = [](std::string_view) {};
  Run ahead;
  ahead.start(loop, options);
  REQUIRE(loop.run_until([&] { return ahead.process->begun(); }, kLimit));
}

TEST_CASE("a process may be destroyed in its callbacks") {
  EventLoop loop;
  std::unique_ptr<Process> process;
  int exits = 0;
  int lines = 0;
  auto first = Process::start(
      loop, shell("echo a >&2; echo b >&2; sleep 100"),
      [&](std::string_view) {
        ++lines;
        process.reset();
      },
      [&](ProcessExit) { ++exits; });
  REQUIRE(first.ok());
  process = std::move(first).value();
  REQUIRE(loop.run_until([&] { return lines > 0; }, kLimit));
  CHECK(lines == 1);
  CHECK(exits == 0);
  auto second = Process::start(loop, shell("true"), nullptr, [&](ProcessExit) {
    ++exits;
    process.reset();
  });
  REQUIRE(second.ok());
  process = std::move(second).value();
  REQUIRE(loop.run_until([&] { return exits == 1; }, kLimit));
}

TEST_CASE("resource usage and elapsed time are reported") {
  EventLoop loop;
  const ProcessExit result = run(loop, shell("sleep 0.03"));
  CHECK(result.elapsed >= Duration{25});
  CHECK(result.usage.ru_maxrss > 100);
}

}  // namespace
}  // namespace kubewatch::loop
