#include "http/evhttp_connections.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.hpp"

namespace kubewatch::http {

namespace {

constexpr Duration kWarnAgain{60000};

// Not the loop's, which a rehearsal moves on: clients do not live in its time.
TimePoint real_now() {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now());
}

evbuffer* input_of(evhttp_connection* connection) {
  return bufferevent_get_input(evhttp_connection_get_bufferevent(connection));
}

}  // namespace

void EvhttpConnections::EventFree::operator()(event* timer) const {
  event_free(timer);
}

void EvhttpConnections::ReferenceDrop::operator()(bufferevent* bev) const {
  bufferevent_decref(bev);
}

EvhttpConnections::Watch::Watch(EvhttpConnections& owner, evhttp_connection* connection)
    : owner_(owner),
      connection_(connection),
      entry_(evbuffer_add_cb(input_of(connection), &Watch::on_input, this)) {
  owner_.take_back(connection_);
}

EvhttpConnections::Watch::~Watch() {
  evhttp_connection_set_closecb(connection_, nullptr, nullptr);
  if (entry_ != nullptr) evbuffer_remove_cb_entry(input_of(connection_), entry_);
}

void EvhttpConnections::Watch::on_input(evbuffer*, const evbuffer_cb_info* info,
                                        void* self) noexcept {
  auto& watch = *static_cast<Watch*>(self);
  if (info->n_added > 0) watch.owner_.read(watch.connection_, info->n_added);
}

EvhttpConnections::~EvhttpConnections() = default;

bool EvhttpConnections::open(event_base* base, std::string name) {
  name_ = std::move(name);
  look_.reset(event_new(base, -1, 0, &EvhttpConnections::on_look, this));
  return look_ != nullptr;
}

void EvhttpConnections::accepted(bufferevent* bev) {
  // The one before this is complete by now.
  keep_limits();
  bufferevent_incref(bev);
  fresh_.emplace_back(bev);
  look_soon();
}

// evhttp shows a connection to nobody before its first request, which may never come: it is what
// the callbacks of its bufferevent are given. Those of one that is thrown away are gone.
void EvhttpConnections::watch_fresh() {
  for (const auto& bev : std::exchange(fresh_, {})) {
    bufferevent_event_cb callback = nullptr;
    void* argument = nullptr;
    bufferevent_getcb(bev.get(), nullptr, nullptr, &callback, &argument);
    if (callback == nullptr) continue;
    auto* connection = static_cast<evhttp_connection*>(argument);
    watches_.try_emplace(connection, *this, connection);
    limits_.opened(connection, real_now());
  }
}

void EvhttpConnections::keep_limits() {
  watch_fresh();
  if (limits_.too_many()) warn_of_too_many();
  while (const auto connection = limits_.must_go(real_now())) {
    closed(*connection);
    evhttp_connection_free(*connection);
  }
  look_in_time();
}

void EvhttpConnections::warn_of_too_many() {
  const TimePoint now = real_now();
  if (warned_at_ && now - *warned_at_ < kWarnAgain) return;
  warned_at_ = now;
  base::log_warn("too many connections: those that have sent no whole request are closed",
                 {{"server", name_}});
}

// In this turn. As a time-out it would be undone when the timer is set.
void EvhttpConnections::look_soon() {
  event_active(look_.get(), EV_READ, 0);
}

void EvhttpConnections::look_in_time() {
  const auto next = limits_.next_deadline();
  if (!next || (look_at_ && *look_at_ <= *next)) return;
  look_at_ = next;
  const Duration delay = std::max(*next - real_now(), Duration{1});
  const timeval time{static_cast<time_t>(delay.count() / 1000),
                     static_cast<suseconds_t>(delay.count() % 1000 * 1000)};
  event_add(look_.get(), &time);
}

void EvhttpConnections::on_look(int, short, void* self) noexcept {
  auto& connections = *static_cast<EvhttpConnections*>(self);
  connections.look_at_.reset();
  connections.keep_limits();
}

void EvhttpConnections::read(evhttp_connection* connection, std::size_t count) {
  if (!limits_.owes_request(connection)) return;
  evbuffer* input = input_of(connection);
  evbuffer_ptr from;
  evbuffer_ptr_set(input, &from, evbuffer_get_length(input) - count, EVBUFFER_PTR_SET);
  const auto size = static_cast<ev_ssize_t>(count);
  std::vector<evbuffer_iovec> pieces(
      static_cast<std::size_t>(evbuffer_peek(input, size, &from, nullptr, 0)));
  evbuffer_peek(input, size, &from, pieces.data(), static_cast<int>(pieces.size()));
  for (const evbuffer_iovec& piece : pieces) {
    limits_.read(connection, {static_cast<const char*>(piece.iov_base), piece.iov_len}, real_now());
  }
  // Not from here: evhttp is about to look at what was read.
  if (limits_.must_go(real_now())) return look_soon();
  look_in_time();
}

void EvhttpConnections::is_whole(evhttp_request* request) {
  limits_.is_whole(evhttp_request_get_connection(request));
  evhttp_request_set_on_complete_cb(request, &EvhttpConnections::on_answered, this);
}

// All of the answer is with the kernel. What was sent ahead is of the next request.
void EvhttpConnections::on_answered(evhttp_request* request, void* self) noexcept {
  auto& connections = *static_cast<EvhttpConnections*>(self);
  evhttp_connection* connection = evhttp_request_get_connection(request);
  connections.limits_.answered(connection);
  const std::size_t ahead = evbuffer_get_length(input_of(connection));
  if (ahead > 0) connections.read(connection, ahead);
}

void EvhttpConnections::on_close(evhttp_connection* connection, void* self) noexcept {
  static_cast<EvhttpConnections*>(self)->closed(connection);
}

void EvhttpConnections::closed(evhttp_connection* connection) {
  watches_.erase(connection);
  limits_.closed(connection);
}

void EvhttpConnections::take_back(evhttp_connection* connection) {
  evhttp_connection_set_closecb(connection, &EvhttpConnections::on_close, this);
}

}  // namespace kubewatch::http
