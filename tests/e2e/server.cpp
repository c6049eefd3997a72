#include "e2e/server.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "apiserver/sandbox.hpp"
#include "base/json.hpp"

namespace kubewatch::e2e {

namespace {

class SandboxServer : public Server {
 public:
  explicit SandboxServer(loop::EventLoop& loop) {
    auto started = apiserver::Sandbox::start(loop, {});
    if (!started.ok()) throw std::runtime_error(started.error().render());
    sandbox_ = std::move(started).value();
    config_.server = sandbox_->url();
    config_.ca_pem = sandbox_->ca_pem();
    config_.token = sandbox_->token();
    config_.namespace_ = "default";
    config_.source = "the sandbox";
  }
  const client::ClientConfig& config() const override { return config_; }
  std::string name() const override { return "sandbox"; }
  void compact() override {
    sandbox_->compact();
    sandbox_->drop_watches();
  }
  void compact_storage() override { sandbox_->compact(); }
  void restart() override { sandbox_->drop_watches(); }
  void back_up() override { sandbox_->back_up(); }
  void restore() override { sandbox_->restore(); }

 private:
  std::unique_ptr<apiserver::Sandbox> sandbox_;
  client::ClientConfig config_;
};

// Speaks to the supervisor (control_plane.cpp) by files in its folder: a request file appears, the
// supervisor does it and removes the file.
class RealServer : public Server {
 public:
  RealServer(loop::EventLoop& loop, std::string folder) : loop_(loop), folder_(std::move(folder)) {
    client::ConfigOverrides overrides;
    overrides.kubeconfig = folder_ + "/kubeconfig";
    auto config = client::load_config(overrides, {});
    if (!config.ok()) throw std::runtime_error(config.error().render());
    config_ = std::move(config).value();
  }
  const client::ClientConfig& config() const override { return config_; }
  std::string name() const override { return "kube-apiserver"; }
  void compact() override { ask("compact"); }
  void compact_storage() override { ask("compact-etcd"); }
  void restart() override { ask("restart"); }
  void back_up() override { ask("back-up"); }
  void restore() override { ask("restore"); }

 private:
  void ask(const std::string& what) {
    const std::string path = folder_ + "/request-" + what;
    std::ofstream(path).put('\n');
    // A look at the file takes a turn of the loop, and nothing else may turn it meanwhile. For four
    // minutes: twice as long as the supervisor waits for a server.
    bool done = false;
    for (int looks = 0; looks < 12000 && !done; ++looks) {
      loop_.run_until([] { return false; }, Duration{20});
      done = ::access(path.c_str(), F_OK) != 0;
    }
    if (!done) throw std::runtime_error("the control plane did not " + what);
  }

  loop::EventLoop& loop_;
  std::string folder_;
  client::ClientConfig config_;
};

}  // namespace

bool real_is_missing() {
  const char* server = ::getenv("KUBEWATCH_E2E_SERVER");
  const char* folder = ::getenv("KUBEWATCH_E2E_FOLDER");
  return server != nullptr && std::string(server) == "real" &&
         (folder == nullptr || ::access((std::string(folder) + "/kubeconfig").c_str(), F_OK) != 0);
}

std::unique_ptr<Server> make_server(loop::EventLoop& loop) {
  const char* wanted = ::getenv("KUBEWATCH_E2E_SERVER");
  if (wanted == nullptr || std::string(wanted) == "sandbox") {
    return std::make_unique<SandboxServer>(loop);
  }
  const char* folder = ::getenv("KUBEWATCH_E2E_FOLDER");
  if (folder == nullptr) throw std::runtime_error("KUBEWATCH_E2E_FOLDER is not set");
  return std::make_unique<RealServer>(loop, folder);
}

}  // namespace kubewatch::e2e
