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

evbuffer* output_of(evhttp_connection* connection) {
  return bufferevent_get_output(evhttp_connection_get_bufferevent(connection));
}

// What is to be sent may be looked at, and not copied or taken out, once a bufferevent has written:
// it lets nobody else at the front.
std::string text_of(evbuffer* output) {
  std::vector<evbuffer_iovec> pieces(
      static_cast<std::size_t>(evbuffer_peek(output, -1, nullptr, nullptr, 0)));
  evbuffer_peek(output, -1, nullptr, pieces.data(), static_cast<int>(pieces.size()));
  std::string out;
  for (const evbuffer_iovec& piece : pieces) {
    out.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  return out;
}

void take_out(evbuffer* output, std::size_t count) {
  if (evbuffer_drain(output, count) == 0) return;
  evbuffer_unfreeze(output, 1);
  evbuffer_drain(output, count);
  evbuffer_freeze(output, 1);
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
      entry_(evbuffer_add_cb(input_of(connection), &Watch::on_input, this)),
      output_entry_(evbuffer_add_cb(output_of(connection), &Watch::on_output, this)) {
  owner_.take_back(connection_);
}

EvhttpConnections::Watch::~Watch() {
  evhttp_connection_set_closecb(connection_, nullptr, nullptr);
  if (entry_ != nullptr) evbuffer_remove_cb_entry(input_of(connection_), entry_);
  if (output_entry_ != nullptr) evbuffer_remove_cb_entry(output_of(connection_), output_entry_);
}

void EvhttpConnections::Watch::hear_output(bool heard) {
  if (output_entry_ == nullptr) return;
  evbuffer* output = output_of(connection_);
  if (heard) {
    evbuffer_cb_set_flags(output, output_entry_, EVBUFFER_CB_ENABLED);
  } else {
    evbuffer_cb_clear_flags(output, output_entry_, EVBUFFER_CB_ENABLED);
  }
}

// evhttp writes its page piece by piece, none of which goes to the kernel in this turn.
void EvhttpConnections::Watch::on_output(evbuffer*, const evbuffer_cb_info* info,
                                         void* self) noexcept {
  auto& watch = *static_cast<Watch*>(self);
  if (info->n_added == 0) return;
  if (watch.owner_.answered_by_evhttp_.insert(watch.connection_).second) watch.owner_.look_soon();
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

// What it says before a body (100) stays.
void EvhttpConnections::replace_pages() {
  for (evhttp_connection* connection : std::exchange(answered_by_evhttp_, {})) {
    evbuffer* output = output_of(connection);
    const std::string said = text_of(output);
    const auto ours = with_own_page(said, page_);
    if (!ours) continue;
    hear_output(connection, false);
    take_out(output, said.size());
    evbuffer_add(output, ours->data(), ours->size());
    hear_output(connection, true);
  }
}

void EvhttpConnections::hear_output(evhttp_connection* connection, bool heard) {
  const auto watch = watches_.find(connection);
  if (watch != watches_.end()) watch->second.hear_output(heard);
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
  connections.replace_pages();
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
  evhttp_connection* connection = evhttp_request_get_connection(request);
  limits_.is_whole(connection);
  hear_output(connection, false);
  evhttp_request_set_on_complete_cb(request, &EvhttpConnections::on_answered, this);
}

// All of the answer is with the kernel. What was sent ahead is of the next request.
void EvhttpConnections::on_answered(evhttp_request* request, void* self) noexcept {
  auto& connections = *static_cast<EvhttpConnections*>(self);
  evhttp_connection* connection = evhttp_request_get_connection(request);
  connections.limits_.answered(connection);
  connections.hear_output(connection, true);
  const std::size_t ahead = evbuffer_get_length(input_of(connection));
  if (ahead > 0) connections.read(connection, ahead);
}

void EvhttpConnections::on_close(evhttp_connection* connection, void* self) noexcept {
  static_cast<EvhttpConnections*>(self)->closed(connection);
}

void EvhttpConnections::closed(evhttp_connection* connection) {
  watches_.erase(connection);
  answered_by_evhttp_.erase(connection);
  limits_.closed(connection);
}

void EvhttpConnections::take_back(evhttp_connection* connection) {
  evhttp_connection_set_closecb(connection, &EvhttpConnections::on_close, this);
}

}  // namespace kubewatch::http
