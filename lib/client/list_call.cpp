// A list on the wire. Its state outlives the Pending while a handler runs, so that the Pending may
// be destroyed from inside any of them.
#include "client/list_call.hpp"

#include <memory>
#include <string>

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxErrorBody = 64U << 10U;

class ListState : public std::enable_shared_from_this<ListState> {
 public:
  ListState(Sender& sender, http::Transport& transport, Operation operation, ItemCallback on_item,
            ListCallback done)
      : sender_(sender),
        transport_(transport),
        operation_(std::move(operation)),
        on_item_(std::move(on_item)),
        done_(std::move(done)) {}

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
  }

  void on_data(std::string_view bytes) {
    if (ended_) return;
    if (operation_.log_body && !logged_) log_answer_body(bytes);
    logged_ = true;
    if (head_.status >= 300) {
      error_body_.append(bytes.substr(0, kMaxErrorBody - error_body_.size()));
      return;
    }
    auto fed = items_.feed(bytes, [this](std::string_view item) {
      if (!ended_) on_item_(item);
    });
    if (!fed.ok()) end(std::move(fed).error());
  }

  void on_done(Result<void> result) {
    if (ended_) return;
    if (!result.ok()) {
      sender_.note_failure(operation_.request, result.error(), started_);
      return end(std::move(result).error());
    }
    if (head_.status == 401 && !retried_ && sender_.renew(operation_.request)) {
      retried_ = true;
      error_body_.clear();
      return start();
    }
    if (head_.status >= 300) {
      return end(error_of_answer(head_.status, head_.headers, error_body_));
    }
    end(items_.finish());
  }

  void end(Result<core::ListPage> page) {
    if (ended_) return;
    ended_ = true;
    call_.reset();
    const auto done = std::move(done_);
    done(std::move(page).with_context(operation_.what));
  }

  Sender& sender_;
  http::Transport& transport_;
  Operation operation_;
  const ItemCallback on_item_;
  ListCallback done_;
  TimePoint started_{};
  std::unique_ptr<http::Call> call_;
  http::ResponseHead head_;
  core::ListSplitter items_;
  std::string error_body_;
  bool logged_ = false;
  bool retried_ = false;  // after a 401, with renewed credentials
  bool ended_ = false;
};

struct ListPending : Pending {
  std::shared_ptr<ListState> state;
  ~ListPending() override { state->cancel(); }
};

}  // namespace

PendingPtr start_list(Sender& sender, http::Transport& transport, Operation operation,
                      ItemCallback on_item, ListCallback done) {
  if (auto ready = sender.prepare(operation.request); !ready.ok()) {
    return sender.fail(std::move(ready).error().with_context(operation.what),
                       [done = std::move(done)](Error error) { done(std::move(error)); });
  }
  // However long a big list takes, it is well while bytes come.
  operation.request.streaming = true;
  operation.request.idle_timeout = sender.config().request_timeout;
  auto pending = std::make_unique<ListPending>();
  pending->state = std::make_shared<ListState>(sender, transport, std::move(operation),
                                               std::move(on_item), std::move(done));
  pending->state->start();
  return pending;
}

}  // namespace kubewatch::client
