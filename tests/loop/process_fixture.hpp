// Runs /bin/sh lines and small script files to their end. Header only.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/event_loop.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::loop {

struct TempDir {
  TempDir() {
    std::string name = "/tmp/kw-loop-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempDir() { static_cast<void>(std::system(("rm -rf " + path).c_str())); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string file(const std::string& name, const std::string& content, mode_t mode) const {
    const std::string full = path + "/" + name;
    std::ofstream(full) << content;
    chmod(full.c_str(), mode);
    return full;
  }
  std::string path;
};

inline ProcessOptions shell(const std::string& line) {
  ProcessOptions options;
  options.argv = {"/bin/sh", "-c", line};
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

struct Run {
  std::vector<std::string> lines;
  std::optional<ProcessExit> exit;
  std::unique_ptr<Process> process;

  void start(EventLoop& loop, ProcessOptions options) {
    auto started = Process::start(
        loop, std::move(options), [this](std::string_view line) { lines.emplace_back(line); },
        [this](ProcessExit result) { exit.emplace(std::move(result)); });
    if (!started.ok()) FAIL(started.error().render());
    process = std::move(started).value();
    CHECK_FALSE(exit.has_value());
  }
  void wait(EventLoop& loop) {
    REQUIRE(loop.run_until([this] { return exit.has_value(); }, kLimit));
  }
};

inline ProcessExit run(EventLoop& loop, ProcessOptions options) {
  Run run;
  run.start(loop, std::move(options));
  run.wait(loop);
  return std::move(*run.exit);
}

inline bool is_alive(pid_t pid) {
  if (kill(pid, 0) != 0) return false;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

}  // namespace kubewatch::loop
