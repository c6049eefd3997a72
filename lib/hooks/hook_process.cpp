// Binds loop::Process to a rule's hook.
#include "hooks/hook_process.hpp"

#include <chrono>
#include <utility>

#include "hooks/verdict.hpp"

namespace kubewatch::hooks {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t bytes_of(long kib) {
  return static_cast<std::uint64_t>(kib) * 1024;
}

loop::ProcessOptions options_of(const HookRule& rule, HookStart& start,
                                const std::shared_ptr<loop::Cgroup>& cgroup) {
  loop::ProcessOptions options;
  options.argv = rule.argv;
  options.environment = std::move(start.environment);
  options.directory = rule.directory;
  options.input = std::move(start.input);
  options.input_path_variable = "KW_INPUT";
  options.ahead = true;
  options.max_stdout = rule.max_output;
  options.keep_begun = true;
  options.timeout = rule.timeout;
  options.grace = rule.grace;
  if (rule.limits.cpu > Duration{0}) {
    // Whole seconds; what is finer, and the sum over its processes, is watched.
    options.limits.cpu_seconds = static_cast<std::uint64_t>(
        std::chrono::ceil<std::chrono::seconds>(rule.limits.cpu).count());
    // What its cgroup counts is exact. Of a child that this ended first, which counts by ticks,
    // the cgroup would have less than the limit, and the hook would wait for it in vain.
    if (cgroup) ++*options.limits.cpu_seconds;
  }
  options.cgroup = cgroup;
  return options;
}

constexpr double kStdoutBurst = 1000;  // it is all that such a hook says

}  // namespace

std::uint64_t peak_of_child(const rusage& usage) {
  rusage ours{};
  getrusage(RUSAGE_SELF, &ours);
  return own_peak(bytes_of(usage.ru_maxrss), bytes_of(ours.ru_maxrss));
}

double cpu_of_child(const rusage& usage) {
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

HookProcess::Printed::Printed(const HookStart& start, std::size_t max_line)
    : log(start.log_fields, start.mask, start.hold_lines, "stdout", kStdoutBurst),
      lines(max_line) {}

void HookProcess::Printed::take(std::string_view bytes, TimePoint now) {
  lines.feed(bytes, [&](std::string_view line, std::string_view) {
    if (!line.empty()) log.line(line, now);
    return true;
  });
}

void HookProcess::Printed::end(TimePoint now, bool cut) {
  lines.finish([&](std::string_view line, std::string_view) {
    log.line(line, now, cut);
    return true;
  });
  log.end();
}

HookProcess::HookProcess(loop::EventLoop& loop, const HookRule& rule, HookStart start)
    : loop_(loop),
      printed_(rule.output_manifests
                   ? std::nullopt
                   : std::optional<Printed>(std::in_place, start,
                                            loop::ProcessOptions().max_stderr_line)),
      log_(std::move(start.log_fields), std::move(start.mask), start.hold_lines,
           std::move(start.stream)) {}

Result<std::unique_ptr<HookCall>> HookProcess::start(loop::EventLoop& loop, LimitGuard& guard,
                                                     const HookRule& rule, HookStart start,
                                                     OnExit on_exit,
                                                     std::shared_ptr<loop::Cgroup> cgroup) {
  loop::ProcessOptions options = options_of(rule, start, cgroup);
  std::unique_ptr<HookProcess> self(new HookProcess(loop, rule, std::move(start)));
  self->cgroup_ = std::move(cgroup);
  HookProcess* raw = self.get();
  if (raw->printed_) {
    options.talks = false;
    options.on_output = [raw](std::string_view bytes) {
      raw->printed_->take(bytes, raw->loop_.now());
    };
  }
  KW_ASSIGN(self->process_,
            loop::Process::start(
                loop, std::move(options),
                [raw](std::string_view line) { raw->log_.line(line, raw->loop_.now()); },
                [raw, &rule, on_exit = std::move(on_exit)](loop::ProcessExit exit) {
                  on_exit(raw->on_end(std::move(exit), rule));
                }));
  self->watched_ = guard.watch(
      raw->process_->pid(), rule.limits,
      [raw](std::string why) {
        raw->over_limit_ = std::move(why);
        raw->process_->kill();
      },
      [raw] { return raw->process_->begun(); }, self->cgroup_);
  return std::unique_ptr<HookCall>(std::move(self));
}

HookExit HookProcess::on_end(loop::ProcessExit exit, const HookRule& rule) {
  watched_.reset();
  HookExit out(std::move(exit));
  out.cpu = cpu_of_child(out.usage);
  out.max_rss = peak_of_child(out.usage);
  judge_limits(out, rule);
  if (!out.begun.empty()) log_.line(out.begun, loop_.now(), !why_cut_off(out).empty());
  log_.end();
  if (printed_) printed_->end(loop_.now(), !why_cut_off(out).empty());
  if (out.pipes_held) {
    base::log_warn("the hook ended, but a process that it left behind kept its output open",
                   log_.fields());
  }
  return out;
}

// The kernel ends what is over a limit of its cgroup before anybody looks.
void HookProcess::judge_limits(HookExit& exit, const HookRule& rule) {
  exit.over_limit = std::move(over_limit_);
  if (exit.over_limit.empty() && cgroup_) {
    loop::CgroupUsage usage = cgroup_->usage();
    usage.cpu = {};  // it ended by itself: what it used since the last look is no reason
    exit.over_limit = over_limit(rule.limits, usage);
    if (!exit.over_limit.empty()) exit.refused.reset();  // no memory to become its program
  }
  if (exit.over_limit.empty()) {
    exit.over_limit = over_cpu_limit(rule.limits, {exit.cpu, exit.code, exit.signal});
  }
  cgroup_.reset();
}

}  // namespace kubewatch::hooks
