#include "cli/kustomize.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/cut_text.hpp"
#include "base/find_program.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "client/ends_with_us.hpp"
#include "loop/process.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kLimit{60000};
constexpr std::size_t kMaxOutput = 64U << 20U;
constexpr std::size_t kMaxLines = 20;
constexpr std::size_t kMaxLine = 1000;

std::vector<std::string> our_environment() {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) out.emplace_back(*one);
  return out;
}

Result<std::vector<std::string>> command_for(const std::string& folder) {
  if (const auto found = base::find_program("kustomize"); !found.empty()) {
    return std::vector<std::string>{found, "build", "--", folder};
  }
  if (const auto found = base::find_program("kubectl"); !found.empty()) {
    return std::vector<std::string>{found, "kustomize", "--", folder};
  }
  return Error(
      ErrorKind::unsupported,
      fmt::format("-k {}: neither kustomize nor kubectl is in $PATH; install one, or build "
                  "the files elsewhere and give them with -f",
                  folder));
}

// The first of what it says on stderr.
struct Remarks {
  std::vector<std::string> lines;
  std::size_t more = 0;

  void add(std::string_view line) {
    if (lines.size() == kMaxLines) {
      ++more;
    } else {
      lines.push_back(base::cut_text(std::string(line), kMaxLine));
    }
  }
};

// What it warns of although it did its work: a field that is deprecated, a patch without a target.
void pass_on(const Remarks& remarks) {
  for (const auto& line : remarks.lines) base::log_warn("-k: " + line);
  if (remarks.more > 0) base::log_warn(fmt::format("-k: {} more lines", remarks.more));
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
                      lines.empty() ? "it said nothing" : base::join(lines, "\n  "))};
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
  Remarks remarks;
  std::optional<loop::ProcessExit> exit;
  std::unique_ptr<loop::Process> process;
  // No command hears signals yet where it reads its files.
  std::optional<client::EndsWithUs> ends_with_us;
  {
    const client::HeldSignals held;
    KW_ASSIGN(process, loop::Process::start(
                           loop, std::move(options),
                           [&remarks](std::string_view line) { remarks.add(line); },
                           [&exit](loop::ProcessExit ended) { exit = std::move(ended); }));
    ends_with_us.emplace(process->pid());
  }
  while (!exit) loop.run_until([&] { return exit.has_value(); }, kLimit);
  ends_with_us.reset();
  if (exit->code != 0 || exit->timed_out || exit->output_overflow) {
    return failed(command, *exit, remarks.lines);
  }
  pass_on(remarks);
  return parse_manifests(exit->out, "-k " + folder);
}

}  // namespace kubewatch::cli
