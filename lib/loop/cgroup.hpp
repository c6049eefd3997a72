// One cgroup (v2) for one child and all that it starts: its limits, what it has used, its end.
// Made by CgroupTree. Only user of the control files of a single run.
// Sources: cgroup-v2.rst, "Core Interface Files", "Memory Interface Files", "PID Interface Files",
// "CPU Interface Files".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

struct CgroupLimits {
  std::optional<std::uint64_t> memory;     // bytes; swap is not used beside it
  std::optional<std::uint64_t> processes;  // the kernel counts each thread as one
};

struct CgroupUsage {
  std::chrono::microseconds cpu{0};  // of all that ever ran in it, ended or not
  // The limit was reached and what was needed beyond it could not be had.
  bool memory_refused = false;
  // A process or thread was not made because of the limit. Before Linux 6.11 a limit further up
  // counts here as well.
  bool process_refused = false;
};

// The number behind `key` in lines of "key number"; absent: it has no such line.
std::optional<std::uint64_t> parse_flat_key(std::string_view text, std::string_view key);

class Cgroup {
 public:
  // A fresh, empty folder gets its limits. `gone` is told the path when this ends: nobody is in it
  // any more, or is about to die; removing it is theirs. Errors: unavailable, naming the file.
  static Result<std::shared_ptr<Cgroup>> open(std::string path, const CgroupLimits& limits,
                                              std::function<void(const std::string&)> gone);
  // Kills what is left.
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  const CgroupLimits& limits() const { return limits_; }
  // The folder, for clone3.
  int fd() const { return folder_.get(); }
  // Some microseconds. What cannot be read has not happened.
  CgroupUsage usage() const;
  // All that is in it, wherever it has moved itself among groups, sessions and parents.
  void kill() const;

 private:
  Cgroup(std::string path, CgroupLimits limits, std::function<void(const std::string&)> gone)
      : path_(std::move(path)), limits_(limits), gone_(std::move(gone)) {}
  std::string read(const char* file) const;

  std::string path_;
  CgroupLimits limits_;
  std::function<void(const std::string&)> gone_;
  Fd folder_;
};

}  // namespace kubewatch::loop
