// kubewatch sandbox: the embedded API server on its own, until it is stopped.
#include "apiserver/sandbox.hpp"

#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/manifests.hpp"
#include "cli/sandbox_config.hpp"
#include "cli/served_config.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kSandboxContext = "kubewatch-sandbox";

class SandboxCommand : public Command {
 public:
  std::string name() const override { return "sandbox"; }
  std::string summary() const override { return "run the embedded API server, usable by kubectl"; }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", files_, "files or folders of objects to load, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--listen", listen_, "address and port; port 0 is a free one")
        ->type_name("ADDRESS:PORT");
    app.add_option("--kubeconfig", kubeconfig_, "where to write the kubeconfig (mode 0600)")
        ->type_name("FILE");
    app.add_flag("--insecure-http", insecure_, "plain HTTP without a token, on loopback only");
  }

  int run(Context& context) override {
    client::ConfigOverrides global = context.global.config;
    // In front of the command it is the same flag, which is about another file there.
    const std::string before = std::exchange(global.kubeconfig, "");
    if (kubeconfig_.empty()) kubeconfig_ = before;
    if (const auto flag = server_flag_of(global); !flag.empty()) {
      return fail(context, kUsage, flag + " is of no use to a sandbox: it is a server of its own");
    }
    const auto where = http::parse_listen_address(listen_);
    if (!where.ok()) return fail(context, kUsage, "--listen: " + where.error().message());
    if (!kubeconfig_.empty()) {
      const auto writable = check_output_file("--kubeconfig", kubeconfig_);
      if (!writable.ok()) return fail(context, writable.error());
    }
    apiserver::SandboxOptions options;
    options.address = where->address;
    options.port = where->port;
    options.insecure_http = insecure_;
    auto manifests = read_manifests(files_, true);
    if (!manifests.ok()) return fail(context, kUsage, manifests.error().render());
    loop::EventLoop loop;
    loop.warn_of_slow_turns();
    auto server = apiserver::Sandbox::start(loop, options);
    if (!server.ok()) return fail(context, server.error());
    if (auto loaded = load_into(**server, std::move(*manifests)); !loaded.ok()) {
      return fail(context, kUsage, loaded.error().render());
    }
    ServedConfig config(kSandboxContext, "a sandbox");
    auto written = config.write(sandbox_client_config(**server), kubeconfig_);
    if (!written.ok()) return fail(context, written.error());
    context.out << "listening on " << (*server)->url() << "\n"
                << export_line(*written) << std::endl;
    Interrupt interrupt(loop, [&] { loop.stop(); });
    loop.run();
    return kDone;
  }

 private:
  std::vector<std::string> files_;
  std::string listen_ = "127.0.0.1:0";
  std::string kubeconfig_;
  bool insecure_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sandbox() {
  return std::make_unique<SandboxCommand>();
}

}  // namespace kubewatch::cli
