// The event loop's half of libcurl's multi_socket interface.
#include "http/curl_engine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace kubewatch::http {

namespace {

constexpr long kMaxIdleConnections = 256;
constexpr std::size_t kMaxIdleHandles = 64;
// libcurl reads a hundred times in a row if there is so much: with TLS and gzip that is a turn of
// hundreds of milliseconds, in which no hook starts and no event of another watch is seen.
constexpr std::chrono::milliseconds kTurn{3};

}  // namespace

CurlEngine::CurlEngine(loop::EventLoop& loop, TransportOptions options)
    : loop_(loop), options_(std::make_shared<const TransportOptions>(std::move(options))) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  assert(initialised == CURLE_OK);
  static_cast<void>(initialised);
  multi_ = curl_multi_init();
  sessions_ = curl_share_init();
  curl_share_setopt(sessions_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlEngine::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlEngine::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
}

CurlEngine::~CurlEngine() {
  while (!running_.empty()) {
    const auto transfer = release(running_.begin()->first);
    transfer->cancel();
  }
  for (CURL* easy : idle_handles_) curl_easy_cleanup(easy);
  // It still calls on_socket for the connections that it closes.
  curl_multi_cleanup(multi_);
  curl_share_cleanup(sessions_);
}

std::shared_ptr<Transfer> CurlEngine::start(Request request, CallHandlers handlers) {
  auto transfer =
      std::make_shared<Transfer>(loop_, options_, std::move(request), std::move(handlers),
                                 [this](Transfer& one) { pace(one); });
  if (Result<void> checked = transfer->check(); !checked.ok()) {
    loop_.post([transfer, error = std::move(checked).error()] { transfer->finish(error); });
    return transfer;
  }
  if (inside_) {
    deferred_.push_back([this, transfer] { launch(transfer); });
  } else {
    launch(transfer);
  }
  return transfer;
}

void CurlEngine::set_tls(TlsOptions tls) {
  TransportOptions changed = *options_;
  changed.tls = std::move(tls);
  options_ = std::make_shared<const TransportOptions>(std::move(changed));
}

void CurlEngine::launch(const std::shared_ptr<Transfer>& transfer) {
  if (transfer->canceled()) return;
  CURL* easy = nullptr;
  if (idle_handles_.empty()) {
    easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_SHARE, sessions_);
  } else {
    easy = idle_handles_.back();
    idle_handles_.pop_back();
  }
  transfer->configure(easy);
  use_no_distrusted(easy);
  running_[easy].transfer = transfer;
  running_[easy].started = loop_.now();
  if (transfer->idle_timeout() > Duration::zero()) {
    arm_idle(easy, transfer->idle_timeout());
  }
  [[maybe_unused]] const CURLMcode added = curl_multi_add_handle(multi_, easy);
  assert(added == CURLM_OK);
}

// The peer of a kept connection may be gone without a word, while a load balancer still takes what
// is sent there: so may those of all that were opened before that was asked, and each would cost
// the time of a request. What was opened for it anew says nothing of others.
void CurlEngine::distrust_older(CURL* unanswered) {
  long opened = 0;
  curl_easy_getinfo(unanswered, CURLINFO_NUM_CONNECTS, &opened);
  if (opened > 0) return;
  const TimePoint started = running_.at(unanswered).started;
  distrusted_ = std::max(distrusted_.value_or(started), started);
}

// libcurl counts whole seconds, and takes 0 for no limit.
void CurlEngine::use_no_distrusted(CURL* easy) const {
  if (!distrusted_) return;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(loop_.now() - *distrusted_);
  const long oldest = static_cast<long>(age.count()) - 1;
  if (oldest > 0) {
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, oldest);
  } else {
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  }
}

void CurlEngine::cancel(const std::shared_ptr<Transfer>& transfer) {
  transfer->cancel();
  if (transfer->easy() == nullptr) return;
  if (inside_) {
    deferred_.push_back([this, transfer] {
      if (transfer->easy() != nullptr) release(transfer->easy());
    });
  } else {
    release(transfer->easy());
  }
}

