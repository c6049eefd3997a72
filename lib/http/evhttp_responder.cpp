// Answers over evhttp. After a client went away evhttp hands the request back to us (its connection
// is null then); until then it belongs to the connection.
#include "http/evhttp_responder.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <utility>

#include "http/checks.hpp"
#include "http/gzip.hpp"
#include "http/write_now.hpp"

namespace kubewatch::http {

namespace {

// A client that takes nothing while this much waits for it is cut off.
constexpr std::size_t kMaxBacklog = 64U << 20U;
// What a client may send ahead while it is being streamed to.
constexpr std::size_t kReadAhead = 4096;
// Between requests on one connection, and of a client that takes nothing of its answer.
constexpr timeval kIdleTimeout{120, 0};
constexpr timeval kWriteTimeout{60, 0};
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::size_t kKeptFrame = 1U << 20U;

struct BufferFree {
  void operator()(evbuffer* buffer) const { evbuffer_free(buffer); }
};
using BufferPtr = std::unique_ptr<evbuffer, BufferFree>;

BufferPtr buffer_of(std::string_view bytes) {
  BufferPtr out(evbuffer_new());
  evbuffer_add(out.get(), bytes.data(), bytes.size());
  return out;
}

// evhttp keeps the text only until the next use of the request; this one is static.
const char* phrase_of(int status) {
  switch (status) {
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    default: return nullptr;
  }
}

// A chunk as HTTP/1.1 has it (RFC 9112, 7.1): its size in hex, and itself, a line each.
std::size_t frame_size(std::string_view bytes) {
  const auto digits = (static_cast<std::size_t>(std::bit_width(bytes.size())) + 3) / 4;
  return digits + bytes.size() + 2 * kLineEnd.size();
}

// Precondition: bytes is not empty (a chunk of size 0 ends the stream); frame_size() fit behind
// `to`.
void write_frame(std::string_view bytes, char* to) {
  to = std::to_chars(to, to + 2 * sizeof(std::size_t), bytes.size(), 16).ptr;
  to = std::copy_n(kLineEnd.data(), kLineEnd.size(), to);
  to = std::copy_n(bytes.data(), bytes.size(), to);
  std::copy_n(kLineEnd.data(), kLineEnd.size(), to);
}

// So many bytes that `write` puts into one piece of memory. False: nothing was added.
template <class Write>
bool add_in_one(evbuffer* output, std::size_t size, Write write) {
  evbuffer_iovec space{};
  if (evbuffer_reserve_space(output, static_cast<ev_ssize_t>(size), &space, 1) != 1) return false;
  write(static_cast<char*>(space.iov_base));
  space.iov_len = size;
  return evbuffer_commit_space(output, &space, 1) == 0;
}

bufferevent* bufferevent_of(evhttp_request* request) {
  evhttp_connection* connection = evhttp_request_get_connection(request);
  return connection == nullptr ? nullptr : evhttp_connection_get_bufferevent(connection);
}

// Of an answer that only has to be taken now. evhttp would go on reading, to notice the client's
// end: what a client sends ahead would pile up, its silence or its half-close cut the answer off. A
// write shows the end as well. evhttp reads again with the next request.
void stop_reading(bufferevent* bev) {
  if (bev != nullptr) bufferevent_disable(bev, EV_READ);
}

}  // namespace

EvhttpResponder::EvhttpResponder(evhttp_request* request, ResponderOwner* owner, bool takes_gzip)
    : request_(request), owner_(owner), takes_gzip_(takes_gzip) {
  evhttp_connection* connection = evhttp_request_get_connection(request_);
  evhttp_connection_set_closecb(connection, &EvhttpResponder::on_close, this);
}

EvhttpResponder::~EvhttpResponder() {
  on_gone_ = nullptr;
  if (request_ != nullptr && streaming_) {
    end();
  } else if (request_ != nullptr) {
    respond(500, Headers{}, "no answer was given to this request\n");
  }
  if (owner_ != nullptr) owner_->forget(this);
}

evhttp_request* EvhttpResponder::take() {
  evhttp_request* request = std::exchange(request_, nullptr);
  if (evhttp_connection* connection = evhttp_request_get_connection(request)) {
    owner_->take_back(connection);
    bufferevent* bev = evhttp_connection_get_bufferevent(connection);
    stop_reading(bev);
    bufferevent_setwatermark(bev, EV_READ, 0, 0);
    bufferevent_set_timeouts(bev, &kIdleTimeout, &kWriteTimeout);
  }
  return request;
}

void EvhttpResponder::add_headers(const Headers& headers) {
  evkeyvalq* out = evhttp_request_get_output_headers(request_);
  for (const auto& [name, value] : headers.all()) {
    if (!is_token(name) || !is_header_value(value)) continue;
    evhttp_add_header(out, name.c_str(), value.c_str());
  }
}

void EvhttpResponder::respond(int status, const Headers& headers, std::string_view body) {
  if (request_ == nullptr || streaming_) return;
  add_headers(headers);
  evkeyvalq* out = evhttp_request_get_output_headers(request_);
  BufferPtr content;
  if (takes_gzip_ && body.size() > kGzipThreshold && !headers.has("Content-Encoding")) {
    content = buffer_of(gzip(body));
    evhttp_add_header(out, "Content-Encoding", "gzip");
    evhttp_add_header(out, "Vary", "Accept-Encoding");
  } else {
    content = buffer_of(body);
  }
  evhttp_request* request = request_;
  const bool is_head = evhttp_request_get_command(request) == EVHTTP_REQ_HEAD;
  if (is_head && !headers.has("Content-Length")) {
    const std::string size = std::to_string(evbuffer_get_length(content.get()));
    evhttp_add_header(out, "Content-Length", size.c_str());
  }
  const bool no_body = is_head || status == 204 || status == 304;
  take();
  bufferevent* bev = bufferevent_of(request);
  evhttp_send_reply(request, status, phrase_of(status), no_body ? nullptr : content.get());
  stop_reading(bev);
}

void EvhttpResponder::begin(int status, const Headers& headers) {
  if (request_ == nullptr || streaming_) return;
  streaming_ = true;
  add_headers(headers);
  if (request_->major == 1 && request_->minor == 0) {
    // It has no chunks: the end of the connection is the end of the stream.
    evhttp_remove_header(evhttp_request_get_input_headers(request_), "Connection");
  }
  bufferevent* bev = bufferevent_of(request_);
  bufferevent_setwatermark(bev, EV_READ, 0, kReadAhead);
  bufferevent_set_timeouts(bev, nullptr, nullptr);
  evhttp_send_reply_start(request_, status, phrase_of(status));
}

void EvhttpResponder::send(std::string_view bytes) {
  if (gone() || !streaming_ || bytes.empty()) return;
  if (!begun_ || !send_framed(bytes)) {
    const BufferPtr chunk = buffer_of(bytes);
    // The connection keeps one callback, that of what was written last: the end's replaces ours.
    evhttp_send_reply_chunk_with_cb(request_, chunk.get(), &EvhttpResponder::on_written, this);
    begun_ = true;
  }
  if (backlog() > kMaxBacklog) drop();
}

// The loop's way to a client takes a turn of its own, two changes of what is polled and a copy of
// the bytes: a quarter of the time of an event that a thousand watchers get.
void EvhttpResponder::send_now(std::string_view bytes) {
  const bool may = !gone() && streaming_ && begun_ && request_->chunked != 0;
  if (!may || bytes.empty() || backlog() > 0) return send(bytes);
  bufferevent* bev = bufferevent_of(request_);
  // Its bytes are with the kernel or in the connection's buffer before this returns.
  static std::string frame;
  frame.resize(frame_size(bytes));
  write_frame(bytes, frame.data());
  const std::string_view rest = std::string_view(frame).substr(write_now(bev, frame));
  // Lost bytes would shift all that follows.
  const bool kept =
      rest.empty() || add_in_one(bufferevent_get_output(bev), rest.size(),
                                 [rest](char* to) { std::copy_n(rest.data(), rest.size(), to); });
  if (frame.capacity() > kKeptFrame) frame = std::string();
  if (!kept || backlog() > kMaxBacklog) drop();
}

// evhttp puts a chunk's length and its bytes into two buffers, and each buffer becomes a TLS record
// and a write of its own: twice the work for each event of each watcher. In one buffer they are
// one. False: this answer has no chunks or no body, or there is no memory; nothing was added then.
bool EvhttpResponder::send_framed(std::string_view bytes) {
  if (request_->chunked == 0) return false;
  return add_in_one(bufferevent_get_output(bufferevent_of(request_)), frame_size(bytes),
                    [bytes](char* to) { write_frame(bytes, to); });
}

void EvhttpResponder::abort() {
  if (!gone()) drop();
}

std::size_t EvhttpResponder::backlog() const {
  if (gone()) return 0;
  bufferevent* bev = bufferevent_of(request_);
  return bev == nullptr ? 0 : evbuffer_get_length(bufferevent_get_output(bev));
}

void EvhttpResponder::on_gone(std::function<void()> callback) {
  on_gone_ = std::move(callback);
}

void EvhttpResponder::on_drained(std::function<void()> callback) {
  on_drained_ = std::move(callback);
}

void EvhttpResponder::on_written(evhttp_connection*, void* self) noexcept {
  auto& responder = *static_cast<EvhttpResponder*>(self);
  if (responder.request_ == nullptr || responder.dropped_ || !responder.on_drained_) return;
  // A copy: it may destroy us.
  const auto callback = responder.on_drained_;
  callback();
}

// libevent tells of a TLS connection's write in a callback of a later turn, and gives it to whoever
// waits by then. The end's own would take the callback of an earlier write for its own, go on to
// the next request and stop writing: the client would never see the end. So the last chunk is
// written like any, and the answer is over when nothing is left.
void EvhttpResponder::end() {
  evhttp_request* request = take();
  if (request->chunked == 0) return evhttp_send_reply_end(request);
  request->chunked = 0;  // the frame of the last chunk is in what is sent
  request->userdone = 1;
  const BufferPtr last = buffer_of(kLastChunk);
  bufferevent* bev = bufferevent_of(request);
  evhttp_send_reply_chunk_with_cb(request, last.get(), &EvhttpResponder::on_ended, request);
  stop_reading(bev);
}

void EvhttpResponder::on_ended(evhttp_connection* connection, void* request) noexcept {
  evbuffer* output = bufferevent_get_output(evhttp_connection_get_bufferevent(connection));
  if (evbuffer_get_length(output) > 0) return;
  evhttp_send_reply_end(static_cast<evhttp_request*>(request));
}

// evhttp must notice by itself, in the next turn: closing here could pull the connection from under
// it. What is written after this, such as the end of a stream, reaches nobody.
void EvhttpResponder::drop() {
  dropped_ = true;
  shutdown(bufferevent_getfd(bufferevent_of(request_)), SHUT_RDWR);
}

void EvhttpResponder::abandon() {
  owner_ = nullptr;
  if (request_ != nullptr) {
    if (evhttp_connection* connection = evhttp_request_get_connection(request_)) {
      evhttp_connection_set_closecb(connection, nullptr, nullptr);
    }
  }
  request_ = nullptr;
  on_gone_ = nullptr;
  on_drained_ = nullptr;
}

void EvhttpResponder::on_close(evhttp_connection* connection, void* self) noexcept {
  auto& responder = *static_cast<EvhttpResponder*>(self);
  responder.owner_->closed(connection);
  responder.closed();
}

void EvhttpResponder::closed() {
  evhttp_request* request = std::exchange(request_, nullptr);
  if (evhttp_request_get_connection(request) == nullptr) evhttp_request_free(request);
  // The callback may destroy this.
  const auto callback = std::move(on_gone_);
  on_gone_ = nullptr;
  on_drained_ = nullptr;
  if (callback && streaming_) callback();
}

}  // namespace kubewatch::http
