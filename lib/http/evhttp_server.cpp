// Server::listen(): evhttp with our own listening socket, TLS, limits and checks before the
// handler.
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <fmt/format.h>
#include <openssl/ssl.h>

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "http/checks.hpp"
#include "http/evhttp_connections.hpp"
#include "http/evhttp_responder.hpp"
#include "http/gzip.hpp"
#include "http/host_check.hpp"
#include "http/listen_address.hpp"
#include "http/listen_socket.hpp"
#include "http/own_page.hpp"
#include "http/server.hpp"
#include "http/tls_context.hpp"
#include "loop/open_files.hpp"

namespace kubewatch::http {

namespace {

// While no descriptor is left the listener would otherwise spin.
constexpr Duration kAcceptPause{200};

const char* name_of(evhttp_cmd_type method) {
  switch (method) {
    case EVHTTP_REQ_GET: return "GET";
    case EVHTTP_REQ_POST: return "POST";
    case EVHTTP_REQ_HEAD: return "HEAD";
    case EVHTTP_REQ_PUT: return "PUT";
    case EVHTTP_REQ_DELETE: return "DELETE";
    case EVHTTP_REQ_OPTIONS: return "OPTIONS";
    case EVHTTP_REQ_TRACE: return "TRACE";
    case EVHTTP_REQ_CONNECT: return "CONNECT";
    case EVHTTP_REQ_PATCH: return "PATCH";
  }
  return "GET";
}

timeval to_timeval(Duration duration) {
  return timeval{static_cast<time_t>(duration.count() / 1000),
                 static_cast<suseconds_t>(duration.count() % 1000 * 1000)};
}

class EvhttpServer;

// libevent gives an accept error to a listener that belongs to evhttp without a word about us.
std::unordered_map<evconnlistener*, EvhttpServer*>& servers_by_listener() {
  static std::unordered_map<evconnlistener*, EvhttpServer*> map;
  return map;
}

struct EvhttpFree {
  void operator()(evhttp* http) const { evhttp_free(http); }
};

class EvhttpServer final : public Server, public ResponderOwner {
 public:
  EvhttpServer(loop::EventLoop& loop, ServerOptions options, Handler handler, SslContextPtr tls)
      : loop_(loop),
        options_(std::move(options)),
        handler_(std::move(handler)),
        tls_(std::move(tls)),
        hosts_(options_.address, options_.hosts),
        connections_(limits_of(options_), options_.own_page ? options_.own_page : &plain_page) {}
  ~EvhttpServer() override;
  EvhttpServer(const EvhttpServer&) = delete;
  EvhttpServer& operator=(const EvhttpServer&) = delete;

  Result<void> open();
  std::uint16_t port() const override { return port_; }

  void closed(evhttp_connection* connection) override { connections_.closed(connection); }
  void take_back(evhttp_connection* connection) override { connections_.take_back(connection); }

 private:
  static ConnectionLimitOptions limits_of(const ServerOptions& options);
  static void on_request(evhttp_request* request, void* self) noexcept;
  static bufferevent* on_connection(event_base* base, void* self) noexcept;
  static void on_accept_error(evconnlistener* listener, void*) noexcept;
  bool accept_on(loop::Fd& socket);
  void handle(evhttp_request* request);
  bool refuse(const ServerRequest& request, Responder& responder, int fd) const;
  void pause_accepting();
  void forget(EvhttpResponder* responder) override { open_.erase(responder); }

