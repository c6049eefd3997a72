#include "cli/kustomize.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "base/strings.hpp"
#include "cli/find_program.hpp"
#include "loop/process.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kLimit{60000};
constexpr std::size_t kMaxOutput = 64U << 20U;
constexpr std::size_t kMaxLines = 20;

std::vector<std::string> our_environment() {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) out.emplace_back(*one);
  return out;
}

Result<std::vector<std::string>> command_for(const std::string& folder) {
  if (const auto found = find_program("kustomize"); !found.empty()) {
    return std::vector<std::string>{found, "build", "--", folder};
  }
  if (const auto found = find_program("kubectl"); !found.empty()) {
    return std::vector<std::string>{found, "kustomize", "--", folder};
  }
  return Error(
      ErrorKind::unsupported,
      fmt::format("-k {}: neither kustomize nor kubectl is in $PATH; install one, or build "
                  "the files elsewhere and give them with -f",
                  folder));
}

Error failed(const std::string& command, const loop::ProcessExit& exit,
             const std::vector<std::string>& lines) {
  if (exit.timed_out) {
    return {ErrorKind::timeout, fmt::format("{} did not end within a minute", command)};
  }
  if (exit.output_overflow) {
    return {ErrorKind::too_large, fmt::format("{} printed more than 64 MiB", command)};
  }
  const std::string how = exit.code ? fmt::format("exit code {}", *exit.code)
                                    : fmt::format("signal {}", exit.signal.value_or(0));
  return {ErrorKind::invalid,
          fmt::format("{} failed with {}: {}", command, how,
                      lines.empty() ? "it said nothing" : base::join(lines, "\n"))};
}

}  // namespace

Result<std::vector<Manifest>> build_kustomization(loop::EventLoop& loop,
                                                  const std::string& folder) {
  loop::ProcessOptions options;
  KW_ASSIGN(options.argv, command_for(folder));
  const std::string command = base::join(options.argv, " ");
  options.environment = our_environment();
  options.max_stdout = kMaxOutput;
  options.timeout = kLimit;
  std::vector<std::string> lines;
  std::optional<loop::ProcessExit> exit;
  KW_ASSIGN(const auto process, loop::Process::start(
                                    loop, std::move(options),
                                    [&](std::string_view line) {
                                      if (lines.size() < kMaxLines) lines.emplace_back(line);
                                    },
                                    [&](loop::ProcessExit ended) { exit = std::move(ended); }));
  while (!exit) loop.run_until([&] { return exit.has_value(); }, kLimit);
  if (exit->code != 0 || exit->timed_out || exit->output_overflow) {
    return failed(command, *exit, lines);
  }
  return parse_manifests(exit->out, "-k " + folder);
}

}  // namespace kubewatch::cli
