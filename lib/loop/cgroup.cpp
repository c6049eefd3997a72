// Control files of one folder.
#include "loop/cgroup.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/number_text.hpp"
#include "loop/cgroup_files.hpp"

namespace kubewatch::loop {
namespace {

// What kernels without swap, or before Linux 4.19, do not have.
Result<void> write_if_there(const std::string& path, std::string_view text) {
  auto written = write_cgroup_file(path, text);
  if (!written.ok() && written.error().is_not_found()) return {};
  return written;
}

Result<void> set_limits(const std::string& path, const CgroupLimits& limits) {
  if (limits.memory) {
    KW_TRY(write_cgroup_file(path + "/memory.max", std::to_string(*limits.memory)));
    // What is over the limit is to end, not to go on slowly on a disk.
    KW_TRY(write_if_there(path + "/memory.swap.max", "0"));
    // All of it ends together: half of a hook is nothing that anybody asked for.
    KW_TRY(write_if_there(path + "/memory.oom.group", "1"));
  }
  if (limits.processes) {
    KW_TRY(write_cgroup_file(path + "/pids.max", std::to_string(*limits.processes)));
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> parse_flat_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() <= key.size() || line.substr(0, key.size()) != key || line[key.size()] != ' ') {
      continue;
    }
    line.remove_prefix(key.size() + 1);
    return base::read_number<std::uint64_t>(line);
  }
  return std::nullopt;
}

Result<std::shared_ptr<Cgroup>> Cgroup::open(std::string path, const CgroupLimits& limits,
                                             std::function<void(const std::string&)> gone) {
  KW_TRY(set_limits(path, limits));
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    return Error(ErrorKind::unavailable, "cannot open " + path + ": " + std::strerror(errno));
  }
  std::shared_ptr<Cgroup> out(new Cgroup(std::move(path), limits, std::move(gone)));
  out->folder_ = std::move(folder);
  return out;
}

Cgroup::~Cgroup() {
  if (!folder_) return;
  kill();
  folder_.reset();
  if (gone_) gone_(path_);
}

std::string Cgroup::read(const char* file) const {
  return read_cgroup_file(path_ + "/" + file);
}

CgroupUsage Cgroup::usage() const {
  CgroupUsage out;
  out.cpu = std::chrono::microseconds(
      static_cast<std::int64_t>(parse_flat_key(read("cpu.stat"), "usage_usec").value_or(0)));
  // `oom`, not `oom_kill`: a process that ended because a cgroup above or the machine had no memory
  // left counts as the latter too.
  if (limits_.memory) {
    out.memory_refused = parse_flat_key(read("memory.events"), "oom").value_or(0) > 0;
  }
  if (limits_.processes) {
    out.process_refused = parse_flat_key(read("pids.events"), "max").value_or(0) > 0;
  }
  return out;
}

void Cgroup::kill() const {
  kill_cgroup(path_);
}

}  // namespace kubewatch::loop
