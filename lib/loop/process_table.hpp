// What processes use, from /proc: of whole groups with all their descendants, and of one process.
// Parsing is pure; reading is a scan.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace kubewatch::loop {

// Of the ancestors of a process so many are looked at: what is read while processes come and go may
// hold a ring.
inline constexpr int kMaxDescent = 64;

struct ProcessRow {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::uint64_t start = 0;  // as ticks_now() (orphans.hpp)
  Duration cpu{0};          // with that of children it waited for
  std::string name;
  bool zombie() const { return state == 'Z' || state == 'X'; }
};

// The text of /proc/PID/stat. Absent: not such a text.
std::optional<ProcessRow> parse_process_stat(std::string_view text, long ticks_per_second);
// Absent: it is gone.
std::optional<ProcessRow> process_row(pid_t pid);
// The text of /proc/PID/statm: memory that is no file's and not shared, in pages.
std::optional<std::uint64_t> parse_own_pages(std::string_view text);
// The value of a line of /proc/PID/status or smaps_rollup ("RssShmem:     4 kB"), in bytes.
std::optional<std::uint64_t> parse_memory_line(std::string_view text, std::string_view name);

struct GroupUsage {
  std::uint64_t memory = 0;  // bytes: resident, shared memory too, without what belongs to files
  Duration cpu{0};
  std::size_t processes = 0;
  // The kernel ended a process that had left group and parent because of its own limit of CPU
  // seconds. The kernel counts by ticks, so that `cpu` may be less.
  bool cpu_limit = false;
};

// The leader that each row belongs to, by process group or by descent, also from one of `orphans`,
// whose leaders are known although they are not among its ancestors any more; 0 = none of them.
std::vector<pid_t> leaders_of(const std::vector<ProcessRow>& rows,
                              const std::vector<pid_t>& leaders,
                              const std::map<pid_t, pid_t>& orphans = {});

// One scan of /proc for all of them. A leader that is not found has no entry.
std::map<pid_t, GroupUsage> measure_groups(const std::vector<pid_t>& leaders);

// Who is in a process group besides its leader, zombies too; by number. A scan of /proc.
std::vector<pid_t> members_of_group(pid_t leader);

// A child of ours that has ended, reaped or not.
bool has_exited(pid_t child);

// Of the process alone. Absent: it is gone.
std::optional<std::chrono::nanoseconds> cpu_time_of(pid_t pid);
// The most it ever had resident, in bytes; 0 = unknown.
std::uint64_t peak_memory_of(pid_t pid);

}  // namespace kubewatch::loop
