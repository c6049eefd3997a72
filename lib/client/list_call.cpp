#include "client/list_call.hpp"

#include <memory>

#include "client/stream_call.hpp"
#include "client/target.hpp"

namespace kubewatch::client {
namespace {

class ListCall : public StreamCall {
 public:
  ListCall(Sender& sender, http::Transport& transport, Operation operation, ItemCallback on_item,
           ListCallback done)
      : StreamCall(sender, transport, std::move(operation)),
        on_item_(std::move(on_item)),
        done_(std::move(done)) {}

 private:
  bool accepts(int status) const override { return status < 300; }
  bool logs_body() const override { return operation().log_body; }

  Result<void> on_bytes(std::string_view bytes) override {
    return items_.feed(bytes, [this](std::string_view item) {
      if (!ended()) on_item_(item);
    });
  }

  void on_complete() override {
    auto page = items_.finish();
    if (!page.ok()) return end(unreadable_answer(std::move(page).error()));
    if (!close()) return;
    const auto done = std::move(done_);
    done(std::move(page));
  }

  void tell_end(Result<void> result) override {
    const auto done = std::move(done_);
    done(std::move(result).error());
  }

  const ItemCallback on_item_;
  ListCallback done_;
  core::ListSplitter items_;
};

}  // namespace

PendingPtr start_list(Sender& sender, http::Transport& transport, Operation operation,
                      ItemCallback on_item, ListCallback done) {
  if (auto ready = sender.prepare(operation.request); !ready.ok()) {
    return refuse(sender.loop(), std::move(ready).error().with_context(operation.what),
                  std::move(done));
  }
  // However long a big list takes, it is well while bytes come, and not one by one.
  operation.request.streaming = true;
  sender.limit_silence(operation.request);
  return start_stream(std::make_shared<ListCall>(sender, transport, std::move(operation),
                                                 std::move(on_item), std::move(done)));
}

}  // namespace kubewatch::client
