// libcurl's multi interface on the event loop: sockets, its one timer, starts, ends. No changes to
// handles while libcurl is on the stack: they wait until it has returned.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "http/curl_transfer.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::http {

// Shared by the transport and, weakly, by its calls; keeps itself alive while it runs handlers, so
// that a handler may destroy the transport once its calls are gone.
class CurlEngine : public std::enable_shared_from_this<CurlEngine> {
 public:
  CurlEngine(loop::EventLoop& loop, TransportOptions options);
  ~CurlEngine();
  CurlEngine(const CurlEngine&) = delete;
  CurlEngine& operator=(const CurlEngine&) = delete;

  std::shared_ptr<Transfer> start(Request request, CallHandlers handlers);
  void cancel(const std::shared_ptr<Transfer>& transfer);
  // Goes on in the next turn with one that is held.
  void let_go(const std::shared_ptr<Transfer>& transfer);
  // For transfers that are started from now on. libcurl reuses a connection only where the material
  // is the same.
  void set_tls(TlsOptions tls);

 private:
  struct Socket {
    loop::FdWatch readable;
    loop::FdWatch writable;
  };
  struct Running {
    std::shared_ptr<Transfer> transfer;
    TimePoint started{};
    loop::Timer idle;
  };

  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) noexcept;
  static int on_timer(CURLM*, long timeout_ms, void* self) noexcept;
  void watch(curl_socket_t fd, int what);
  void set_timer(long timeout_ms);
  void drive(curl_socket_t fd, int events);
  // Runs what lets libcurl call back, then what was put off until it had returned.
  void enter(const std::function<void()>& call);
  void collect();
  // Bytes of this transfer were handed out. Where this turn of the loop has been long enough, no
  // more are read before the next one; of one that is held none before it is let go.
  void pace(Transfer& transfer);
  void resume_later(Transfer& transfer);
  void resume(const std::shared_ptr<Transfer>& transfer);
  void launch(const std::shared_ptr<Transfer>& transfer);
  void distrust_older(CURL* unanswered);
  void use_no_distrusted(CURL* easy) const;
  void arm_idle(CURL* easy, Duration delay);
  void check_idle(CURL* easy);
  // Takes the easy handle off the multi and back to the pool.
  std::shared_ptr<Transfer> release(CURL* easy);

  loop::EventLoop& loop_;
  std::shared_ptr<const TransportOptions> options_;
  CURLM* multi_ = nullptr;
  CURLSH* sessions_ = nullptr;  // of TLS; taken up only where server and material are the same
  std::unordered_map<curl_socket_t, Socket> sockets_;
  loop::Timer timer_;
  std::unordered_map<CURL*, Running> running_;
  std::vector<CURL*> idle_handles_;
  std::vector<std::function<void()>> deferred_;
  bool inside_ = false;
  std::optional<TimePoint> distrusted_;  // no kept connection that was opened before is used
  TimePoint turn_{};                     // the loop's time of the turn that began at turn_began_
  std::chrono::steady_clock::time_point turn_began_{};
};

}  // namespace kubewatch::http
