// The client side of HTTP, as the rest sees it: start a call, get its head, its bytes as they come
// and one end. The one implementation is CurlTransport; tests/support has a scripted one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/message.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::http {

struct CallHandlers {
  std::function<void(const ResponseHead&)> on_head;  // once, before any data; may be empty
  std::function<void(std::string_view)> on_data;     // decoded bytes, as they come; may be empty
  // Exactly once, unless the call was destroyed first. Errors: unreachable (naming host:port),
  // timeout, too_large, invalid. An HTTP error status is not an Error here.
  std::function<void(Result<void>)> on_done;
};

// Destroying it cancels; no handler is called after that. May be destroyed from inside a handler.
class Call {
 public:
  virtual ~Call() = default;
  // For who cannot take a streaming answer as fast as it comes: from pause() to resume() no more of
  // it is read, so that the server waits, and its idle time stands still. (The time of an answer
  // that is not streaming would go on.) What has come by then is still handed out: of a connection
  // a piece, or what a piece unpacks to; of an answer that is made in this process maybe all. No
  // handler is called from inside either; both may be called from inside one, and in vain.
  virtual void pause() {}
  virtual void resume() {}
};

struct TlsOptions {
  std::string ca_pem;  // the only roots when set; else the system's
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string server_name;  // "" = from the URL
  bool insecure_skip_verify = false;
  bool operator==(const TlsOptions&) const = default;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Handlers are never called from inside start(). The transport must outlive its calls.
  [[nodiscard]] virtual std::unique_ptr<Call> start(Request request, CallHandlers handlers) = 0;
  // Connections opened from now on use this; open ones and their calls go on undisturbed, but are
  // not used for further calls. Errors: invalid (PEM that does not parse: nothing changed),
  // unsupported.
  virtual Result<void> set_tls(TlsOptions tls);
  // What its requests carry that nobody gave it with them (a login's token): not for any log.
  virtual std::vector<std::string> secrets() const { return {}; }
  // Requests wait in here for a login, which has a limit of its own: of one without an answer the
  // server may know nothing.
  virtual bool awaits_login() const { return false; }
};

struct TransportOptions {
  TlsOptions tls;
  std::string user_agent;  // required
  std::string proxy;       // "" = none, whatever the environment says
  std::string no_proxy;
  bool compress = true;  // whether answers may come gzipped
  // What people call `tls.ca_pem` where they set it, for errors that advise to.
  std::string ca_setting = "certificate-authority";
};

// libcurl multi on the loop: keep-alive reuse, HTTP/1.1, TCP_NODELAY, TCP_USER_TIMEOUT, gzip, no
// redirects. Errors: invalid (PEM that does not parse).
Result<std::unique_ptr<Transport>> make_curl_transport(loop::EventLoop& loop,
                                                       TransportOptions options);

// Collects a whole answer: start() with a body callback.
[[nodiscard]] std::unique_ptr<Call> fetch(Transport& transport, Request request,
                                          std::function<void(Result<Response>)> done);

}  // namespace kubewatch::http
