#include "cli/watch/exec_runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/hook_process.hpp"
#include "runtime/block_codec.hpp"

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

// The sizes of the variables, an empty line, the variables, the object.
std::string exec_content(const Event& event) {
  std::string sizes, all;
  for (const std::string& one : exec_environment(event)) {
    sizes += std::to_string(one.size()) + "\n";
    all += one;
  }
  return sizes + "\n" + all + event.change().json;
}

std::string take_content(std::string_view content, std::vector<std::string>& environment) {
  const auto end = content.find("\n\n");
  std::string_view rest = content.substr(end + 2);
  for (const std::string& line : base::split(content.substr(0, end), '\n')) {
    const std::string_view one = rest.substr(0, std::stoul(line));
    environment.emplace_back(one);
    rest.remove_prefix(one.size());
  }
  return std::string(rest);
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
  job.listed = event.change().initial || event.change().relisted;
  const std::string content = exec_content(event);
  job.size = content.size();
  job.content = runtime::compress_block(content);
  if (!queue_.push(std::move(job))) return false;
  start_more();
  return true;
}

void ExecRunner::start_more() {
  while (auto job = queue_.take()) {
    ++runs_;
    const std::string key = job->key;
    auto call = start_one(*job);
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

Result<std::unique_ptr<hooks::HookCall>> ExecRunner::start_one(const ExecJob& job) {
  KW_ASSIGN(const std::string content, runtime::decompress_block(job.content, job.size));
  hooks::HookStart start;
  start.environment = inherited();
  start.input = take_content(content, start.environment);
  start.log_fields = {{"event", job.name}};
  start.mask.add_json(start.input);
  return hooks::HookProcess::start(loop_, guard_, rule_, std::move(start),
                                   [this, key = job.key, name = job.name](
                                       const hooks::HookExit& exit) { finish(key, name, exit); });
}

// Called from inside the call, which goes in a turn of its own.
void ExecRunner::finish(const std::string& key, const std::string& name,
                        const hooks::HookExit& exit) {
  if (!exit.out.empty()) on_output_(exit.out);
  if (const std::string problem = problem_of(exit); !problem.empty()) {
    ++failures_;
    base::log_error("--exec failed", {{"event", name}, {"problem", problem}});
  }
  loop_.post([this, key, alive = std::weak_ptr<char>(alive_)] {
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
