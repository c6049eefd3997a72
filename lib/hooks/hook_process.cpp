// Binds loop::Process to a rule's hook.
#include "hooks/hook_process.hpp"

#include <algorithm>
#include <chrono>

#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxHeld = 1U << 20U;  // of stderr that waits for its mask
constexpr std::size_t kBurst = 500;
constexpr std::size_t kLinesPerSecond = 100;
constexpr std::size_t kMaxLastLine = 300;

}  // namespace

bool LineLimit::admit(TimePoint now) {
  if (tokens_ < 0) {
    tokens_ = static_cast<double>(burst_);
  } else {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    tokens_ =
        std::min(static_cast<double>(burst_), tokens_ + seconds * static_cast<double>(per_second_));
  }
  last_ = now;
  if (tokens_ < 1) {
    ++dropped_;
    return false;
  }
  tokens_ -= 1;
  return true;
}

HookProcess::HookProcess(loop::EventLoop& loop, HookStart start)
    : loop_(loop),
      fields_(std::move(start.log_fields)),
      mask_(std::move(start.mask)),
      limit_(kBurst, kLinesPerSecond),
      hold_lines_(start.hold_lines) {
  // So that a hook cannot pass its lines off as ours.
  fields_.emplace_back("stream", "stderr");
}

Result<std::unique_ptr<HookProcess>> HookProcess::start(loop::EventLoop& loop, const HookRule& rule,
                                                        HookStart start, OnExit on_exit) {
  loop::ProcessOptions options;
  options.argv = rule.argv;
  options.environment = std::move(start.environment);
  options.directory = rule.directory;
  options.input = std::move(start.input);
  options.input_path_variable = "KW_INPUT";
  options.max_stdout = rule.max_output;
  options.timeout = rule.timeout;
  options.grace = rule.grace;
  std::unique_ptr<HookProcess> self(new HookProcess(loop, std::move(start)));
  HookProcess* raw = self.get();
  KW_ASSIGN(self->process_,
            loop::Process::start(
                loop, std::move(options), [raw](std::string_view line) { raw->on_line(line); },
                [raw, on_exit = std::move(on_exit)](loop::ProcessExit exit) {
                  raw->on_end(exit);
                  on_exit(std::move(exit));
                }));
  return self;
}

void HookProcess::terminate() {
  process_->terminate();
}

void HookProcess::on_line(std::string_view line) {
  if (!hold_lines_) return log_line(line);
  if (held_bytes_ + line.size() > kMaxHeld) {
    ++too_many_;
    return;
  }
  held_bytes_ += line.size();
  held_.emplace_back(line);
}

void HookProcess::release(const SecretMask& mask) {
  mask_ = mask;
  for (const std::string& line : held_) log_line(line);
  held_.clear();
  if (too_many_ > 0) {
    base::log_warn(std::to_string(too_many_) + " lines of stderr were left out: too long together",
                   fields_);
  }
}

void HookProcess::log_line(std::string_view line) {
  std::string text = mask_.mask(line);
  if (!base::trim(text).empty()) last_line_ = text.substr(0, kMaxLastLine);
  tail_.add(text);
  if (limit_.admit(loop_.now())) base::log_info(text, fields_);
}

void HookProcess::on_end(const loop::ProcessExit& exit) {
  if (limit_.dropped() > 0) {
    base::log_warn(std::to_string(limit_.dropped()) + " lines of stderr were left out: too many",
                   fields_);
  }
  if (exit.pipes_held) {
    base::log_warn("the hook ended, but a process that it left behind kept its output open",
                   fields_);
  }
}

}  // namespace kubewatch::hooks
