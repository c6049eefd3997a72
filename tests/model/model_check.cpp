// model_check --seeds N --from S: runs random schedules and reports what was checked. --seed X runs
// one; --trace prints all of it. A failing seed prints the end of its trace and how to replay it.
// Exit codes: 0 no violation, 1 a violation, 2 wrong usage.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "model/simulation.hpp"

namespace {

using namespace kubewatch::model;

constexpr std::size_t kTraceTail = 60;

struct Arguments {
  std::uint64_t seeds = 200;
  std::uint64_t from = 0;
  bool trace = false;
  bool quiet = false;
};

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--trace") {
      out.trace = true;
      continue;
    }
    if (flag == "--quiet") {
      out.quiet = true;
      continue;
    }
    char* end = nullptr;
    const std::uint64_t value = i + 1 < argc ? std::strtoull(argv[++i], &end, 10) : 0;
    if (end == nullptr || *end != 0 || end == argv[i]) return false;
    if (flag == "--seeds") {
      out.seeds = value;
    } else if (flag == "--from") {
      out.from = value;
    } else if (flag == "--seed") {
      out.from = value;
      out.seeds = 1;
    } else {
      return false;
    }
  }
  return true;
}

void print_violation(const char* program, std::uint64_t seed, const Verdict& first_run,
                     bool whole) {
  const Verdict again = run_schedule(seed, true);
  const std::size_t first =
      whole || again.lines.size() < kTraceTail ? 0 : again.lines.size() - kTraceTail;
  for (std::size_t i = first; i < again.lines.size(); ++i) fmt::print("{}\n", again.lines[i]);
  fmt::print("seed {} violates {}\n", seed, first_run.violation);
  if (again.violation != first_run.violation) {
    fmt::print("run alone it does not: state is shared between schedules\n");
  }
  fmt::print("replay: {} --seed {} --trace\n", program, seed);
}

// False when a guarantee or a fault that many schedules must meet was never met.
bool print_report(const Verdict& all, std::uint64_t seeds, double seconds) {
  fmt::print("{} schedules, no violation, {:.1f} s\n", seeds, seconds);
  fmt::print("checked:\n");
  bool complete = true;
  for (std::size_t i = 0; i < kGuarantees; ++i) {
    fmt::print("  {:<14} {:>12}\n", kGuaranteeNames.at(i), all.checked.at(i));
    complete = complete && all.checked.at(i) > 0;
  }
  fmt::print("faults:\n");
  for (const auto& [name, count] : all.faults) fmt::print("  {:<42} {:>9}\n", name, count);
  constexpr std::uint64_t kEnough = 50;
  if (seeds >= kEnough && !complete) fmt::print("a guarantee was never checked\n");
  return complete || seeds < kEnough;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    fmt::print(stderr,
               "usage: model_check [--seeds N] [--from S] [--seed X] [--trace] [--quiet]\n");
    return 2;
  }
  std::vector<std::string> log;
  kubewatch::base::capture_log(&log);
  const auto begin = std::chrono::steady_clock::now();
  Verdict all;
  for (std::uint64_t seed = arguments.from; seed < arguments.from + arguments.seeds; ++seed) {
    const Verdict one = run_schedule(seed, arguments.trace);
    log.clear();
    if (!one.ok()) {
      print_violation(argv[0], seed, one, arguments.trace);
      return 1;
    }
    if (arguments.trace) {
      for (const auto& line : one.lines) fmt::print("{}\n", line);
    }
    for (std::size_t i = 0; i < kGuarantees; ++i) all.checked.at(i) += one.checked.at(i);
    for (const auto& [name, count] : one.faults) all.faults[name] += count;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (arguments.quiet) return 0;
  return print_report(all, arguments.seeds, took.count()) ? 0 : 1;
}
