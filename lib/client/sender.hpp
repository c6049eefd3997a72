// One prepared request to one answer: credentials, headers, logging, error mapping. Shared by the
// typed verbs; knows no kinds. Internal to lib/client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "client/client.hpp"
#include "client/credentials.hpp"
#include "client/request_log.hpp"
#include "client/request_observer.hpp"
#include "client/tls_files.hpp"
#include "client/write_gate.hpp"
#include "http/transport.hpp"

namespace kubewatch::client {

struct Operation {
  std::string what;        // `get pods "web" in namespace "shop"`: the context of every error
  bool log_body = false;   // bodies may appear at -v 8, and a write's warnings
  bool map_status = true;  // HTTP status >= 300 becomes an Error
  http::Request request;   // url is a path and query here
};

using ResponseCallback = std::function<void(Result<http::Response>)>;

class Sender {
 public:
  Sender(loop::EventLoop& loop, http::Transport& transport, ClientConfig config);

  PendingPtr send(Operation operation, ResponseCallback done);
  PendingPtr watch(Operation operation, WatchHandlers handlers);

  // Completes url, headers and timeouts. Errors: those of the credentials.
  Result<void> prepare(http::Request& request);
  // However long its answer takes, it ends when nothing of it comes for the request timeout, or for
  // a minute where there is none.
  void limit_silence(http::Request& request) const;
  // After a 401: whether the files of token or certificate hold something else by now, so that the
  // request, which then carries it, is worth a second try.
  bool renew(http::Request& request);
  // A second try is possible at all.
  bool renewable() const { return !config_.token_file.empty() || tls_files_.any(); }
  // No answer: the connection may have failed because of rotated certificates.
  void note_failure(const http::Request& request, const Error& error, TimePoint started);
  // What every answer means for us, whoever asked: logs it, notes warnings and refused credentials.
  // `may_quote`: as Operation::log_body. Both belong to the scope that is open.
  void note_answer(const http::Request& request, int status, const http::Headers& headers,
                   TimePoint started, bool may_quote);

  RequestObservers& observers() { return observers_; }
  void show_all_warnings() { warnings_.show_all(); }
  void set_write_gate(WriteGate* gate) { gate_ = gate; }
  // How long a write that starts now may take by the gate, 0: there is none. Errors: canceled.
  Result<Duration> may_write() const;
  // For a write: asks the gate, and bounds its time by what the gate allows. Errors: canceled.
  Result<void> pass_gate(http::Request& request) const;

  loop::EventLoop& loop() { return loop_; }
  const ClientConfig& config() const { return config_; }

 private:
  bool look_at_tls_files();

  loop::EventLoop& loop_;
  http::Transport& transport_;
  const ClientConfig config_;
  Credentials credentials_;
  TlsFiles tls_files_;
  ServerWarnings warnings_;
  WriteGate* gate_ = nullptr;
  RequestObservers observers_;
};

// HTTP status >= 300 as an Error: a redirect, and what else no API server answers, is unavailable,
// a page under 404 too: it does not say that an object is not there.
// Of a 401 it says by what `config` logs in, and which server it is; null: nothing.
Error error_of_answer(int status, const http::Headers& headers, std::string_view body,
                      const ClientConfig* config = nullptr);
// A 404 of what is no API server, or of another path of one: unavailable, with the server's URL.
Error no_api_server(const Error& why, const ClientConfig* config);
// What an answer of 200 holds and no parser takes, a proxy's page: unavailable in place of invalid,
// for it is not the user's mistake, and time may mend it.
Error unreadable_answer(Error why);

}  // namespace kubewatch::client
