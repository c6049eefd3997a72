// A watch on the wire. Its state outlives the Pending while a handler runs, so that the Pending may
// be destroyed from inside any of them.
#include "client/watch_call.hpp"

#include <memory>
#include <string>

#include "core/watch_event.hpp"

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxErrorBody = 64U << 10U;

class WatchState : public std::enable_shared_from_this<WatchState> {
 public:
  WatchState(Sender& sender, http::Transport& transport, Operation operation,
             WatchHandlers handlers)
      : sender_(sender),
        transport_(transport),
        operation_(std::move(operation)),
        handlers_(std::move(handlers)) {}

  void cancel() {
    ended_ = true;
    call_.reset();
  }

  void start() {
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

 private:
  void on_head(const http::ResponseHead& head) {
    if (ended_) return;
    head_ = head;
    sender_.note_answer(operation_.request, head.status, head.headers, started_);
    if (head.status == 200 && handlers_.on_open) handlers_.on_open();
  }

  void on_data(std::string_view bytes) {
    if (ended_) return;
    if (head_.status != 200) {
      error_body_.append(bytes.substr(0, kMaxErrorBody - error_body_.size()));
      return;
    }
    auto fed = splitter_.feed(bytes, [this](std::string_view document) {
      if (!ended_) on_document(document);
    });
    if (!fed.ok()) end(std::move(fed));
  }

  void on_document(std::string_view document) {
    auto event = core::parse_watch_event(document);
    if (!event.ok()) return end(std::move(event).error());
    if (handlers_.on_event) handlers_.on_event(*event);
  }

  void on_done(Result<void> result) {
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
    if (head_.status != 200) {
      return end(error_of_answer(head_.status, head_.headers, error_body_));
    }
    if (splitter_.pending() > 0) {
      return end(Error(ErrorKind::unreachable, "the server closed the stream inside an event"));
    }
    end({});
  }

  void end(Result<void> result) {
    if (ended_) return;
    ended_ = true;
    call_.reset();
    const auto on_end = std::move(handlers_.on_end);
    if (on_end) on_end(std::move(result).with_context(operation_.what));
  }

  Sender& sender_;
  http::Transport& transport_;
  Operation operation_;
  WatchHandlers handlers_;
  TimePoint started_{};
  std::unique_ptr<http::Call> call_;
  http::ResponseHead head_;
  core::JsonSplitter splitter_;
  std::string error_body_;
  bool retried_ = false;  // after a 401, with renewed credentials
  bool ended_ = false;
};

struct WatchPending : Pending {
  std::shared_ptr<WatchState> state;
  ~WatchPending() override { state->cancel(); }
};

}  // namespace

PendingPtr start_watch(Sender& sender, http::Transport& transport, Operation operation,
                       WatchHandlers handlers) {
  if (auto ready = sender.prepare(operation.request); !ready.ok()) {
    return sender.fail(std::move(ready).error().with_context(operation.what),
                       [on_end = std::move(handlers.on_end)](Error error) {
                         if (on_end) on_end(std::move(error));
                       });
  }
  auto pending = std::make_unique<WatchPending>();
  pending->state =
      std::make_shared<WatchState>(sender, transport, std::move(operation), std::move(handlers));
  pending->state->start();
  return pending;
}

}  // namespace kubewatch::client
