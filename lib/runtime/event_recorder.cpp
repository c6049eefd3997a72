#include "runtime/event_recorder.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "client/apply_result.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kParallel = 4;

core::ResourceType event_type() {
  core::ResourceType out;
  out.gvk = {"events.k8s.io", "v1", "Event"};
  out.plural = "events";
  out.singular = "event";
  return out;
}

}  // namespace

EventRecorder::EventRecorder(client::Client& client, base::Random& random, EventLimits limits)
    : client_(client), aggregator_(limits, random) {}

Result<void> EventRecorder::record(const EventReporter& reporter, const Happening& what) {
  KW_TRY(aggregator_.observe(reporter, what, client_.loop().now(), client_.loop().wall()));
  pump();
  return {};
}

void EventRecorder::pump() {
  const TimePoint now = client_.loop().now();
  while (open_ < kParallel) {
    auto write = aggregator_.take(now);
    if (!write) break;
    send(std::move(*write));
  }
  timer_.reset();
  const auto due = aggregator_.next_due();
  if (!due || open_ == kParallel) return;  // the next answer pumps again
  timer_ = client_.loop().after(std::max(Duration{0}, *due - now), [this] { pump(); });
}

void EventRecorder::send(EventWrite write) {
  ++open_;
  const std::uint64_t id = write.id;
  if (write.create) {
    requests_.run<Result<Json>>(
        [this, id](Result<Json> answer) { on_result(id, answer.ok() ? nullptr : &answer.error()); },
        [&](client::ObjectCallback done) {
          return client_.create(event_type(), write.key.namespace_, write.body, {},
                                std::move(done));
        });
    return;
  }
  requests_.run<Result<client::ApplyResult>>(
      [this, id](Result<client::ApplyResult> answer) {
        on_result(id, answer.ok() ? nullptr : &answer.error());
      },
      [&](auto done) {
        return client_.patch(event_type(), write.key, write.body, {}, std::move(done));
      });
}

void EventRecorder::on_result(std::uint64_t id, const Error* error) {
  --open_;
  if (error != nullptr) base::vlog(2, "an Event was not written: " + error->render());
  if (const auto tell = aggregator_.on_result(id, error, client_.loop().now())) {
    base::log_warn(*tell);
  }
  pump();
  if (open_ == 0) end_flush();
}

void EventRecorder::flush(Duration at_most, std::function<void()> done) {
  aggregator_.hurry(true);
  pump();
  if (open_ == 0) {
    aggregator_.hurry(false);
    return done();
  }
  flushed_ = std::move(done);
  flush_timer_ = client_.loop().after(at_most, [this] { end_flush(); });
}

// Its end may be the end of us, who are on the stack below.
void EventRecorder::end_flush() {
  if (flushed_ == nullptr) return;
  flush_timer_.reset();
  aggregator_.hurry(false);
  client_.loop().post(std::exchange(flushed_, nullptr));
}

}  // namespace kubewatch::runtime
