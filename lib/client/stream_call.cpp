#include "client/stream_call.hpp"

#include <utility>

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxErrorBody = 64U << 10U;
constexpr Duration kErrorTime{30000};  // where requests have no limit of their own

struct StreamPending : Pending {
  std::shared_ptr<StreamCall> call;
  ~StreamPending() override { call->cancel(); }
};

}  // namespace

void StreamCall::cancel() {
  ended_ = true;
  error_limit_.reset();
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
  {
    const RequestScope inside(sender_.observers(), scope_);
    sender_.note_answer(operation_.request, head.status, head.headers, started_,
                        operation_.log_body);
  }
  if (accepts(head.status)) return on_open();
  // What is refused has the time of any other answer, however slowly it says why.
  const Duration most = sender_.config().request_timeout;
  error_limit_ =
      sender_.loop().after(most.count() > 0 ? most : kErrorTime, [self = weak_from_this()] {
        if (const auto state = self.lock(); state && !state->ended_) state->refused();
      });
}

void StreamCall::refused() {
  error_limit_.reset();
  if (head_.status == 401 && !retried_ && sender_.renew(operation_.request)) {
    retried_ = true;
    error_body_.clear();
    return start();
  }
  end(error_of_answer(head_.status, head_.headers, error_body_, &sender_.config()));
}

void StreamCall::on_data(std::string_view bytes) {
  if (ended_) return;
  if (logs_body() && !std::exchange(logged_, true)) log_answer_body(bytes, scope_);
  if (!accepts(head_.status)) {
    error_body_.append(bytes.substr(0, kMaxErrorBody - error_body_.size()));
    if (error_body_.size() == kMaxErrorBody) refused();
    return;
  }
  if (auto read = on_bytes(bytes); !read.ok()) end(unreadable_answer(std::move(read).error()));
}

void StreamCall::on_done(Result<void> result) {
  if (ended_) return;
  if (!result.ok()) {
    {
      const RequestScope inside(sender_.observers(), scope_);
      sender_.note_failure(operation_.request, result.error(), started_);
    }
    return end(std::move(result));
  }
  if (!accepts(head_.status)) return refused();
  on_complete();
}

bool StreamCall::close() {
  if (std::exchange(ended_, true)) return false;
  error_limit_.reset();
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