  loop::EventLoop& loop_;
  ServerOptions options_;
  Handler handler_;
  SslContextPtr tls_;
  HostCheck hosts_;
  std::uint16_t port_ = 0;
  std::vector<evconnlistener*> listeners_;  // evhttp's
  loop::Timer resume_;
  std::unordered_set<EvhttpResponder*> open_;
  EvhttpConnections connections_;
  std::unique_ptr<evhttp, EvhttpFree> http_;
};

EvhttpServer::~EvhttpServer() {
  for (EvhttpResponder* responder : open_) responder->abandon();
  connections_.let_go();
  for (evconnlistener* listener : listeners_) servers_by_listener().erase(listener);
}

Result<void> EvhttpServer::open() {
  KW_ASSIGN(ListenSockets listening, listen_on(options_.address, options_.port));
  port_ = listening.port;
  bool ready = connections_.open(loop_.native(), to_string(ListenAddress{options_.address, port_}));
  http_.reset(evhttp_new(loop_.native()));
  for (loop::Fd& socket : listening.sockets) ready = ready && http_ && accept_on(socket);
  if (!ready) {
    return Error(ErrorKind::internal, "cannot start the HTTP server on " +
                                          to_string(ListenAddress{options_.address, port_}));
  }
  evhttp_set_gencb(http_.get(), &EvhttpServer::on_request, this);
  evhttp_set_bevcb(http_.get(), &EvhttpServer::on_connection, this);
  // Who answers says what it does not take; only what has no name here comes to own_page.
  evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
                                              EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
                                              EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                                              EVHTTP_REQ_PATCH);
  evhttp_set_max_headers_size(http_.get(), static_cast<ev_ssize_t>(options_.max_header_bytes));
  evhttp_set_max_body_size(http_.get(), static_cast<ev_ssize_t>(options_.max_body_bytes));
  evhttp_set_default_content_type(http_.get(), nullptr);
  // Reads what it refuses, so that the client sees the 413 and not a reset.
  evhttp_set_flags(http_.get(), EVHTTP_SERVER_LINGERING_CLOSE);
  // For what it says itself to clients that do not read.
  const timeval timeout = to_timeval(options_.request_timeout);
  evhttp_set_timeout_tv(http_.get(), &timeout);
  return {};
}

// Takes it, unless it cannot.
bool EvhttpServer::accept_on(loop::Fd& socket) {
  const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
  evconnlistener* listener =
      evconnlistener_new(loop_.native(), nullptr, nullptr, flags, 0, socket.get());
  if (listener == nullptr) return false;
  socket.release();
  if (evhttp_bind_listener(http_.get(), listener) == nullptr) {
    evconnlistener_free(listener);
    return false;
  }
  listeners_.push_back(listener);
  servers_by_listener()[listener] = this;
  evconnlistener_set_error_cb(listener, &EvhttpServer::on_accept_error);
  return true;
}

ConnectionLimitOptions EvhttpServer::limits_of(const ServerOptions& options) {
  ConnectionLimitOptions out;
  out.connections = options.max_connections == 0 ? connections_among_others(loop::open_files())
                                                 : options.max_connections;
  out.request_bytes = options.max_header_bytes + options.max_body_bytes;
  out.headers = options.header_timeout;
  out.request = options.request_timeout;
  return out;
}

bufferevent* make_tls_connection(event_base* base, SSL_CTX* tls) {
  SSL* ssl = SSL_new(tls);
  if (ssl == nullptr) return nullptr;
  bufferevent* bev = bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                                    BEV_OPT_CLOSE_ON_FREE);
  // Most clients close without a TLS goodbye.
  if (bev != nullptr) bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
  return bev;
}

bufferevent* EvhttpServer::on_connection(event_base* base, void* self) noexcept {
  auto* server = static_cast<EvhttpServer*>(self);
  bufferevent* bev = server->tls_ ? make_tls_connection(base, server->tls_.get())
                                  : bufferevent_socket_new(base, -1, 0);
  if (bev != nullptr) server->connections_.accepted(bev);
  return bev;
}

void EvhttpServer::on_accept_error(evconnlistener* listener, void*) noexcept {
  const auto found = servers_by_listener().find(listener);
  if (found != servers_by_listener().end()) found->second->pause_accepting();
}

void EvhttpServer::pause_accepting() {
  base::log_warn("cannot accept connections for a moment: out of file descriptors or memory",
                 {{"port", std::to_string(port_)}});
  for (evconnlistener* listener : listeners_) evconnlistener_disable(listener);
  resume_ = loop_.after(kAcceptPause, [this] {
    for (evconnlistener* listener : listeners_) evconnlistener_enable(listener);
  });
}

void EvhttpServer::on_request(evhttp_request* request, void* self) noexcept {
  auto* server = static_cast<EvhttpServer*>(self);
  loop::EventLoop& loop = server->loop_;  // which stays, whatever the handler does
  static_cast<void>(loop.now());          // starts the clock of this turn
  server->handle(request);
  loop.ran_outside();
}

