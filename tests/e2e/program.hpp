// A program that a case runs as its child: what it has printed so far, and how it ended. Not which
// programs there are: kubewatch_process.hpp, kubectl.hpp.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "e2e/world.hpp"
#include "loop/process.hpp"

namespace kubewatch::e2e {

// What came of a program that has ended.
struct Ran {
  int code = -1;  // also where a signal ended it
  std::string out;
  std::string err;
};

struct ProgramOptions {
  std::vector<std::string> argv;         // the first is a path
  std::vector<std::string> environment;  // beside PATH
  // All that its stdin holds; what it prints to stdout is then there only when it has ended.
  // Without it nothing ever comes from its stdin, not its end either: who reads it hangs.
  std::optional<std::string> input;
};

// Fails the case where the program cannot be started. Destroyed while it runs: it is killed. Its
// waits turn the loop, and end early where it ends: nothing else comes from it then.
class Program {
 public:
  Program(loop::EventLoop& loop, ProgramOptions options);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool running() const { return !exit_; }
  // So far, on stdout and on stderr.
  bool shows(const std::string& text) const { return out.find(text) != std::string::npos; }
  bool says(const std::string& text) const { return err.find(text) != std::string::npos; }
  // The same, waited for.
  bool will_show(const std::string& text, Duration deadline = kSoon);
  bool will_say(const std::string& text, Duration deadline = kSoon);
  bool until(const std::function<bool()>& holds, Duration deadline = kSoon);

  void signal(int number) const;
  // Waits until it has ended; -1 where a signal ended it. One that does not end fails the case.
  int code(Duration deadline = kSoon);
  // The same after a signal.
  int end(int number = SIGTERM, Duration deadline = kSoon);
  // All of it, once it has ended.
  Ran ran(Duration deadline = kSoon);
  // The last lines of `err`, for reports.
  std::string tail() const;

  std::string out;
  std::string err;  // whole lines

 private:
  std::string printed() const;

  loop::EventLoop& loop_;
  std::optional<loop::ProcessExit> exit_;
  std::unique_ptr<loop::Process> process_;
};

}  // namespace kubewatch::e2e
