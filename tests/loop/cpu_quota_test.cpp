#include "loop/cpu_quota.hpp"

#include <map>

#include "support/catch.hpp"

using namespace kubewatch::loop;

namespace {

ReadText from(std::map<std::string, std::string> files) {
  return [files = std::move(files)](const std::string& path) -> std::optional<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return std::nullopt;
    return it->second;
  };
}

}  // namespace

TEST_CASE("cpu.max is read, and what it cannot be is no quota") {
  CHECK(parse_cpu_max("200000 100000\n") == std::optional<double>(2.0));
  CHECK(parse_cpu_max("50000 100000") == std::optional<double>(0.5));
  for (const char* text : {"max 100000\n", "", "x y", "100000", "0 100000", "100000 0", "-1 5"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_max(text));
  }
}

TEST_CASE("the smallest quota on the way up counts, of either version") {
  CHECK_FALSE(cpu_quota(from({})));
  CHECK_FALSE(cpu_quota(from({{"/proc/self/cgroup", "0::/\n"}})));
  CHECK(cpu_quota(from({{"/proc/self/cgroup", "0::/a.slice/b.service\n"},
                        {"/sys/fs/cgroup/a.slice/cpu.max", "150000 100000"},
                        {"/sys/fs/cgroup/a.slice/b.service/cpu.max", "400000 100000"}})) ==
        std::optional<double>(1.5));
  // In a container.
  CHECK(cpu_quota(from({{"/proc/self/cgroup", "0::/../../x\n0::/\n"},
                        {"/sys/fs/cgroup/cpu.max", "100000 100000"}})) ==
        std::optional<double>(1.0));
  CHECK(cpu_quota(from({{"/proc/self/cgroup", "4:memory:/\n3:cpu,cpuacct:/docker/x\n"},
                        {"/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "300000\n"},
                        {"/sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n"}})) ==
        std::optional<double>(3.0));
  CHECK_FALSE(cpu_quota(from({{"/proc/self/cgroup", "3:cpu:/\n"},
                              {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                              {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}})));
}

TEST_CASE("this process may use a CPU") {
  CHECK(usable_cpu().cpus >= 1);
}
