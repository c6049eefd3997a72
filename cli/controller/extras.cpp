#include "cli/controller/extras.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/controller/checked_rules.hpp"
#include "loop/unix_socket.hpp"

namespace kubewatch::cli {

ControllerExtras::ControllerExtras(Session& session, hooks::Engine& engine, Preflight& preflight)
    : session_(session),
      engine_(engine),
      preflight_(preflight),
      requests_(engine, session.client()) {}

Result<void> ControllerExtras::listen(const std::string& path) {
  KW_ASSIGN(server_, hooks::ControlServer::open(session_.loop(), path,
                                                [this](const hooks::ControlRequest& request,
                                                       const hooks::ControlReplyPtr& reply) {
                                                  requests_.handle(request, reply);
                                                }));
  base::vlog(1, "control socket", {{"path", path}});
  return {};
}

Result<void> ControllerExtras::open_socket(const std::string& flag) {
  if (flag == "none") return {};
  if (!flag.empty()) return listen(flag);
  const std::string folder = hooks::default_control_folder();
  auto opened = loop::make_private_folder(folder);
  if (opened.ok()) hooks::remove_dead_control_sockets(folder);
  if (opened.ok()) opened = listen(fmt::format("{}/{}.sock", folder, ::getpid()));
  if (!opened.ok()) {
    base::log_warn("no control socket: explain, runs and trigger will not find this controller",
                   {{"error", opened.error().render()}});
  }
  return {};
}

void ControllerExtras::follow_rules(std::vector<std::string> paths,
                                    hooks::RuleReloader::Before before) {
  reloader_.emplace(
      session_.loop(), std::move(paths),
      [this](std::vector<hooks::Rule> rules) { on_rules(std::move(rules)); }, std::move(before),
      load_checked_rules);
  hangup_ = session_.loop().on_signal(SIGHUP, [this] {
    base::log_info("SIGHUP: reading the rules again");
    reloader_->read_again();
  });
  if (auto started = reloader_->start(); !started.ok()) {
    base::log_warn("some changed rule files are only read again on SIGHUP",
                   {{"error", started.error().render()}});
  }
}

void ControllerExtras::on_rules(std::vector<hooks::Rule> rules) {
  std::vector<hooks::Rule> started = rules;
  const auto plan = engine_.reload(std::move(rules));
  // A service manager may send SIGHUP along with the SIGTERM that ends us.
  if (!plan.ok() && plan.error().kind() == ErrorKind::canceled) return;
  if (!plan.ok()) {
    base::log_error("the rules changed and are not taken over", {{"error", plan.error().render()}});
    return;
  }
  if (plan->empty()) return base::log_info("the rules are as they were");
  base::LogFields fields;
  const auto add = [&](std::string_view name, const std::vector<std::string>& names) {
    if (!names.empty()) fields.emplace_back(name, base::join(names, ","));
  };
  add("started", plan->started);
  add("ended", plan->ended);
  add("removed", plan->removed);
  add("unchanged", plan->unchanged);
  base::log_info("the rules changed", fields);
  std::erase_if(started, [&](const hooks::Rule& rule) {
    return std::find(plan->started.begin(), plan->started.end(), rule.name) == plan->started.end();
  });
  preflight_.ask(std::move(started));
}

}  // namespace kubewatch::cli
