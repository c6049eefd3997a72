// kubewatch sandbox: the embedded API server on its own, until it is stopped.
#include "apiserver/sandbox.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/manifests.hpp"
#include "cli/sandbox_config.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kContextName = "kubewatch-sandbox";
constexpr std::size_t kMaxKubeconfig = 1U << 20U;

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
    const auto where = http::parse_listen_address(listen_);
    if (!where.ok()) return fail(context, kUsage, "--listen: " + where.error().message());
    apiserver::SandboxOptions options;
    options.address = where->address;
    options.port = where->port;
    options.insecure_http = insecure_;
    auto manifests = read_manifests(files_, true);
    if (!manifests.ok()) return fail(context, kUsage, manifests.error().render());
    loop::EventLoop loop;
    auto server = apiserver::Sandbox::start(loop, options);
    if (!server.ok()) return fail(context, server.error());
    if (auto loaded = load_into(**server, std::move(*manifests)); !loaded.ok()) {
      return fail(context, kUsage, loaded.error().render());
    }
    auto written = write_config(**server);
    if (!written.ok()) return fail(context, written.error());
    context.out << "listening on " << (*server)->url() << "\nexport KUBECONFIG=" << *written
                << std::endl;
    Interrupt interrupt(loop, [&] { loop.stop(); });
    loop.run();
    std::error_code ignored;
    const auto left = base::read_file(*written, kMaxKubeconfig);
    if (left.ok() && *left == content_) std::filesystem::remove(*written, ignored);
    if (!own_folder_.empty()) std::filesystem::remove(own_folder_, ignored);
    return kDone;
  }

 private:
  Result<std::string> write_config(apiserver::Sandbox& server) {
    std::string path = kubeconfig_;
    if (path.empty()) {
      const char* tmp = ::getenv("TMPDIR");
      own_folder_ = fmt::format("{}/kubewatch-sandbox-XXXXXX", tmp != nullptr ? tmp : "/tmp");
      if (::mkdtemp(own_folder_.data()) == nullptr) {
        return Error(ErrorKind::forbidden, "cannot make a folder for the kubeconfig in " +
                                               std::string(tmp != nullptr ? tmp : "/tmp"));
      }
      path = own_folder_ + "/kubeconfig";
    }
    // Everywhere else --kubeconfig names a file that is read: never write over somebody's own.
    const auto present = base::read_file(path, kMaxKubeconfig);
    const bool ours = present.ok() && present->find(kContextName) != std::string::npos;
    if (!ours && std::filesystem::exists(path)) {
      return Error(ErrorKind::invalid,
                   path + " exists and was not written by a sandbox; name another file");
    }
    content_ = client::render_kubeconfig(sandbox_client_config(server), kContextName);
    KW_TRY(base::write_file_atomic(path, content_, 0600));
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.string();
  }

  std::vector<std::string> files_;
  std::string listen_ = "127.0.0.1:0";
  std::string kubeconfig_;
  std::string own_folder_;
  std::string content_;
  bool insecure_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sandbox() {
  return std::make_unique<SandboxCommand>();
}

}  // namespace kubewatch::cli
