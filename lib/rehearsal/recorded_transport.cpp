#include "rehearsal/recorded_transport.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kubewatch::rehearsal {

namespace {

using hooks::RequestUse;

constexpr const char* kLost =
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
    "\"Failure\",\"reason\":\"Expired\",\"code\":410,\"message\":\"the recorded watch had lost its "
    "place here\"}}\n";

http::ResponseHead head_of(int status) {
  http::ResponseHead head;
  head.status = status;
  head.headers.add("Content-Type", "application/json");
  return head;
}

}  // namespace

// One open watch.
struct RecordedTransport::Watch : http::Call, std::enable_shared_from_this<Watch> {
  RecordedServer::Interest interest;
  std::string stream;  // as `between` has it
  http::CallHandlers handlers;
  bool over = false;
};

struct RecordedTransport::Impl : std::enable_shared_from_this<Impl> {
  Impl(loop::EventLoop& the_loop, RecordedServer the_server, std::function<void()> the_end)
      : loop(the_loop), server(std::move(the_server)), on_end(std::move(the_end)) {}

  loop::EventLoop& loop;
  RecordedServer server;
  std::function<void()> on_end;
  std::vector<std::weak_ptr<Watch>> watches;
  std::set<std::string> between;  // streams that were listed and are not watched yet
  bool planned = false;

  void plan() {
    if (std::exchange(planned, true)) return;
    loop.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->planned = false;
      self->tell();
    });
  }

  std::vector<std::shared_ptr<Watch>> open_watches() {
    std::vector<std::shared_ptr<Watch>> out;
    std::erase_if(watches, [&](const auto& weak) {
      const auto watch = weak.lock();
      if (watch == nullptr || watch->over) return true;
      out.push_back(watch);
      return false;
    });
    return out;
  }

  // One step a turn of the loop: who replays may stop at any state that was recorded. A handler may
  // close any watch, open others, or list.
  void tell() {
    const auto open = open_watches();
    if (open.empty() || !between.empty()) return;
    std::set<int> streams;
    for (const auto& watch : open) streams.insert(watch->interest.stream);
    const auto step = server.next(streams);
    if (!step) {
      if (on_end) std::exchange(on_end, nullptr)();
      return;
    }
    for (const auto& watch : open) {
      if (watch->over || watch->interest.stream != step->stream) continue;
      tell_one(*watch, *step);
    }
    plan();
  }

  // The handlers may end the call, and with it themselves.
  void tell_one(Watch& watch, const RecordedServer::Step& step) {
    const std::string line = step.lost ? kLost : RecordedServer::event_line(step, watch.interest);
    if (line.empty()) return;
    const http::CallHandlers own = watch.handlers;
    if (step.lost) {  // whoever watched lists again: nobody else goes on before
      between.insert(watch.stream);
      watch.over = true;
    }
    if (own.on_data) own.on_data(line);
    if (step.lost && own.on_done && watch.handlers.on_done) own.on_done({});
  }
};

// The user's end of a watch, or of an answer on its way.
class RecordedTransport::Plain : public http::Call {
 public:
  explicit Plain(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~Plain() override {
    watch_->over = true;
    watch_->handlers = {};
  }

 private:
  std::shared_ptr<Watch> watch_;
};

RecordedTransport::RecordedTransport(loop::EventLoop& loop, RecordedServer server,
                                     std::function<void()> on_end)
    : impl_(std::make_shared<Impl>(loop, std::move(server), std::move(on_end))) {}

RecordedTransport::~RecordedTransport() = default;

const RecordedServer& RecordedTransport::server() const {
  return impl_->server;
}

std::unique_ptr<http::Call> RecordedTransport::start(http::Request request,
                                                     http::CallHandlers handlers) {
  auto call = std::make_shared<Watch>();
  call->handlers = std::move(handlers);
  const auto target = hooks::api_target(request.url);
  const RequestUse use = target ? hooks::use_of(request.method, *target) : RequestUse::other;
  const bool streaming = use == RequestUse::watch && !target->flag("sendInitialEvents");
  auto interest = streaming ? impl_->server.interest_of(*target)
                            : Result<RecordedServer::Interest>(RecordedServer::Interest{});
  const std::string stream = target ? target->stream() : "";
  const bool held_up = use == RequestUse::list && impl_->between.insert(stream).second;
  impl_->loop.post([impl = impl_, call, request = std::move(request), use, held_up, streaming,
                    stream, interest = std::move(interest)]() mutable {
    if (call->over) {
      // Nobody watches after a list that was given up; after one before it somebody may.
      if (held_up && impl->between.erase(stream) > 0) impl->plan();
      return;
    }
    // The handlers may end the call, and with it themselves.
    const http::CallHandlers own = call->handlers;
    if (streaming && interest.ok()) {
      call->interest = std::move(*interest);
      call->stream = stream;
      impl->between.erase(stream);
      impl->watches.push_back(call);
      if (own.on_head) own.on_head(head_of(200));
      return impl->plan();
    }
    const auto answer = impl->server.answer(request.method, request.url);
    if (answer.status != 200) {
      impl->between.erase(stream);
    } else if (use == RequestUse::list) {
      impl->between.insert(stream);  // one before it may have been given up since
    }
    if (own.on_head) own.on_head(head_of(answer.status));
    if (!call->over && own.on_data) own.on_data(answer.body);
    if (!call->over && own.on_done) {
      call->over = true;
      own.on_done({});
    }
    impl->plan();
  });
  return std::make_unique<Plain>(std::move(call));
}

}  // namespace kubewatch::rehearsal