Headers headers_of(evhttp_request* request) {
  Headers out;
  const evkeyvalq* input = evhttp_request_get_input_headers(request);
  for (const evkeyval* item = input->tqh_first; item != nullptr; item = item->next.tqe_next) {
    out.add(item->key, item->value);
  }
  return out;
}

// "//a/b?c": a path, in which libevent sees a host (RFC 9112, 3.2.1).
bool begins_with_gap(evhttp_request* request) {
  const char* line = evhttp_request_get_uri(request);
  return line != nullptr && std::string_view(line).starts_with("//");
}

void take_uri(evhttp_request* request, ServerRequest& out) {
  if (begins_with_gap(request)) {
    std::string_view line = evhttp_request_get_uri(request);
    line = line.substr(0, line.find('#'));
    const std::size_t mark = std::min(line.find('?'), line.size());
    out.path = line.substr(0, mark);
    out.query = line.substr(std::min(mark + 1, line.size()));
    return;
  }
  const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
  const char* path = evhttp_uri_get_path(uri);
  const char* query = evhttp_uri_get_query(uri);
  out.path = path == nullptr || *path == '\0' ? "/" : path;
  out.query = query == nullptr ? "" : query;
}

ServerRequest to_request(evhttp_request* request) {
  ServerRequest out;
  out.method = name_of(evhttp_request_get_command(request));
  take_uri(request, out);
  out.headers = headers_of(request);
  evbuffer* body = evhttp_request_get_input_buffer(request);
  out.body.resize(evbuffer_get_length(body));
  evbuffer_remove(body, out.body.data(), out.body.size());
  char* address = nullptr;
  std::uint16_t port = 0;
  evhttp_connection_get_peer(evhttp_request_get_connection(request), &address, &port);
  const std::string host = address == nullptr ? "?" : address;
  const bool ipv6 = host.find(':') != std::string::npos;
  out.peer = (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  return out;
}

void answer(Responder& responder, int status, std::string_view sentence, Headers headers = {}) {
  headers.add("Content-Type", "text/plain; charset=utf-8");
  headers.add("X-Content-Type-Options", "nosniff");
  responder.respond(status, headers, std::string(sentence) + "\n");
}

void EvhttpServer::handle(evhttp_request* raw) {
  evhttp_connection* connection = evhttp_request_get_connection(raw);
  const int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
  const char* uri_host = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(raw));
  connections_.is_whole(raw);
  ServerRequest request = to_request(raw);
  const auto fault = framing_fault(request.method, request.headers);
  // An absolute request line overrides the header.
  const bool absolute = uri_host != nullptr && *uri_host != '\0' && !begins_with_gap(raw);
  if (absolute) request.headers.set("Host", uri_host);
  const bool takes_gzip = accepts_gzip(request.headers.get("Accept-Encoding"));
  auto responder = std::make_shared<EvhttpResponder>(raw, this, takes_gzip);
  open_.insert(responder.get());
  if (fault) {
    // What follows may be no request.
    Headers headers;
    headers.add("Connection", "close");
    return answer(*responder, 400, *fault, std::move(headers));
  }
  if (refuse(request, *responder, fd)) return;
  handler_(std::move(request), std::move(responder));
}

bool EvhttpServer::refuse(const ServerRequest& request, Responder& responder, int fd) const {
  const std::string local = local_address_of(fd);
  if (!options_.any_host && !hosts_.allows(request.headers.get("Host"), local)) {
    answer(responder, 403,
           "This server does not answer to that host name; use localhost or its address.");
    return true;
  }
  const std::string_view origin = request.headers.get("Origin");
  if (!origin.empty() &&
      !hosts_.allows_origin(origin, request.headers.get("Host"), tls_ != nullptr, local)) {
    answer(responder, 403, "This server does not answer requests from web pages of other origins.");
    return true;
  }
  const std::string encoding = base::to_lower(request.headers.get("Content-Encoding"));
  if (!encoding.empty() && encoding != "identity") {
    answer(responder, 415, "This server takes request bodies without Content-Encoding only.");
    return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(loop::EventLoop& loop, ServerOptions options,
                                               Handler handler) {
  SslContextPtr tls;
  if (options.tls) {
    KW_ASSIGN(tls, make_server_context(*options.tls));
  }
  auto server =
      std::make_unique<EvhttpServer>(loop, std::move(options), std::move(handler), std::move(tls));
  KW_TRY(server->open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace kubewatch::http
