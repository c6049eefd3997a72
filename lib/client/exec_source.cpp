#include "client/exec_source.hpp"

#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/find_program.hpp"
#include "base/log.hpp"
#include "client/ends_with_us.hpp"
#include "client/exec_plugin.hpp"
#include "client/login_answer.hpp"
#include "client/login_waits.hpp"
#include "loop/process.hpp"

extern char** environ;

namespace kubewatch::client {
namespace {

constexpr Duration kTimeout{60000};
// A person may have to find a phone.
constexpr Duration kInteractiveTimeout{300000};
// Logging in through a cloud takes one or two.
constexpr Duration kTellSlow{3000};

std::vector<std::string> environment_of(const ExecPlugin& plugin, const std::string& info) {
  std::vector<std::string> out;
  const auto replaced = [&](std::string_view name) {
    if (name == "KUBERNETES_EXEC_INFO") return true;
    for (const auto& [own, value] : plugin.environment) {
      if (own == name) return true;
    }
    return false;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    if (!replaced(text.substr(0, equals))) out.emplace_back(text);
  }
  for (const auto& [name, value] : plugin.environment) out.push_back(name + "=" + value);
  out.push_back("KUBERNETES_EXEC_INFO=" + info);
  return out;
}

class ExecSource;

std::vector<ExecSource*>& all_sources() {
  static std::vector<ExecSource*> instance;
  return instance;
}

class ExecSource : public LoginSource {
 public:
  ExecSource(loop::EventLoop& loop, const ClientConfig& config)
      : loop_(loop), config_(config), plugin_(*config_.exec) {
    all_sources().push_back(this);
  }
  ~ExecSource() override { std::erase(all_sources(), this); }
  ExecSource(const ExecSource&) = delete;
  ExecSource& operator=(const ExecSource&) = delete;

  void fetch(bool, std::function<void(Result<Login>)> done) override {
    answer_.owe(std::move(done));
    if (auto started = start(); !started.ok()) {
      answer_.tell_later(std::move(started).error());
    }
  }

  void kill() {
    process_.reset();
    ends_with_us_.reset();
  }

 private:
  Result<void> start() {
    const std::string path = base::search_path();
    KW_ASSIGN(const std::string executable, find_plugin(plugin_, path));
    KW_ASSIGN(const PluginPolicy policy, load_plugin_policy());
    KW_TRY(check_policy(policy, plugin_, executable, path));
    KW_ASSIGN(const bool interactive, is_interactive(plugin_, ::isatty(STDIN_FILENO) == 1));
    loop::ProcessOptions options;
    options.argv = {executable};
    options.argv.insert(options.argv.end(), plugin_.arguments.begin(), plugin_.arguments.end());
    options.environment = environment_of(plugin_, exec_info(plugin_, config_, interactive));
    options.max_stdout = kMostPluginOutput;
    options.terminal = interactive;
    options.timeout = interactive ? kInteractiveTimeout : kTimeout;
    // Browsers for the next login, agents that keep keys, daemons that refresh.
    options.leaves_others = true;
    base::vlog(2, "running " + executable + " to log in to " + config_.server);
    // Its words are for the user: a page to open, a code to type.
    const auto on_line = [plugin = plugin_](std::string_view line) {
      base::log_warn("exec " + plugin.command + ": " + shown_plugin_line(plugin, line));
    };
    const HeldSignals held;
    KW_ASSIGN(process_,
              loop::Process::start(loop_, std::move(options), on_line,
                                   [this](loop::ProcessExit exit) { exited(std::move(exit)); }));
    // On a terminal it is of our group, and what the terminal sends reaches it as it does us.
    if (!interactive) ends_with_us_.emplace(process_->pid());
    slow_ = loop_.after(kTellSlow, [this] {
      base::log_warn("exec " + plugin_.command + " still runs: all requests wait for its login");
    });
    return {};
  }

  void exited(loop::ProcessExit exit) {
    const auto gone = std::move(process_);
    ends_with_us_.reset();
    slow_.reset();
    const std::string name = "exec: executable " + plugin_.command;
    if (exit.timed_out) {
      return answer_.tell(Error(
          ErrorKind::timeout, name + " did not end within " + base::format_duration(exit.elapsed)));
    }
    if (exit.output_overflow) {
      return answer_.tell(Error(ErrorKind::invalid, name + " printed over 1 MiB"));
    }
    if (exit.signal) {
      return answer_.tell(Error(ErrorKind::unavailable,
                                name + " was ended by signal " + std::to_string(*exit.signal)));
    }
    if (exit.code.value_or(1) != 0) {
      return answer_.tell(Error(ErrorKind::unavailable, name + " failed with exit code " +
                                                            std::to_string(exit.code.value_or(1))));
    }
    answer_.tell(parse_exec_credential(plugin_, exit.out));
  }

  loop::EventLoop& loop_;
  const ClientConfig config_;
  const ExecPlugin& plugin_;
  LoginAnswer answer_{loop_};
  std::unique_ptr<loop::Process> process_;
  std::optional<EndsWithUs> ends_with_us_;
  loop::Timer slow_;
};

}  // namespace

void kill_login_programs() {
  for (ExecSource* source : all_sources()) source->kill();
}

std::unique_ptr<LoginSource> make_exec_source(loop::EventLoop& loop, const ClientConfig& config) {
  return std::make_unique<ExecSource>(loop, config);
}

}  // namespace kubewatch::client
