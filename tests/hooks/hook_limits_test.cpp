// Limits against what hooks use, and what /proc says of that.
#include "hooks/hook_limits.hpp"

#include <csignal>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

HookLimits limits() {
  HookLimits out;
  out.memory = 256U << 20U;
  out.cpu = Duration{10000};
  out.processes = 3;
  return out;
}

loop::ProcessRow row(pid_t pid, pid_t parent, pid_t group) {
  loop::ProcessRow out;
  out.pid = pid;
  out.parent = parent;
  out.group = group;
  return out;
}

}  // namespace

TEST_CASE("what is used is over a limit only when it is more") {
  CHECK(over_limit(limits(), loop::GroupUsage{256U << 20U, Duration{10000}, 3}).empty());
  CHECK(over_limit(limits(), loop::GroupUsage{(256U << 20U) + 1, Duration{0}, 1}) ==
        "more than limits.memory 256Mi");
  CHECK(over_limit(limits(), loop::GroupUsage{0, Duration{10010}, 1}) ==
        "more than limits.cpu 10s");
  CHECK(over_limit(limits(), loop::GroupUsage{0, Duration{0}, 4}) ==
        "more than limits.processes 3");
  CHECK(over_limit(limits(), loop::GroupUsage{0, Duration{9100}, 1, true}) ==
        "more than limits.cpu 10s");
  CHECK(over_limit({}, loop::GroupUsage{0, Duration{9100}, 1, true}).empty());
  CHECK(over_limit({}, loop::GroupUsage{1U << 30U, Duration{1000000}, 1000}).empty());
}

TEST_CASE("what the cgroup of a hook refused, and counts, is said in the same words") {
  using namespace std::chrono_literals;
  CHECK(over_limit(limits(), loop::CgroupUsage{10s, false, false}).empty());
  CHECK(over_limit(limits(), loop::CgroupUsage{0s, true, false}) ==
        "more than limits.memory 256Mi");
  CHECK(over_limit(limits(), loop::CgroupUsage{0s, false, true}) == "more than limits.processes 3");
  CHECK(over_limit(limits(), loop::CgroupUsage{10010ms, false, false}) ==
        "more than limits.cpu 10s");
  CHECK(over_limit({}, loop::CgroupUsage{10010ms, true, true}).empty());
}

TEST_CASE("a cgroup keeps what it has the controllers for, the rest is looked at") {
  const loop::CgroupLimits both = kept_by_cgroup(limits(), {true, true});
  CHECK(both.memory == std::optional<std::uint64_t>(256U << 20U));
  CHECK(both.processes == std::optional<std::uint64_t>(3));
  CHECK_FALSE(left_by_cgroup(limits(), both).any());

  const loop::CgroupLimits memory = kept_by_cgroup(limits(), {true, false});
  CHECK(memory.memory);
  CHECK_FALSE(memory.processes);
  const HookLimits left = left_by_cgroup(limits(), memory);
  CHECK(left.processes == 3);
  CHECK(left.memory == 0);
  CHECK(left.cpu == Duration{0});  // any cgroup counts it

  HookLimits cpu;
  cpu.cpu = Duration{1000};
  CHECK_FALSE(kept_by_cgroup(cpu, {true, true}).memory);
  CHECK_FALSE(kept_by_cgroup(cpu, {true, true}).processes);
}

TEST_CASE("an end by the kernel's own count of CPU seconds is told from other signals") {
  const std::string wanted = "more than limits.cpu 10s";
  CHECK(over_cpu_limit(limits(), {10.0, {}, SIGXCPU}) == wanted);
  CHECK(over_cpu_limit(limits(), {10.0, 128 + SIGXCPU, {}}) == wanted);
  CHECK(over_cpu_limit(limits(), {11.0, {}, SIGKILL}) == wanted);
  CHECK(over_cpu_limit(limits(), {1.0, {}, SIGKILL}).empty());
  CHECK(over_cpu_limit(limits(), {11.0, 0, {}}).empty());
  CHECK(over_cpu_limit({}, {11.0, {}, SIGXCPU}).empty());
}

TEST_CASE("a peak that may be ours is not taken for the hook's") {
  CHECK(own_peak(50U << 20U, 20U << 20U) == 50U << 20U);
  CHECK(own_peak(20U << 20U, 20U << 20U) == 0);
  CHECK(own_peak(3U << 20U, 20U << 20U) == 0);
}

TEST_CASE("sizes are said as they are written") {
  CHECK(format_size(256U << 20U) == "256Mi");
  CHECK(format_size(65536) == "64Ki");
  CHECK(format_size(1000) == "1000");
  CHECK(format_size(std::size_t{1} << 40U) == "1Ti");
}

