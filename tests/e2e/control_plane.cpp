// Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports, once per test
// run, and ends them whatever happens: `start FOLDER` leaves a supervisor behind that goes when
// `stop FOLDER` is called, when the process that ran the tests is gone, or after two hours; its
// children die with it. Where the binaries come from: KUBEBUILDER_ASSETS, else an earlier build of
// tests/kube-apiserver, else, when KUBEWATCH_E2E_REQUIRE=kube-apiserver asks for it, a build now.
// Otherwise nothing is downloaded.
//
//   control_plane start FOLDER BUILD_SCRIPT   exit 0 ready, 77 not available (one line says why), 1
//   failed control_plane stop FOLDER
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "http/server.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr int kSkip = 77;

struct Ports {
  int etcd = 0;
  int peer = 0;
  int api = 0;
};

// None that the kernel hands out by itself (32768 and above): another test must not get it while
// the server is restarted; and none of `taken`. 0 when there is none.
int free_port(std::initializer_list<int> taken = {}) {
  static std::mt19937 random(std::random_device{}());
  for (int tries = 0; tries < 1000; ++tries) {
    const int port = std::uniform_int_distribution<int>(15000, 30000)(random);
    if (std::find(taken.begin(), taken.end(), port) != taken.end()) continue;
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (free) return port;
  }
  return 0;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

std::string output_of(const std::string& command, int& code) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (size_t n = ::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  code = WEXITSTATUS(::pclose(pipe));
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool required() {
  const char* value = ::getenv("KUBEWATCH_E2E_REQUIRE");
  return value != nullptr && std::string(value) == "kube-apiserver";
}

// The folder with etcd, kube-apiserver and kube-controller-manager; "" when there is none.
std::string find_assets(const std::string& build_script) {
  if (const char* assets = ::getenv("KUBEBUILDER_ASSETS"); assets != nullptr && *assets != '\0') {
    return assets;
  }
  int code = 0;
  std::string folder = output_of("'" + build_script + "' --where 2>/dev/null", code);
  if (code == 0) return folder;
  if (!required()) return "";
  folder = output_of("'" + build_script + "'", code);
  if (code != 0) ::fprintf(stderr, "control_plane: %s failed\n", build_script.c_str());
  return code == 0 ? folder : "";
}

pid_t launch(const std::vector<std::string>& argv, const std::string& log) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(fd, 1);
  ::dup2(fd, 2);
  std::vector<char*> raw;
  for (const auto& word : argv) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  ::execv(raw[0], raw.data());
  ::_exit(127);
}

void end(pid_t pid, int signal) {
  if (pid <= 0) return;
  ::kill(pid, signal);
  for (int i = 0; i < 100; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(50ms);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

class ControlPlane {
 public:
  ControlPlane(std::string folder, std::string assets)
      : folder_(std::move(folder)), assets_(std::move(assets)) {}

  bool start() {
    // Somebody else may take a port before it is used here.
    for (int tries = 0; tries < 3; ++tries) {
      if (start_on_free_ports()) return true;
      stop();
      fs::remove_all(path("etcd"));
    }
    return false;
  }

  bool restart() {
    end(api_, SIGKILL);
    start_api_server();
    return wait_ready();
  }

  // The history goes twice: etcd's by compaction, the watch cache's by the restart.
  bool compact() { return compact_etcd() && restart(); }

  bool compact_etcd() {
    const std::string etcd = "http://127.0.0.1:" + std::to_string(ports_.etcd);
    int code = 0;
    const std::string command =
        "R=$(curl -s -d '{\"key\":\"AA==\"}' " + etcd +
        "/v3/kv/range | sed 's/.*\"revision\":\"\\([0-9]*\\)\".*/\\1/'); curl -s -o /dev/null -d "
        "\"{\\\"revision\\\":\\\"$R\\\",\\\"physical\\\":true}\" " +
        etcd + "/v3/kv/compaction";
    output_of(command, code);
    return code == 0;
  }

  // Copied while nobody writes; the API server waits for its etcd meanwhile.
  bool back_up() {
    end(etcd_, SIGTERM);
    fs::remove_all(path("backup"));
    fs::copy(path("etcd"), path("backup"), fs::copy_options::recursive);
    start_etcd();
    return wait_ready();
  }

  // As an administrator does it: everything is stopped, the data replaced, everything started.
  bool restore() {
    end(manager_, SIGKILL);
    end(api_, SIGKILL);
    end(etcd_, SIGKILL);
    fs::remove_all(path("etcd"));
    fs::copy(path("backup"), path("etcd"), fs::copy_options::recursive);
    start_etcd();
    start_api_server();
    if (!wait_ready()) return false;
    start_controller_manager();
    return true;
  }

  void stop() {
    end(manager_, SIGKILL);
    end(api_, SIGKILL);
    end(etcd_, SIGKILL);
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  bool start_on_free_ports() {
    ports_.etcd = free_port();
    ports_.peer = free_port({ports_.etcd});
    ports_.api = free_port({ports_.etcd, ports_.peer});
    prepare_files();
    start_etcd();
    start_api_server();
    if (!wait_ready()) return false;
    start_controller_manager();
    return true;
  }

  void prepare_files() {
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    auto made = kubewatch::http::generate_certificate({"localhost"}, {"127.0.0.1"}, now);
    if (!made.ok()) {
      ::fprintf(stderr, "control_plane: %s\n", made.error().render().c_str());
      ::exit(1);
    }
    write(path("ca.crt"), made->ca_pem);
    write(path("tls.crt"), made->certificate_pem);
    write(path("tls.key"), made->key_pem);
    write(path("tokens.csv"), "e2e-token,admin,admin,\"system:masters\"\n");
    write(path("kubeconfig"),
          "apiVersion: v1\nkind: Config\ncurrent-context: e2e\n"
          "clusters: [{name: e2e, cluster: {server: 'https://127.0.0.1:" +
              std::to_string(ports_.api) + "', certificate-authority: ca.crt}}]\n" +
              "users: [{name: e2e, user: {token: e2e-token}}]\n"
              "contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]\n");
  }

  void start_etcd() {
    const std::string client = "http://127.0.0.1:" + std::to_string(ports_.etcd);
    const std::string peer = "http://127.0.0.1:" + std::to_string(ports_.peer);
    etcd_ = launch({assets_ + "/etcd", "--name=e", "--data-dir=" + path("etcd"),
                    "--unsafe-no-fsync", "--log-level=warn", "--listen-client-urls=" + client,
                    "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
                    "--initial-advertise-peer-urls=" + peer, "--initial-cluster=e=" + peer},
                   path("etcd.log"));
  }

  void start_api_server() {
    api_ =
        launch({assets_ + "/kube-apiserver",
                "--etcd-servers=http://127.0.0.1:" + std::to_string(ports_.etcd),
                "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                "--secure-port=" + std::to_string(ports_.api), "--cert-dir=" + path("certs"),
                "--tls-cert-file=" + path("tls.crt"), "--tls-private-key-file=" + path("tls.key"),
                "--service-account-key-file=" + path("tls.crt"),
                "--service-account-signing-key-file=" + path("tls.key"),
                "--service-account-issuer=https://kubernetes.default.svc",
                "--token-auth-file=" + path("tokens.csv"), "--authorization-mode=RBAC",
                "--disable-admission-plugins=ServiceAccount",
                "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none"},
               path("kube-apiserver.log"));
  }

  void start_controller_manager() {
    manager_ = launch({assets_ + "/kube-controller-manager", "--kubeconfig=" + path("kubeconfig"),
                       "--bind-address=127.0.0.1", "--secure-port=0", "--leader-elect=false",
                       "--service-account-private-key-file=" + path("tls.key"),
                       "--controllers=*,-serviceaccount-token-controller"},
                      path("kube-controller-manager.log"));
  }

  bool wait_ready() {
    const std::string probe =
        "curl -s -m 5 --cacert '" + path("ca.crt") +
        "' -H 'Authorization: Bearer e2e-token' https://127.0.0.1:" + std::to_string(ports_.api) +
        "/readyz";
    for (int i = 0; i < 600; ++i) {
      int code = 0;
      if (output_of(probe, code) == "ok") return true;
      if (::waitpid(api_, nullptr, WNOHANG) == api_) break;
      std::this_thread::sleep_for(200ms);
    }
    ::fprintf(stderr, "control_plane: kube-apiserver did not become ready, see %s\n",
              path("kube-apiserver.log").c_str());
    return false;
  }

  std::string folder_;
  std::string assets_;
  Ports ports_;
  pid_t etcd_ = 0;
  pid_t api_ = 0;
  pid_t manager_ = 0;
};

volatile sig_atomic_t g_stop = 0;

// Serves requests (files) until told to stop, until `guardian` is gone, or for two hours: longer
// than all tests that need it may take together.
void supervise(ControlPlane& plane, const std::string& folder, pid_t guardian) {
  const auto deadline = std::chrono::steady_clock::now() + 2h;
  while (g_stop == 0 && ::kill(guardian, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    const auto serve = [&](const char* request, bool (ControlPlane::*act)()) {
      const std::string file = folder + "/request-" + request;
      if (fs::exists(file) && (plane.*act)()) fs::remove(file);
    };
    serve("restart", &ControlPlane::restart);
    serve("compact", &ControlPlane::compact);
    serve("compact-etcd", &ControlPlane::compact_etcd);
    serve("back-up", &ControlPlane::back_up);
    serve("restore", &ControlPlane::restore);
    std::this_thread::sleep_for(50ms);
  }
  plane.stop();
}

int start(const std::string& folder, const std::string& build_script) {
  const std::string assets = find_assets(build_script);
  fs::remove_all(folder);
  fs::create_directories(folder);
  if (assets.empty()) {
    ::printf(
        "e2e: the real kube-apiserver half does not run; "
        "KUBEWATCH_E2E_REQUIRE=kube-apiserver builds and runs it\n");
    return required() ? 1 : kSkip;
  }
  const pid_t guardian = ::getppid();  // ctest
  int ready[2];
  if (::pipe(ready) != 0) return 1;
  if (::fork() == 0) {
    ::setsid();
    ::signal(SIGTERM, [](int) { g_stop = 1; });
    ::close(ready[0]);
    const int log = ::open((folder + "/supervisor.log").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ControlPlane plane(folder, assets);
    const char verdict = plane.start() ? 'y' : 'n';
    write(folder + "/supervisor.pid", std::to_string(::getpid()));
    if (::write(ready[1], &verdict, 1) != 1) g_stop = 1;
    ::close(ready[1]);
    if (verdict == 'y') supervise(plane, folder, guardian);
    plane.stop();
    ::_exit(0);
  }
  ::close(ready[1]);
  char verdict = 'n';
  if (::read(ready[0], &verdict, 1) != 1 || verdict != 'y') {
    ::fprintf(stderr, "control_plane: could not start; logs are in %s\n", folder.c_str());
    return 1;
  }
  return 0;
}

int stop(const std::string& folder) {
  std::ifstream file(folder + "/supervisor.pid");
  pid_t pid = 0;
  if (!(file >> pid)) return 0;
  ::kill(pid, SIGTERM);
  for (int i = 0; i < 800 && ::kill(pid, 0) == 0; ++i) std::this_thread::sleep_for(50ms);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && std::string(argv[1]) == "start") return start(argv[2], argv[3]);
  if (argc >= 3 && std::string(argv[1]) == "stop") return stop(argv[2]);
  ::fprintf(stderr, "usage: control_plane start FOLDER BUILD_SCRIPT | stop FOLDER\n");
  return 2;
}
