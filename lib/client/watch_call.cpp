#include "client/watch_call.hpp"

#include <memory>

#include "client/stream_call.hpp"
#include "client/target.hpp"
#include "core/watch_event.hpp"

namespace kubewatch::client {
namespace {

class WatchCall : public StreamCall {
 public:
  WatchCall(Sender& sender, http::Transport& transport, Operation operation, WatchHandlers handlers)
      : StreamCall(sender, transport, std::move(operation)), handlers_(std::move(handlers)) {}

 private:
  bool accepts(int status) const override { return status == 200; }
  void on_open() override {
    if (handlers_.on_open) handlers_.on_open();
  }

  Result<void> on_bytes(std::string_view bytes) override {
    return splitter_.feed(bytes, [this](std::string_view document) {
      if (!ended()) on_document(document);
    });
  }

  void on_document(std::string_view document) {
    auto event = core::parse_watch_event(document);
    if (!event.ok()) return end(unreadable_answer(std::move(event).error()));
    if (handlers_.on_event) handlers_.on_event(*event);
  }

  void on_complete() override {
    if (splitter_.pending() > 0) {
      return end(Error(ErrorKind::unreachable, "the server closed the stream inside an event")
                     .as_disconnect());
    }
    end({});
  }

  void tell_end(Result<void> result) override {
    const auto on_end = std::move(handlers_.on_end);
    if (on_end) on_end(std::move(result));
  }

  WatchHandlers handlers_;
  core::JsonSplitter splitter_;
};

}  // namespace

PendingPtr start_watch(Sender& sender, http::Transport& transport, Operation operation,
                       WatchHandlers handlers) {
  if (auto ready = sender.prepare(operation.request); !ready.ok()) {
    return refuse(sender.loop(), std::move(ready).error().with_context(operation.what),
                  [on_end = std::move(handlers.on_end)](Error error) {
                    if (on_end) on_end(std::move(error));
                  });
  }
  return start_stream(
      std::make_shared<WatchCall>(sender, transport, std::move(operation), std::move(handlers)));
}

}  // namespace kubewatch::client