TEST_CASE("a stat line is read whatever the name of its process holds") {
  const auto read = loop::parse_process_stat(
      "77 (a) b (c) S 70 71 60 0 -1 4194304 1 2 3 4 100 50 25 25 20 0 1 0 5 6 7 8\n", 100);
  REQUIRE(read);
  CHECK(read->pid == 77);
  CHECK(read->parent == 70);
  CHECK(read->group == 71);
  CHECK(read->cpu == Duration{2000});
  CHECK(read->session == 60);
  CHECK(read->state == 'S');
  CHECK(read->start == 5);
  CHECK(read->name == "a) b (c");
  CHECK_FALSE(read->zombie());
  CHECK(loop::parse_process_stat("7 (a) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 9", 100)->zombie());
  CHECK_FALSE(loop::parse_process_stat("7 (a) S 1", 100));
  CHECK_FALSE(loop::parse_process_stat("", 100));
  CHECK(loop::parse_own_pages("1000 300 120 1 0 200 0\n") == std::optional<std::uint64_t>(180));
  CHECK_FALSE(loop::parse_own_pages("1000"));
  const std::string status = "Name:\tRssShmem: 7 kB\nRssFile:\t  3 kB\nRssShmem:\t  12 kB\nA:\t1\n";
  CHECK(loop::parse_memory_line(status, "RssShmem:") == std::optional<std::uint64_t>(12 * 1024));
  CHECK(loop::parse_memory_line("Pss: 2 kB\n", "Pss:") == std::optional<std::uint64_t>(2 * 1024));
  CHECK_FALSE(loop::parse_memory_line(status, "Pss_Shmem:"));
  CHECK_FALSE(loop::parse_memory_line("RssShmem:", "RssShmem:"));
}

TEST_CASE("a process belongs to a hook by its group, or by descent when it left the group") {
  const std::vector<loop::ProcessRow> rows = {row(10, 1, 10),  row(11, 10, 10), row(12, 11, 12),
                                              row(13, 12, 12), row(20, 1, 20),  row(30, 30, 30),
                                              row(14, 1, 10)};
  CHECK(loop::leaders_of(rows, {10, 20}) == std::vector<pid_t>{10, 10, 10, 10, 20, 0, 10});
}

TEST_CASE(
    "a process whose parent is gone belongs to the hook whose mark it carries, with its children") {
  const std::vector<loop::ProcessRow> rows = {row(10, 1, 10), row(20, 1, 20), row(30, 1, 30),
                                              row(31, 30, 30), row(40, 1, 40)};
  CHECK(loop::leaders_of(rows, {10, 20}, {{30, 20}}) == std::vector<pid_t>{10, 20, 20, 20, 0});
}

TEST_CASE("the rule says how its limits apply") {
  HookRule hook;
  CHECK(how_limits_apply(hook, {}).empty());
  hook.limits = limits();
  CHECK(how_limits_apply(hook, {}).find("memory, processes, cpu: by looking at") == 0);
  CHECK(how_limits_apply(hook, {}).find("RLIMIT_CPU") != std::string::npos);
  CHECK(how_limits_apply(hook, {}).find("cgroup") == std::string::npos);
  hook.mode = HookMode::worker;
  CHECK(how_limits_apply(hook, {}).find("RLIMIT_CPU") == std::string::npos);
}

TEST_CASE("the rule says which limits a cgroup keeps, or why none does") {
  HookRule hook;
  hook.limits = limits();
  const CgroupWay both{"/sys/fs/cgroup/kubewatch.7", {true, true}, ""};
  CHECK(
      how_limits_apply(hook, both) ==
      "memory, processes: by the kernel (cgroup v2, /sys/fs/cgroup/kubewatch.7); cpu: by what its "
      "cgroup counts; cpu: of each process by the kernel (RLIMIT_CPU) as well");
  CHECK(how_limits_apply(hook, {"/x", {true, false}, ""}) ==
        "memory: by the kernel (cgroup v2, /x); cpu: by what its cgroup counts; processes: by "
        "looking at its processes in /proc; cpu: of each process by the kernel (RLIMIT_CPU) as "
        "well");
  const CgroupWay none{"", {}, "/y is not delegated"};
  CHECK(how_limits_apply(hook, none) ==
        "memory, processes, cpu: by looking at its processes in /proc; cpu: of each process by the "
        "kernel (RLIMIT_CPU) as well; no cgroup: /y is not delegated");
  // Of CPU seconds alone a cgroup would keep nothing.
  hook.limits = {};
  hook.limits.cpu = Duration{1000};
  hook.mode = HookMode::worker;
  CHECK(how_limits_apply(hook, both) == "cpu: by looking at its processes in /proc");
  CHECK(how_limits_apply(hook, none) == "cpu: by looking at its processes in /proc");
}
