// Binds reads (read_calls) to HTTP: who may come in, what is passed on, whether all caches are
// complete.
#include "apiserver/read_server.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "apiserver/own_pages.hpp"
#include "apiserver/passed_documents.hpp"
#include "apiserver/read_calls.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "core/impersonation.hpp"
#include "http/bearer.hpp"
#include "http/connection_limits.hpp"
#include "http/listen_address.hpp"
#include "loop/open_files.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr Duration kDiscoverySettles{30000};
constexpr std::size_t kMostAsked = 64;  // documents that are being asked for

void answer_with(http::Responder& to, const http::Response& document) {
  http::Headers headers = json_headers(std::string(document.headers.get("Content-Type")));
  for (const char* name : {"ETag", "Vary", "X-From-Cache"}) {
    if (document.headers.has(name)) headers.set(name, std::string(document.headers.get(name)));
  }
  to.respond(document.status, headers, document.body);
}

class Server final : public ReadServer {
 public:
  Server(loop::EventLoop& loop, ReadServerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        token_(base::secure_random_hex(32)),
        calls_(loop, options_.history, options_.bookmark_interval, options_.version_wait,
               {[this](const To& to, const Error& error) { refuse(to, error); },
                [this](const ReadCallPtr& call) { not_held(call); },
                [this](const ReadCallPtr& call) {
                  if (options_.forward_reads) pass_on(call->request, call->to);
                  return options_.forward_reads;
                }}) {}
  ~Server() override {
    tick_.reset();
    calls_.close();
    server_.reset();
  }

  Result<void> listen();

  KindId add(const core::ReadBackend& backend, ResourcePtr resource) override {
    return calls_.add(backend, std::move(resource));
  }
  void change_version(KindId id, ResourcePtr resource) override {
    calls_.change_version(id, std::move(resource));
  }
  void changed(KindId id, ReadChange change, bool relisted) override {
    calls_.changed(id, std::move(change), relisted);
  }
  void synced(KindId id, bool gap) override;
  void moved(KindId id) override { calls_.moved(id); }

  std::string url() const override;
  std::string ca_pem() const override { return ca_pem_; }
  std::string token() const override { return token_; }
  ReadCounters counters() const override {
    ReadCounters out = calls_.counters();
    out.requests = requests_;
    out.refused = refused_;
    out.forwarded = forwarded_;
    return out;
  }

 private:
  using To = std::shared_ptr<http::Responder>;

  bool is_allowed(const http::ServerRequest& request) const;
  void on_request(http::ServerRequest request, To to);
  bool answer_health(const http::ServerRequest& request, const To& to) const;
  void pass_document(const http::ServerRequest& request, const To& to);
  void on_document(const std::string& key, const std::string& target, TimePoint asked,
                   const Result<http::Response>& got);
  void not_held(const ReadCallPtr& call);
  void pass_on(const http::ServerRequest& request, const To& to);
  void refuse(const To& to, const Error& error);
  void schedule_tick();

  loop::EventLoop& loop_;
  ReadServerOptions options_;
  std::string token_;
  std::string ca_pem_;
  PassedDocuments documents_;
  std::map<std::string, std::vector<To>> asking_;  // who waits for a document, by its key
  std::uint64_t requests_ = 0, refused_ = 0, forwarded_ = 0;
  ReadCalls calls_;
  loop::Timer tick_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  std::unique_ptr<http::Server> server_;                    // goes first: it calls us
};

Result<void> Server::listen() {
  http::ServerOptions server;
  server.address = options_.address;
  server.port = options_.port;
  server.max_connections = http::connections_for_watchers(loop::open_files());
  server.own_page = own_pages(server.max_body_bytes);
  server.hosts = options_.names;
  if (!http::is_loopback_host(options_.address)) server.hosts.push_back(options_.address);
  if (!options_.insecure_http) {
    std::vector<std::string> names = {"localhost"};
    std::vector<std::string> addresses = {"127.0.0.1", "::1"};
    for (const auto& host : server.hosts) {
      (http::is_numeric_address(host) ? addresses : names).push_back(host);
    }
    KW_ASSIGN(auto made, http::generate_certificate(names, addresses));
    server.tls = http::ServerTls{made.certificate_pem, made.key_pem};
    ca_pem_ = made.ca_pem;
  }
  KW_ASSIGN(server_, http::Server::listen(loop_, std::move(server),
                                          [this](http::ServerRequest request, To to) {
                                            on_request(std::move(request), std::move(to));
                                          }));
  schedule_tick();
  return {};
}

std::string Server::url() const {
  std::string host = http::reached_at(options_.address);
  // Whoever listens everywhere is reached by the names that were given.
  if (host != options_.address && !options_.names.empty()) host = options_.names[0];
  return fmt::format("{}://{}", options_.insecure_http ? "http" : "https",
                     http::to_string({host, server_->port()}));
}

bool Server::is_allowed(const http::ServerRequest& request) const {
  return options_.insecure_http || http::same_secret(http::bearer_token(request.headers), token_);
}

void Server::refuse(const To& to, const Error& error) {
  ++refused_;
  const ApiResponse answer = status_response(status_json(error), status_code(error));
  http::Headers headers = answer.headers;
  headers.set("Content-Type", answer.content_type);
  to->respond(answer.status, headers, answer.body);
}

bool Server::answer_health(const http::ServerRequest& request, const To& to) const {
  const std::string& path = request.path;
  if (path != "/healthz" && path != "/livez" && path != "/readyz") return false;
  std::string missing;
  if (path == "/readyz") {
    for (const auto& name : calls_.not_ready()) missing += "not complete yet: " + name + "\n";
  }
  http::Headers headers = json_headers("text/plain; charset=utf-8");
  if (!missing.empty()) headers.set("Retry-After", "1");
  to->respond(missing.empty() ? 200 : 503, headers, missing.empty() ? "ok" : missing);
  return true;
}

void Server::on_request(http::ServerRequest request, To to) {
  ++requests_;
  base::vlog(8, "cache server request", {{"method", request.method}, {"path", request.path}});
  const bool reading = request.method == "GET" || request.method == "HEAD";
  if (reading && answer_health(request, to)) return;
  if (!is_allowed(request)) {
    return refuse(to, unauthorized());
  }
  if (core::asks_for_impersonation(request.headers.all())) {
    return refuse(to, api_error(403, "Forbidden",
                                "this is a cache that acts as its owner only: impersonation "
                                "(--as, --as-group, --as-uid) goes to the API server itself",
                                std::nullopt));
  }
  auto segments = split_path(request.path);
  if (!segments.ok()) return refuse(to, segments.error());
  const auto path = parse_resource_path(*segments);
  if (request.method != "GET") {
    const bool review = request.method == "POST" && path && path->group == "authorization.k8s.io" &&
                        options_.forward_reads;
    if (options_.forward_writes || review) return pass_on(request, to);
    return refuse(to, api_error(405, "MethodNotAllowed",
                                "this is a cache that answers reads; it passes writes on only when "
                                "it is started with --forward-writes",
                                std::nullopt));
  }
  if (!path) {
    if (is_passed_document(request.path)) return pass_document(request, to);
    if (options_.forward_reads) return pass_on(request, to);
    return refuse(to, api_error(404, "NotFound", "the cache server has no page " + request.path,
                                std::nullopt));
  }
  auto query = parse_query(request.query);
  if (!query.ok()) return refuse(to, query.error());
  const auto call = std::make_shared<ReadCall>();
  call->request = std::move(request);
  call->path = *path;
  call->query = std::move(*query);
  call->to = std::move(to);
  if (!calls_.answer(call)) not_held(call);
}

// Readers that start together ask for the same ones: each is asked for once at a time.
void Server::pass_document(const http::ServerRequest& request, const To& to) {
  const std::string target = request.path + (request.query.empty() ? "" : "?" + request.query);
  const std::string accept(request.headers.get("Accept"));
  const std::string key = target + " " + accept;
  if (const auto* kept = documents_.fresh(key, loop_.now())) return answer_with(*to, *kept);
  if (!options_.fetch) return refuse(to, unavailable("there is no server to ask for " + target));
  if (const auto same = asking_.find(key); same != asking_.end()) {
    return same->second.push_back(to);
  }
  if (asking_.size() >= kMostAsked) {
    // As where the server does not answer, which is why they are so many.
    if (const auto* old = documents_.any(key)) return answer_with(*to, *old);
    return refuse(to, unavailable("too many documents are being asked for"));
  }
  asking_[key] = {to};
  options_.fetch(target, accept.empty() ? "application/json" : accept,
                 [this, there = std::weak_ptr(alive_), key, target,
                  asked = loop_.now()](const Result<http::Response>& got) {
                   if (!there.expired()) on_document(key, target, asked, got);
                 });
}

void Server::on_document(const std::string& key, const std::string& target, TimePoint asked,
                         const Result<http::Response>& got) {
  const auto waiting = asking_.extract(key);
  // A 401 is about this process, not about the reader, who was let in.
  const bool refused = got.ok() && got->status == 401;
  const bool answered = got.ok() && got->status < 500 && !refused;
  if (answered) documents_.keep(key, *got, asked);
  // An old one is better than none: kinds rarely change.
  const http::Response* document = answered ? &*got : documents_.any(key);
  const std::string why = refused    ? "it does not accept the login of this cache (HTTP 401)"
                          : got.ok() ? fmt::format("HTTP {}", got->status)
                                     : got.error().render();
  for (const To& to : waiting.mapped()) {
    if (document != nullptr) {
      answer_with(*to, *document);
    } else {
      refuse(to, unavailable(fmt::format("{} is the server's to answer, and it does not: {}",
                                         target, why)));
    }
  }
}

void Server::pass_on(const http::ServerRequest& request, const To& to) {
  if (!options_.forward) return refuse(to, unavailable("there is no server to pass this on to"));
  ++forwarded_;
  options_.forward(request, to);
}

void Server::not_held(const ReadCallPtr& call) {
  if (options_.forward_reads) return pass_on(call->request, call->to);
  const ResourcePath& path = call->path;
  std::string wanted = path.plural + (path.group.empty() ? "" : "." + path.group);
  if (!path.subresource.empty()) wanted += "/" + path.subresource;
  wanted += " of version " + path.version;
  if (!path.namespace_.empty()) wanted += fmt::format(" in namespace \"{}\"", path.namespace_);
  // kubectl looks for the namespace of an object that it did not find, and would tell of a 404 for
  // it instead of the object.
  const bool place = path.group.empty() && path.plural == "namespaces" && !path.name.empty();
  refuse(call->to,
         api_error(place ? 405 : 404, place ? "MethodNotAllowed" : "NotFound",
                   fmt::format("the cache holds {} and not {}; it passes other reads on only when "
                               "it is started with --forward-reads",
                               base::join(calls_.names(), ", "), wanted),
                   std::nullopt));
}

void Server::synced(KindId id, bool gap) {
  // The kind may have been away, and what was said of it meanwhile is kept; where it came back the
  // server says so a little later than it serves it.
  documents_.doubt_until(loop_.now() + (gap ? kDiscoverySettles : Duration{0}));
  calls_.synced(id, gap);
}

void Server::schedule_tick() {
  tick_ = loop_.after(kWatchTick, [this] {
    calls_.tick();
    schedule_tick();
  });
}

}  // namespace

Result<std::unique_ptr<ReadServer>> ReadServer::start(loop::EventLoop& loop,
                                                      ReadServerOptions options) {
  KW_TRY(http::check_plain_http(options.insecure_http, options.address));
  auto server = std::make_unique<Server>(loop, std::move(options));
  KW_TRY(server->listen().with_context("cannot serve the cache"));
  return std::unique_ptr<ReadServer>(std::move(server));
}

}  // namespace kubewatch::apiserver
