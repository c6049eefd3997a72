#include "e2e/program.hpp"

#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "base/strings.hpp"

namespace kubewatch::e2e {

namespace {

constexpr std::size_t kReportedOut = 4000;
constexpr std::size_t kReportedLines = 40;

}  // namespace

Program::Program(loop::EventLoop& loop, ProgramOptions options) : loop_(loop) {
  loop::ProcessOptions settings;
  settings.argv = std::move(options.argv);
  settings.environment = std::move(options.environment);
  settings.environment.push_back("PATH=" + std::string(::getenv("PATH")));
  settings.timeout = Duration{0};
  settings.max_stdout = 64U << 20U;
  settings.max_stderr_line = 1U << 20U;
  if (options.input) {
    settings.input = std::move(*options.input);
  } else {
    settings.on_output = [this](std::string_view bytes) { out += bytes; };
  }
  auto started = loop::Process::start(
      loop, std::move(settings), [this](std::string_view line) { err.append(line).append("\n"); },
      [this](loop::ProcessExit end) {
        out += end.out;
        exit_ = std::move(end);
      });
  if (!started.ok()) FAIL(started.error().render());
  process_ = std::move(*started);
}

bool Program::until(const std::function<bool()>& holds, Duration deadline) {
  loop_.run_until([&] { return holds() || !running(); }, deadline);
  return holds();
}

bool Program::will_show(const std::string& text, Duration deadline) {
  const bool seen = until([&] { return shows(text); }, deadline);
  if (!seen) UNSCOPED_INFO("not on stdout: " << text << "\n" << printed());
  return seen;
}

bool Program::will_say(const std::string& text, Duration deadline) {
  const bool said = until([&] { return says(text); }, deadline);
  if (!said) UNSCOPED_INFO("not on stderr: " << text << "\n" << printed());
  return said;
}

void Program::signal(int number) const {
  if (running()) ::kill(process_->pid(), number);
}

int Program::code(Duration deadline) {
  const bool ended = loop_.run_until([this] { return !running(); }, deadline);
  const std::string report = printed();
  UNSCOPED_INFO(report);
  REQUIRE(ended);
  UNSCOPED_INFO(report);  // for what the case checks next
  return exit_->code.value_or(-1);
}

int Program::end(int number, Duration deadline) {
  signal(number);
  return code(deadline);
}

Ran Program::ran(Duration deadline) {
  const int ended = code(deadline);
  return {ended, out, err};
}

std::string Program::tail() const {
  const std::vector<std::string> lines = base::split(err, '\n');
  const std::size_t skip = lines.size() - std::min(lines.size(), kReportedLines + 1);
  return base::join({lines.begin() + static_cast<std::ptrdiff_t>(skip), lines.end()}, "\n");
}

std::string Program::printed() const {
  return out.substr(0, kReportedOut) + "\n" + tail();
}

}  // namespace kubewatch::e2e
