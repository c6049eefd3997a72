// A Transport without a network, for tests of everything above lib/http. It records each request
// and plays back what the test scripted: heads, bytes in chosen chunks, ends. It keeps Transport's
// promises: no handler is called inside start(), none after a call was destroyed, a call may be
// destroyed inside one.
//
//   ScriptedTransport transport;                     // answers are played by run()
//   ScriptedTransport transport(loop);               // answers are played by the loop's next turns
//   transport.route("GET", "/version", 200, "{}");   // every such request, whatever its query
//   transport.answer(200, body);                     // the next request that no route takes, in
//   order transport.fail(Error(ErrorKind::unreachable, "…"));
//
// A request that nothing is scripted for stays open, and the test drives it by hand:
//
//   auto& watch = transport.call(0);                 // by order of start()
//   watch.head(200); watch.data("{...}"); watch.end();
//   CHECK(watch.canceled());
//
// It is not a server: it knows no HTTP and no Kubernetes. lib/apiserver is one.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::test {

// One call from start() to its end. Driving it after its end or cancellation does nothing.
class ScriptedCall {
 public:
  explicit ScriptedCall(http::Request request, http::CallHandlers handlers)
      : request_(std::move(request)), handlers_(std::move(handlers)) {}

  const http::Request& request() const { return request_; }
  // Method, path and query: "GET /api/v1/pods?limit=5".
  std::string line() const { return request_.method + " " + target(); }
  // Path and query.
  std::string target() const {
    const std::size_t scheme = request_.url.find("://");
    const std::size_t path = scheme == std::string::npos ? 0 : request_.url.find('/', scheme + 3);
    return path == std::string::npos ? "/" : request_.url.substr(path);
  }
  std::string path() const { return target().substr(0, target().find('?')); }

  // The caller destroyed the call before its end.
  bool canceled() const { return canceled_; }
  // The caller wants no more for now; what had come is given all the same.
  bool paused() const { return paused_; }
  bool ended() const { return ended_; }
  bool open() const { return !canceled_ && !ended_; }

  void head(int status, http::Headers headers = {}) {
    if (!open()) return;
    const auto handler = handlers_.on_head;
    if (handler) handler(http::ResponseHead{status, std::move(headers)});
  }
  // Handed over in pieces of at most `chunk` bytes.
  void data(std::string_view bytes, std::size_t chunk = std::string_view::npos) {
    while (!bytes.empty() && open()) {
      const std::string_view part = bytes.substr(0, chunk);
      bytes.remove_prefix(part.size());
      const auto handler = handlers_.on_data;
      if (handler) handler(part);
    }
  }
  void end() { finish({}); }
  void fail(Error error) { finish(std::move(error)); }

 private:
  friend class ScriptedTransport;

  void finish(Result<void> result) {
    if (!open()) return;
    ended_ = true;
    const auto handler = std::move(handlers_.on_done);
    handlers_ = {};
    if (handler) handler(std::move(result));
  }
  void cancel() {
    if (!ended_) canceled_ = true;
    handlers_ = {};
  }

  http::Request request_;
  http::CallHandlers handlers_;
  bool canceled_ = false;
  bool paused_ = false;
  bool ended_ = false;
};

class ScriptedTransport final : public http::Transport {
 public:
  ScriptedTransport() = default;
  // `loop` must outlive it.
  explicit ScriptedTransport(loop::EventLoop& loop) : loop_(&loop) {}

  void answer(int status, std::string body = "", http::Headers headers = {}) {
    answers_.push_back({"", "", status, std::move(body), std::move(headers), nullptr});
  }
  void fail(Error error) {
    answers_.push_back({"", "", 0, "", {}, std::make_shared<Error>(std::move(error))});
  }
  // The latest route of a method and path wins; "" as path takes every path.
  void route(std::string method, std::string path, int status, std::string body,
             http::Headers headers = {}) {
    routes_.push_front(
        {std::move(method), std::move(path), status, std::move(body), std::move(headers), nullptr});
  }
  // Scripted bodies come in pieces of at most `bytes`.
  void set_chunk(std::size_t bytes) { chunk_ = bytes; }

  std::size_t size() const { return calls_.size(); }
  ScriptedCall& call(std::size_t index) { return *calls_.at(index); }
  ScriptedCall& last() { return *calls_.back(); }
  const http::Request& request(std::size_t index) { return call(index).request(); }
  // "GET /a", ... of all calls so far.
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const auto& call : calls_) out.push_back(call->line());
    return out;
  }

  // Plays scripted answers until none is left, also those to requests that they cause. Without a
  // loop only.
  void run() {
    while (!ready_.empty()) {
      const auto [call, script] = std::move(ready_.front());
      ready_.pop_front();
      play(*call, script, chunk_);
    }
  }

  // What set_tls was given, in order; `refuse_tls` makes it fail once.
  std::vector<http::TlsOptions> tls;
  bool refuse_tls = false;
  Result<void> set_tls(http::TlsOptions given) override {
    if (std::exchange(refuse_tls, false)) return Error(ErrorKind::invalid, "not a certificate");
    tls.push_back(std::move(given));
    return {};
  }

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto call = std::make_shared<ScriptedCall>(std::move(request), std::move(handlers));
    calls_.push_back(call);
    if (const auto script = script_for(*call)) {
      if (loop_ == nullptr) {
        ready_.emplace_back(call, *script);
      } else {
        loop_->post([call, script = *script, chunk = chunk_] { play(*call, script, chunk); });
      }
    }
    auto handle = std::make_unique<CallHandle>();
    handle->call = std::move(call);
    return handle;
  }

 private:
  struct Script {
    std::string method;
    std::string path;
    int status = 200;
    std::string body;
    http::Headers headers;
    std::shared_ptr<Error> error;
  };

  struct CallHandle : http::Call {
    std::shared_ptr<ScriptedCall> call;
    ~CallHandle() override { call->cancel(); }
    void pause() override { call->paused_ = true; }
    void resume() override { call->paused_ = false; }
  };

  std::shared_ptr<Script> script_for(const ScriptedCall& call) {
    for (const Script& route : routes_) {
      if (route.method == call.request().method &&
          (route.path.empty() || route.path == call.path())) {
        return std::make_shared<Script>(route);
      }
    }
    if (answers_.empty()) return nullptr;
    auto out = std::make_shared<Script>(std::move(answers_.front()));
    answers_.pop_front();
    return out;
  }

  static void play(ScriptedCall& call, const Script& script, std::size_t chunk) {
    if (script.error) return call.fail(*script.error);
    call.head(script.status, script.headers);
    call.data(script.body, chunk);
    call.end();
  }

  loop::EventLoop* loop_ = nullptr;
  std::deque<Script> routes_;
  std::deque<Script> answers_;
  std::deque<std::pair<std::shared_ptr<ScriptedCall>, Script>> ready_;
  std::vector<std::shared_ptr<ScriptedCall>> calls_;
  std::size_t chunk_ = std::string_view::npos;
};

}  // namespace kubewatch::test
