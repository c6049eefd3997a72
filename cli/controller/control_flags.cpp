#include "cli/controller/control_flags.hpp"

#include <fmt/format.h>

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/controller/control_client.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"

namespace kubewatch::cli {

namespace {

// Without a kubeconfig too there may be a controller, with --sandbox.
std::string namespace_of(const client::ConfigOverrides& config) {
  if (!config.namespace_.empty()) return config.namespace_;
  const auto loaded = client::load_config(config, client::ConfigEnvironment::from_process());
  return loaded.ok() && !loaded->namespace_.empty() ? loaded->namespace_ : "default";
}

Result<std::shared_ptr<const Json>> ask_once(const std::string& flag, const std::string& request,
                                             const Json& args) {
  KW_ASSIGN(const std::string socket, find_socket(flag));
  std::shared_ptr<const Json> out;
  KW_TRY(ask(socket, request, args, [&](const Json& result) {
    out = std::make_shared<const Json>(result);
    return true;
  }));
  if (out == nullptr) return Error(ErrorKind::internal, "the controller's answer is empty");
  return out;
}

}  // namespace

void ControlFlags::bind(CLI::App& app) {
  bind_output(app, output_, {"text", "json"});
  app.add_option("--socket", socket_,
                 "control socket of the controller (default: the only one of this user)")
      ->type_name("FILE");
}

void ControlFlags::bind_target(CLI::App& app, const std::string& text) {
  app.add_option("KIND/NAME", target_, text);
}

Result<Json> ControlFlags::target_args(const Context& context, Names names) const {
  if (target_.empty()) return chosen_namespace(context);
  const auto parts = base::split(target_, '/');
  const bool whole = parts.size() == 2 && !parts[0].empty() && !parts[1].empty();
  const bool alone = names == Names::object_or_kind && parts.size() == 1;
  if (!whole && !alone) {
    return Error(ErrorKind::invalid,
                 fmt::format("\"{}\" is not KIND/NAME, such as website/blog", target_));
  }
  Json out = chosen_namespace(context);
  out["kind"] = parts[0];
  out["namespace"] = namespace_of(context.global.config);
  if (whole) out["name"] = parts[1];
  return out;
}

Json ControlFlags::chosen_namespace(const Context& context) {
  const std::string& chosen = context.global.config.namespace_;
  return chosen.empty() ? Json::object() : Json{{"onlyNamespace", chosen}};
}

int ControlFlags::ask(Context& context, const std::string& request, const Json& args,
                      const std::function<void(const Json&)>& print,
                      const std::function<int(const Json&)>& code) const {
  const auto answer = ask_once(socket_, request, args);
  if (!answer.ok()) return fail(context, answer.error());
  if (json()) {
    context.out << shown_json(base::dump_json_pretty(**answer)) << "\n";
  } else {
    print(**answer);
  }
  return code ? code(**answer) : kDone;
}

}  // namespace kubewatch::cli