std::shared_ptr<Transfer> CurlEngine::release(CURL* easy) {
  const auto found = running_.find(easy);
  assert(found != running_.end());
  auto transfer = std::move(found->second.transfer);
  running_.erase(found);
  curl_multi_remove_handle(multi_, easy);
  transfer->detach();
  if (idle_handles_.size() < kMaxIdleHandles) {
    curl_easy_reset(easy);
    idle_handles_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
  return transfer;
}

void CurlEngine::drive(curl_socket_t fd, int events) {
  enter([&] {
    int still_running = 0;
    curl_multi_socket_action(multi_, fd, events, &still_running);
  });
}

void CurlEngine::pace(Transfer& transfer) {
  if (transfer.held()) {
    curl_easy_pause(transfer.easy(), CURLPAUSE_RECV);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (turn_ != loop_.now()) {
    turn_ = loop_.now();
    turn_began_ = now;
  }
  if (now - turn_began_ < kTurn) return;
  curl_easy_pause(transfer.easy(), CURLPAUSE_RECV);
  resume_later(transfer);
}

void CurlEngine::let_go(const std::shared_ptr<Transfer>& transfer) {
  if (!transfer->held()) return;
  transfer->let_go();
  resume_later(*transfer);
}

void CurlEngine::resume_later(Transfer& transfer) {
  loop_.post([weak = weak_from_this(), paused = transfer.weak_from_this()] {
    const auto self = weak.lock();
    const auto one = paused.lock();
    if (self && one) self->resume(one);
  });
}

// What it has kept back is handed out from inside curl_easy_pause, which alone says that it was
// refused: libcurl tells no end of such a transfer. Before there is a connection it minds being
// asked.
void CurlEngine::resume(const std::shared_ptr<Transfer>& transfer) {
  if (transfer->easy() == nullptr || transfer->held()) return;
  const auto keep = shared_from_this();
  CURLcode code = CURLE_OK;
  enter([&] { code = curl_easy_pause(transfer->easy(), CURLPAUSE_CONT); });
  const bool refused = code != CURLE_OK && code != CURLE_BAD_FUNCTION_ARGUMENT;
  if (!refused || transfer->easy() == nullptr) return;
  Result<void> outcome = transfer->outcome(code);
  release(transfer->easy());
  transfer->finish(std::move(outcome));
}

void CurlEngine::enter(const std::function<void()>& call) {
  const auto keep = shared_from_this();
  inside_ = true;
  call();
  inside_ = false;
  std::vector<std::function<void()>> deferred;
  deferred.swap(deferred_);
  for (const auto& action : deferred) action();
  collect();
}

void CurlEngine::collect() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    // Before release(), which resets what the handle knows about its end.
    Result<void> outcome = running_.at(easy).transfer->outcome(code);
    if (code == CURLE_OPERATION_TIMEDOUT) distrust_older(easy);
    const auto transfer = release(easy);
    transfer->finish(std::move(outcome));
  }
}

int CurlEngine::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) noexcept {
  static_cast<CurlEngine*>(self)->watch(fd, what);
  return 0;
}

void CurlEngine::watch(curl_socket_t fd, int what) {
  if (what == CURL_POLL_REMOVE) {
    sockets_.erase(fd);
    return;
  }
  Socket& socket = sockets_[fd];
  if ((what & CURL_POLL_IN) == 0) {
    socket.readable.reset();
  } else if (!socket.readable) {
    socket.readable = loop_.on_readable(fd, [this, fd] { drive(fd, CURL_CSELECT_IN); });
  }
  if ((what & CURL_POLL_OUT) == 0) {
    socket.writable.reset();
  } else if (!socket.writable) {
    socket.writable = loop_.on_writable(fd, [this, fd] { drive(fd, CURL_CSELECT_OUT); });
  }
}

int CurlEngine::on_timer(CURLM*, long timeout_ms, void* self) noexcept {
  static_cast<CurlEngine*>(self)->set_timer(timeout_ms);
  return 0;
}

void CurlEngine::set_timer(long timeout_ms) {
  timer_.reset();
  if (timeout_ms < 0) return;
  timer_ = loop_.after(Duration{timeout_ms}, [this] { drive(CURL_SOCKET_TIMEOUT, 0); });
}

void CurlEngine::arm_idle(CURL* easy, Duration delay) {
  running_.at(easy).idle = loop_.after(delay, [this, easy] { check_idle(easy); });
}

void CurlEngine::check_idle(CURL* easy) {
  const auto keep = shared_from_this();
  const auto& transfer = running_.at(easy).transfer;
  const Duration left = transfer->held()
                            ? transfer->idle_timeout()
                            : transfer->last_activity() + transfer->idle_timeout() - loop_.now();
  if (left > Duration::zero()) {
    arm_idle(easy, left);
    return;
  }
  const auto ended = release(easy);
  ended->finish(ended->idle_error());
}

}  // namespace kubewatch::http
