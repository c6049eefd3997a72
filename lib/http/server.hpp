// The server side of HTTP over evhttp, plain or TLS, for the sandbox and the cache server. Caps
// sizes, the time that a request may take, and connections; checks Host against the names it
// serves; answers or streams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::http {

struct ServerRequest {
  std::string method;
  std::string path;   // not decoded
  std::string query;  // after '?', not decoded
  Headers headers;
  std::string body;
  std::string peer;  // "127.0.0.1:4711"
};

// One answer. Thrown away without respond() or begin(), it answers 500. All calls are safe after
// the client has gone: they do nothing, and gone() is true.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void respond(int status, const Headers& headers, std::string_view body) = 0;
  // Streaming: chunked, headers flushed at once; send() after that; destroying the Responder ends
  // it.
  virtual void begin(int status, const Headers& headers) = 0;
  virtual void send(std::string_view bytes) = 0;
  // send() for what is worth a write of its own, such as an event to one of many watchers: handed
  // to the kernel before this returns, unless something waits already. on_drained() is not called
  // for what never had to wait.
  virtual void send_now(std::string_view bytes) { send(bytes); }
  // The answer cannot be completed: the connection is cut without an end, so that no client takes
  // half of it for all of it. gone() is true from then on.
  virtual void abort() = 0;
  virtual bool gone() const = 0;
  // Bytes not yet taken by the client; a slow watcher is dropped by whoever looks at this.
  virtual std::size_t backlog() const = 0;
  // Called once when the client goes away while streaming.
  virtual void on_gone(std::function<void()> callback) = 0;
  // Called each time all that was sent has been taken, until it is set to nothing. It may send more
  // and may destroy the Responder.
  virtual void on_drained(std::function<void()> callback) = 0;
};

using Handler = std::function<void(ServerRequest, std::shared_ptr<Responder>)>;

struct ServerTls {
  std::string certificate_pem;
  std::string key_pem;
};

// What is answered without the handler.
struct OwnPage {
  int status = 0;
  std::string content_type;
  std::string body;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0 = the kernel picks
  std::optional<ServerTls> tls;
  std::vector<std::string> hosts;  // further Host names that are answered (loopback names always)
  // Every Host is answered, and a request without one: for who is called by names it cannot know.
  bool any_host = false;
  std::size_t max_header_bytes = 64U << 10U;
  std::size_t max_body_bytes = 3U << 20U;
  // Above it goes what owes a whole request the longest, or else the new one: never what is being
  // answered. 0: connections_among_others() of the descriptors that this process may have.
  std::size_t max_connections = 0;
  // From the first byte, of a connection's first request from connecting. An answer may take as
  // long as it likes while its client takes some of it each minute (of a stream the handler looks
  // at that); between two requests a client has 2 min.
  Duration header_timeout{10000};
  Duration request_timeout{60000};  // headers and body
  // What comes to no handler because it is not whole: 400 where it cannot be read, 413 of a body
  // that is too long, 417 of an Expect, 501 of a method that has no name here. Without it a
  // sentence.
  std::function<OwnPage(int status)> own_page;
};

class Server {
 public:
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
  // Bind errors: unavailable, naming address and port.
  static Result<std::unique_ptr<Server>> listen(loop::EventLoop& loop, ServerOptions options,
                                                Handler handler);
};

// A CA and a server certificate signed by it (ECDSA P-256), for the given DNS names and IPs; PEM.
struct GeneratedCertificate {
  std::string ca_pem;
  std::string certificate_pem;
  std::string key_pem;
};
Result<GeneratedCertificate> generate_certificate(const std::vector<std::string>& dns_names,
                                                  const std::vector<std::string>& ip_addresses,
                                                  WallTime now);
// From now on by the system's clock: who looks at it knows no other, whatever time a loop has.
Result<GeneratedCertificate> generate_certificate(const std::vector<std::string>& dns_names,
                                                  const std::vector<std::string>& ip_addresses);

}  // namespace kubewatch::http
