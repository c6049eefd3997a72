#include "cli/watch/exec_runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/log.hpp"
#include "hooks/hook_process.hpp"

namespace kubewatch::cli::watch {

namespace {

std::string name_of(const Event& event) {
  return fmt::format("{} {} {}", event_name(event.change().type), event.source().type.gvk.kind,
                     event.change().meta.key().str());
}

std::string key_of(const Event& event) {
  return event.source().context + "|" + event.source().type.qualified_plural() + "|" +
         event.change().meta.key().str();
}

// A command that somebody typed at a shell expects the shell's environment.
std::vector<std::string> inherited() {
  std::vector<std::string> out;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) out.emplace_back(*one);
  return out;
}

}  // namespace

std::vector<std::string> exec_environment(const Event& event) {
  const core::ObjectMeta& meta = event.change().meta;
  const core::Gvk& gvk = event.source().type.gvk;
  return {"KW_EVENT=" + std::string(event_name(event.change().type)),
          std::string("KW_INITIAL=") + (event.change().initial ? "true" : "false"),
          "KW_CONTEXT=" + event.source().context,
          "KW_API_VERSION=" + gvk.api_version(),
          "KW_KIND=" + gvk.kind,
          "KW_NAMESPACE=" + meta.namespace_,
          "KW_NAME=" + meta.name,
          "KW_UID=" + meta.uid,
          "KW_RESOURCE_VERSION=" + meta.resource_version};
}

std::string problem_of(const hooks::HookExit& exit) {
  if (exit.refused) return exit.refused->render();
  if (exit.timed_out) return "it took longer than --exec-timeout";
  if (exit.output_overflow) return "it printed more than 4 MiB";
  if (!exit.over_limit.empty()) return exit.over_limit;
  if (exit.signal) return fmt::format("it was ended by signal {}", *exit.signal);
  if (exit.code.value_or(0) != 0) return fmt::format("exit {}", *exit.code);
  return "";
}

ExecRunner::ExecRunner(loop::EventLoop& loop, const ExecOptions& options,
                       std::function<void(std::string_view)> on_output)
    : loop_(loop), guard_(loop), on_output_(std::move(on_output)), queue_(options.parallel) {
  rule_.argv = {"/bin/sh", "-e", "-c", options.command, "kubewatch-exec"};
  rule_.timeout = options.timeout;
}

bool ExecRunner::run(const Event& event) {
  ExecJob job;
  job.key = key_of(event);
  job.name = name_of(event);
  job.environment = exec_environment(event);
  job.input = event.change().json;
  if (!queue_.push(std::move(job))) return false;
  start_more();
  return true;
}

void ExecRunner::start_more() {
  while (auto job = queue_.take()) {
    ++runs_;
    hooks::HookStart start;
    start.environment = inherited();
    for (const std::string& one : job->environment) start.environment.push_back(one);
    start.input = std::move(job->input);
    start.log_fields = {{"event", job->name}};
    start.mask.add_json(start.input);
    const std::string key = job->key;
    auto call = hooks::HookProcess::start(
        loop_, guard_, rule_, std::move(start),
        [this, job = *job](const hooks::HookExit& exit) { finish(job, exit); });
    if (!call.ok()) {
      ++failures_;
      base::log_error("--exec cannot be run",
                      {{"event", job->name}, {"error", call.error().render()}});
      queue_.done(key);
      continue;
    }
    calls_[key] = std::move(*call);
  }
  tell_if_idle();
}

// Called from inside the call, which goes in a turn of its own.
void ExecRunner::finish(const ExecJob& job, const hooks::HookExit& exit) {
  if (!exit.out.empty()) on_output_(exit.out);
  if (const std::string problem = problem_of(exit); !problem.empty()) {
    ++failures_;
    base::log_error("--exec failed", {{"event", job.name}, {"problem", problem}});
  }
  loop_.post([this, key = job.key, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    calls_.erase(key);
    queue_.done(key);
    start_more();
  });
}

void ExecRunner::when_idle(std::function<void()> idle) {
  idle_ = std::move(idle);
  loop_.post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) tell_if_idle();
  });
}

void ExecRunner::tell_if_idle() {
  if (!idle_ || !idle()) return;
  std::exchange(idle_, nullptr)();
}

std::size_t ExecRunner::terminate() {
  for (auto& [key, call] : calls_) call->terminate();
  return calls_.size();
}

}  // namespace kubewatch::cli::watch
