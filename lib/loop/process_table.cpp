// A scan costs some microseconds for each process of the machine: who calls it, calls it seldom.
#include "loop/process_table.hpp"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/number_text.hpp"
#include "loop/orphans.hpp"
#include "loop/proc_files.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::size_t kFields = 20;  // of stat, behind the name
// Of less it does not matter how many processes share it.
constexpr std::uint64_t kLittleShared = 1U << 20U;

template <class Int>
bool to_number(std::string_view text, Int& out) {
  const auto read = base::read_number<Int>(text);
  if (read) out = *read;
  return read.has_value();
}

// Words between single spaces, at most `max` of them.
std::vector<std::string_view> words(std::string_view text, std::size_t max) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() < max) {
    const std::size_t end = text.find_first_of(" \n");
    if (end != 0) out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::vector<ProcessRow> read_table() {
  std::vector<ProcessRow> out;
  for (const pid_t pid : pids_from(0)) {
    if (auto row = process_row(pid)) out.push_back(std::move(*row));
  }
  return out;
}

// Memory that several processes share, as a forked child and its parent, counts once: each has its
// part of it.
std::uint64_t shared_memory_of(pid_t pid) {
  const auto resident = parse_memory_line(read_proc(pid, "status"), "RssShmem:").value_or(0);
  if (resident <= kLittleShared) return resident;
  return parse_memory_line(read_proc(pid, "smaps_rollup"), "Pss_Shmem:").value_or(resident);
}

// Children of ours that were others' before: their leaders, by the mark that they carry.
std::map<pid_t, pid_t> find_orphans(const std::vector<ProcessRow>& rows,
                                    const std::vector<pid_t>& leaders) {
  const pid_t self = getpid();
  std::map<pid_t, pid_t> out;
  for (const ProcessRow& row : rows) {
    const auto is_leader = [&](pid_t pid) {
      return std::find(leaders.begin(), leaders.end(), pid) != leaders.end();
    };
    if (row.parent != self || is_leader(row.pid) || is_leader(row.group)) continue;
    const pid_t leader = leader_of_orphan(row.pid);
    if (is_leader(leader)) out[row.pid] = leader;
  }
  return out;
}

}  // namespace

// "pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
// cutime cstime priority nice threads itrealvalue starttime ..."; the name may hold anything.
std::optional<ProcessRow> parse_process_stat(std::string_view text, long ticks_per_second) {
  const std::size_t name = text.find(" (");
  const std::size_t name_end = text.rfind(')');
  if (name == std::string_view::npos || name_end == std::string_view::npos) return std::nullopt;
  ProcessRow out;
  const auto rest = words(text.substr(name_end + 1), kFields);
  if (rest.size() < kFields || !to_number(text.substr(0, name), out.pid) ||
      !to_number(rest[1], out.parent) || !to_number(rest[2], out.group) ||
      !to_number(rest[3], out.session) || !to_number(rest[19], out.start)) {
    return std::nullopt;
  }
  out.name = text.substr(name + 2, name_end - name - 2);
  out.state = rest[0].front();
  std::int64_t ticks = 0;
  for (std::size_t i = 11; i < 15; ++i) {
    std::int64_t part = 0;
    if (!to_number(rest[i], part)) return std::nullopt;
    ticks += part;
  }
  out.cpu = Duration{ticks * 1000 / ticks_per_second};
  return out;
}

std::optional<ProcessRow> process_row(pid_t pid) {
  static const long ticks = sysconf(_SC_CLK_TCK);
  return parse_process_stat(read_proc(pid, "stat"), ticks);
}

std::optional<std::uint64_t> parse_own_pages(std::string_view text) {
  const auto parts = words(text, 3);
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (parts.size() < 3 || !to_number(parts[1], resident) || !to_number(parts[2], shared)) {
    return std::nullopt;
  }
  return resident > shared ? resident - shared : 0;
}

std::optional<std::uint64_t> parse_memory_line(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  if (at != 0) {
    at = text.find("\n" + std::string(name));
    if (at == std::string_view::npos) return std::nullopt;
    ++at;
  }
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t kib = 0;
  if (!to_number(text.substr(0, text.find(' ')), kib)) return std::nullopt;
  return kib * 1024;
}

std::vector<pid_t> leaders_of(const std::vector<ProcessRow>& rows,
                              const std::vector<pid_t>& leaders,
                              const std::map<pid_t, pid_t>& orphans) {
  std::unordered_map<pid_t, const ProcessRow*> by_pid;
  for (const ProcessRow& row : rows) by_pid[row.pid] = &row;
  std::unordered_map<pid_t, bool> is_leader;
  for (const pid_t leader : leaders) is_leader[leader] = true;
  std::vector<pid_t> out;
  out.reserve(rows.size());
  for (const ProcessRow& row : rows) {
    pid_t found = is_leader.count(row.group) != 0 ? row.group : 0;
    const ProcessRow* at = &row;
    for (int i = 0; found == 0 && at != nullptr && i < kMaxDescent; ++i) {
      if (is_leader.count(at->pid) != 0) found = at->pid;
      if (const auto orphan = orphans.find(at->pid); orphan != orphans.end()) {
        found = orphan->second;
      }
      const auto parent = by_pid.find(at->parent);
      at = parent == by_pid.end() ? nullptr : parent->second;
    }
    out.push_back(found);
  }
  return out;
}

std::map<pid_t, GroupUsage> measure_groups(const std::vector<pid_t>& leaders) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::vector<ProcessRow> rows = read_table();
  const std::map<pid_t, pid_t> orphans = find_orphans(rows, leaders);
  const std::vector<pid_t> belongs = leaders_of(rows, leaders, orphans);
  std::map<pid_t, GroupUsage> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (belongs[i] == 0) continue;
    GroupUsage& usage = out[belongs[i]];
    usage.cpu += rows[i].cpu;
    if (rows[i].zombie()) {
      const bool orphan = orphans.count(rows[i].pid) != 0;
      usage.cpu_limit = usage.cpu_limit || (orphan && ended_by_cpu_limit(rows[i].pid));
      continue;
    }
    ++usage.processes;
    usage.memory += parse_own_pages(read_proc(rows[i].pid, "statm")).value_or(0) * page;
    usage.memory += shared_memory_of(rows[i].pid);
  }
  for (auto& [leader, usage] : out) {
    const ReapedOrphans reaped = reaped_orphans(leader);
    usage.cpu += std::chrono::duration_cast<Duration>(reaped.cpu);
    usage.cpu_limit = usage.cpu_limit || reaped.cpu_limit;
  }
  return out;
}

std::vector<pid_t> members_of_group(pid_t leader) {
  std::vector<pid_t> out;
  for (const ProcessRow& row : read_table()) {
    if (row.group == leader && row.pid != leader) out.push_back(row.pid);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool has_exited(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

std::optional<std::chrono::nanoseconds> cpu_time_of(pid_t pid) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::uint64_t peak_memory_of(pid_t pid) {
  return parse_memory_line(read_proc(pid, "status"), "VmHWM:").value_or(0);
}

}  // namespace kubewatch::loop
