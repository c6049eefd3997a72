#include "client/stream_call.hpp"

#include <utility>

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxErrorBody = 64U << 10U;

struct StreamPending : Pending {
  std::shared_ptr<StreamCall> call;
  ~StreamPending() override { call->cancel(); }
};

}  // namespace

void StreamCall::cancel() {
  ended_ = true;
  call_.reset();
}

void StreamCall::start() {
  started_ = sender_.loop().now();
  const auto self = weak_from_this();
  http::CallHandlers handlers;
  handlers.on_head = [self](const http::ResponseHead& head) {
    if (const auto state = self.lock()) state->on_head(head);
  };
  handlers.on_data = [self](std::string_view bytes) {
    if (const auto state = self.lock()) state->on_data(bytes);
  };
  handlers.on_done = [self](Result<void> result) {
    if (const auto state = self.lock()) state->on_done(std::move(result));
  };
  call_ = transport_.start(operation_.request, std::move(handlers));
}

void StreamCall::on_head(const http::ResponseHead& head) {
  if (ended_) return;
  head_ = head;
  sender_.note_answer(operation_.request, head.status, head.headers, started_);
  if (accepts(head.status)) on_open();
}

void StreamCall::on_data(std::string_view bytes) {
  if (ended_) return;
  if (logs_body() && !std::exchange(logged_, true)) log_answer_body(bytes);
  if (!accepts(head_.status)) {
    error_body_.append(bytes.substr(0, kMaxErrorBody - error_body_.size()));
    return;
  }
  if (auto read = on_bytes(bytes); !read.ok()) end(std::move(read));
}

void StreamCall::on_done(Result<void> result) {
  if (ended_) return;
  if (!result.ok()) {
    sender_.note_failure(operation_.request, result.error(), started_);
    return end(std::move(result));
  }
  if (head_.status == 401 && !retried_ && sender_.renew(operation_.request)) {
    retried_ = true;
    error_body_.clear();
    return start();
  }
  if (!accepts(head_.status)) {
    return end(error_of_answer(head_.status, head_.headers, error_body_));
  }
  on_complete();
}

bool StreamCall::close() {
  if (std::exchange(ended_, true)) return false;
  call_.reset();
  return true;
}

void StreamCall::end(Result<void> result) {
  if (close()) tell_end(std::move(result).with_context(operation_.what));
}

PendingPtr start_stream(std::shared_ptr<StreamCall> call) {
  auto pending = std::make_unique<StreamPending>();
  pending->call = std::move(call);
  pending->call->start();
  return pending;
}

}  // namespace kubewatch::client
