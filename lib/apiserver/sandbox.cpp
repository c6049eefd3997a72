// Binds Api to the loop and to HTTP: authentication, streams, timers, background work. Decides
// nothing about Kubernetes.
#include "apiserver/sandbox.hpp"

#include <fmt/format.h>

#include "apiserver/api.hpp"
#include "apiserver/own_pages.hpp"
#include "base/log.hpp"
#include "http/bearer.hpp"
#include "http/connection_limits.hpp"
#include "http/listen_address.hpp"
#include "http/server.hpp"
#include "loop/open_files.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr Duration kSlowClients{5};
constexpr Duration kEventTtl{3600000};  // what a kube-apiserver has by default

// Where resourceVersions begin: tens of microseconds since 2024, which no sandbox that began
// earlier can have reached by its writes, and which are exact in a double for centuries. A clock
// that was set back says nothing of the kind.
std::uint64_t start_version(WallTime now) {
  constexpr std::chrono::seconds kFirst{1'704'067'200};
  const auto since = now.time_since_epoch() - kFirst;
  return since.count() < 0 ? 0 : static_cast<std::uint64_t>(since.count()) / 10;
}

class ResponderSink : public WatchSink {
 public:
  // What ends while `cut` is true is cut off instead of ended in order.
  ResponderSink(std::shared_ptr<http::Responder> responder, std::shared_ptr<const bool> cut)
      : responder_(std::move(responder)), cut_(std::move(cut)) {}
  ~ResponderSink() override {
    if (*cut_) responder_->abort();
  }
  ResponderSink(const ResponderSink&) = delete;
  ResponderSink& operator=(const ResponderSink&) = delete;
  void send(std::string_view bytes) override { responder_->send(bytes); }
  void send_now(std::string_view bytes) override { responder_->send_now(bytes); }
  std::size_t backlog() const override { return responder_->backlog(); }
  bool gone() const override { return responder_->gone(); }

 private:
  std::shared_ptr<http::Responder> responder_;
  std::shared_ptr<const bool> cut_;
};

bool is_open_path(std::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz" || path == "/version";
}

http::Headers headers_of(const ApiResponse& response, const std::string& audit_id) {
  http::Headers headers = response.headers;
  headers.set("Audit-Id", audit_id);
  if (!response.content_type.empty()) headers.set("Content-Type", response.content_type);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-cache, private");
  return headers;
}

// The client's own word for its request, where it has one; no longer than there.
std::string audit_id_of(const http::ServerRequest& request, base::Random& random) {
  constexpr std::size_t kLongest = 64;
  const std::string_view given = request.headers.get("Audit-ID");
  return given.empty() ? random.uuid() : std::string(given.substr(0, kLongest));
}

// The server itself as others in a cluster find it; no packet goes by its address here.
bool names_own_service(const Json& object) {
  return base::string_at(object, {"apiVersion"}) == "v1" &&
         base::string_at(object, {"kind"}) == "Service" &&
         base::string_at(object, {"metadata", "name"}) == "kubernetes" &&
         base::string_at(object, {"metadata", "namespace"}) == "default";
}

Json kubernetes_service(std::uint16_t port) {
  constexpr const char* kAddress = "10.96.0.1";
  const Json https = {{"name", "https"}, {"protocol", "TCP"}, {"port", 443}, {"targetPort", port}};
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata",
           {{"name", "kubernetes"},
            {"namespace", "default"},
            {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
          {"spec",
           {{"type", "ClusterIP"},
            {"clusterIP", kAddress},
            {"clusterIPs", Json::array({kAddress})},
            {"internalTrafficPolicy", "Cluster"},
            {"ipFamilies", Json::array({"IPv4"})},
            {"ipFamilyPolicy", "SingleStack"},
            {"ports", Json::array({https})},
            {"sessionAffinity", "None"}}}};
}

class SandboxServer : public Sandbox, public std::enable_shared_from_this<SandboxServer> {
 public:
  SandboxServer(loop::EventLoop& loop, SandboxOptions options, std::string token)
      : loop_(loop),
        options_(std::move(options)),
        token_(std::move(token)),
        api_(api_options(options_, loop.wall()), loop.wall()) {}

  Result<void> listen() {
    http::ServerOptions server;
    server.address = options_.address;
    server.port = options_.port;
    server.max_connections = http::connections_for_watchers(loop::open_files());
    server.own_page = own_pages(server.max_body_bytes);
    if (!options_.insecure_http) {
      std::vector<std::string> names = {"localhost", "kubernetes", "kubernetes.default"};
      std::vector<std::string> addresses = {"127.0.0.1", "::1"};
      const std::string& own = options_.address;
      if (own != "localhost" && own != "127.0.0.1" && own != "::1") {
        (http::is_numeric_address(own) ? addresses : names).push_back(own);
      }
      KW_ASSIGN(auto certificate, http::generate_certificate(names, addresses));
      server.tls = http::ServerTls{certificate.certificate_pem, certificate.key_pem};
      ca_pem_ = certificate.ca_pem;
    }
    KW_ASSIGN(server_, http::Server::listen(loop_, std::move(server),
                                            [this](http::ServerRequest request,
                                                   std::shared_ptr<http::Responder> responder) {
                                              on_request(std::move(request), std::move(responder));
                                            }));
    api_.set_address(http::to_string({options_.address, server_->port()}));
    api_.tokens().admit(token_);
    api_.on_change([this] { schedule_work(); });
    schedule_tick();
    return load(kubernetes_service(server_->port()), kApiServer);
  }

  std::string url() const override {
    return fmt::format("{}://{}", options_.insecure_http ? "http" : "https",
                       http::to_string({http::reached_at(options_.address), server_->port()}));
  }
  std::string ca_pem() const override { return ca_pem_; }
  std::string token() const override { return token_; }

  Result<void> load(const Json& object, const std::string& manager) override {
    // What was saved of a cluster has one of its own.
    const bool own = names_own_service(object);
    if (own && api_.storage().get("services", object_key("default", "kubernetes"))) return {};
    return api_.load(object, manager, loop_.wall());
  }
  void compact() override { api_.storage().compact(); }
  void drop_watches() override { api_.watches().drop_all(); }
  void back_up() override { backup_ = api_.storage().back_up(); }
  void restore() override {
    *cut_ = true;
    api_.watches().drop_all();
    *cut_ = false;
    if (backup_) api_.storage().restore(*backup_);
  }
  Counters counters() const override { return {requests_, api_.writes(), api_.watches().size()}; }

  void shut_down() {
    tick_.reset();
    slow_.reset();
    api_.on_change({});
    api_.watches().drop_all();
    server_.reset();
  }

 private:
  static ApiOptions api_options(const SandboxOptions& options, WallTime now) {
    ApiOptions out;
    out.history = options.history;
    out.start_version = start_version(now);
    out.bookmark_interval = options.bookmark_interval;
    out.event_ttl = kEventTtl;
    out.whole_cluster = true;
    base::Random system = base::Random::from_system();
    out.random_seed = options.random_seed != 0 ? options.random_seed : system.next();
    return out;
  }

  std::optional<Caller> caller_of(const http::ServerRequest& request) const {
    auto caller = api_.tokens().caller(http::bearer_token(request.headers), loop_.wall());
    const bool anybody = options_.insecure_http || is_open_path(request.path);
    return caller || !anybody ? std::move(caller) : Caller{};
  }

  void on_request(http::ServerRequest request, std::shared_ptr<http::Responder> responder) {
    ++requests_;
    base::vlog(8, "sandbox request", {{"method", request.method}, {"path", request.path}});
    const std::string audit_id = audit_id_of(request, random_);
    auto caller = caller_of(request);
    if (!caller) {
      const Error refused = unauthorized();
      ApiResponse response;
      response.body = refused.status()->body;
      responder->respond(401, headers_of(response, audit_id), response.body);
      return;
    }
    ApiRequest call{std::move(request.method),  std::move(request.path), std::move(request.query),
                    std::move(request.headers), std::move(request.body), std::move(*caller)};
    Reply reply = api_.handle(call, loop_.wall());
    if (!reply.watch) {
      responder->respond(reply.response.status, headers_of(reply.response, audit_id),
                         reply.response.body);
      return;
    }
    responder->begin(200, headers_of(reply.response, audit_id));
    responder->on_gone([this, self = weak_from_this()] {
      loop_.post([self] {
        if (const auto alive = self.lock()) alive->api_.watches().sweep();
      });
    });
    api_.watches().attach(std::move(reply.watch), std::make_unique<ResponderSink>(responder, cut_),
                          loop_.now(), loop_.wall());
    serve_slow_clients();
  }

  void schedule_tick() {
    tick_ = loop_.after(kWatchTick, [this] {
      api_.watches().tick(api_.storage().version(), loop_.now(), loop_.wall());
      serve_slow_clients();
      schedule_work();  // Events end without any change
      schedule_tick();
    });
  }

  // Goes on by itself until every client has what waits for it.
  void serve_slow_clients() {
    if (slow_pending_ || !api_.watches().pump(loop_.wall())) return;
    slow_pending_ = true;
    slow_ = loop_.after(kSlowClients, [this] {
      slow_pending_ = false;
      serve_slow_clients();
    });
  }

  void schedule_work() {
    if (work_pending_) return;
    work_pending_ = true;
    loop_.post([self = weak_from_this()] {
      const auto alive = self.lock();
      if (!alive) return;
      alive->work_pending_ = false;
      if (alive->api_.step(alive->loop_.wall())) alive->schedule_work();
      alive->serve_slow_clients();
    });
  }

  loop::EventLoop& loop_;
  SandboxOptions options_;
  std::string token_;
  std::string ca_pem_;
  base::Random random_ = base::Random::from_system();  // of what no run has to repeat
  Api api_;
  std::unique_ptr<http::Server> server_;
  loop::Timer tick_;
  loop::Timer slow_;
  bool slow_pending_ = false;
  bool work_pending_ = false;
  std::uint64_t requests_ = 0;
  std::shared_ptr<bool> cut_ = std::make_shared<bool>(false);
  std::shared_ptr<const Storage::Backup> backup_;
};

// What the owner holds: the server lives in a shared_ptr so that posted calls can tell whether it
// is gone.
class SandboxHandle : public Sandbox {
 public:
  explicit SandboxHandle(std::shared_ptr<SandboxServer> server) : server_(std::move(server)) {}
  ~SandboxHandle() override { server_->shut_down(); }

  std::string url() const override { return server_->url(); }
  std::string ca_pem() const override { return server_->ca_pem(); }
  std::string token() const override { return server_->token(); }
  Result<void> load(const Json& object, const std::string& manager) override {
    return server_->load(object, manager);
  }
  void compact() override { server_->compact(); }
  void drop_watches() override { server_->drop_watches(); }
  void back_up() override { server_->back_up(); }
  void restore() override { server_->restore(); }
  Counters counters() const override { return server_->counters(); }

 private:
  std::shared_ptr<SandboxServer> server_;
};

}  // namespace

Result<std::unique_ptr<Sandbox>> Sandbox::start(loop::EventLoop& loop, SandboxOptions options) {
  KW_TRY(http::check_plain_http(options.insecure_http, options.address));
  auto server =
      std::make_shared<SandboxServer>(loop, std::move(options), base::secure_random_hex(24));
  KW_TRY(server->listen().with_context("cannot start the sandbox API server"));
  return std::unique_ptr<Sandbox>(std::make_unique<SandboxHandle>(std::move(server)));
}

}  // namespace kubewatch::apiserver
