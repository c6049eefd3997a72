// Sends spans to a collector by OTLP/HTTP JSON, one batch at a time, never holding anything up: the
// queue is bounded, and what a collector does not take in time is dropped and counted. After a
// failure it waits, longer each time, or as long as the collector asks to. Owned by engine.
#pragma once

#include <functional>
#include <memory>

#include "base/backoff.hpp"
#include "client/request_observer.hpp"
#include "hooks/trace.hpp"
#include "hooks/trace_settings.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class TraceExporter {
 public:
  // `loop` and `random` must outlive it. Errors: those of read_trace_tls(), invalid.
  static Result<std::unique_ptr<TraceExporter>> make(loop::EventLoop& loop, TraceTarget target,
                                                     base::Random& random);
  TraceExporter(loop::EventLoop& loop, TraceTarget target,
                std::unique_ptr<http::Transport> transport, base::Random& random);
  ~TraceExporter();

  void add(Span span);
  // Tries to send what is left, but no longer than a moment; then `done`, from the loop. What could
  // not be sent is given up with a warning.
  void flush(std::function<void()> done);
  std::uint64_t sent() const { return sent_; }
  std::uint64_t dropped() const { return queue_.dropped(); }
  double sampled() const { return target_.sampled; }

 private:
  void send_later();
  void send();
  void on_taken(const ExportAnswer& answer, std::size_t spans);
  void on_failed(const Result<http::Response>& answer, const ExportAnswer& judged);
  void read_tls_again();
  void on_answer(std::vector<Span> batch, const Result<http::Response>& answer);
  void end_flush();

  loop::EventLoop& loop_;
  TraceTarget target_;
  std::map<std::string, std::string> resource_;  // whose spans they are
  std::unique_ptr<http::Transport> transport_;
  SpanQueue queue_;
  base::Random& random_;
  std::uint64_t sent_ = 0;
  std::size_t in_flight_ = 0;
  base::Backoff failures_;
  Duration pause_;              // before the next request
  bool told_rejected_ = false;  // that the collector rejects spans of those it takes
  std::unique_ptr<http::Call> call_;
  loop::Timer timer_;
  loop::Timer flush_timer_;
  std::function<void()> flushed_;
};

// The span of one run: told of its requests, ended by the run.
class RunTrace : public client::RequestObserver {
 public:
  RunTrace(TraceExporter& exporter, loop::EventLoop& loop, base::Random& random);
  const TraceIds& ids() const { return ids_; }
  void on_request(const client::RequestFacts& request) override;
  // `attributes` of the run; `error`: why it failed, masked.
  void end(std::string name, std::map<std::string, std::string> attributes,
           std::optional<std::string> error);

 private:
  TraceExporter& exporter_;
  loop::EventLoop& loop_;
  base::Random& random_;
  TraceIds ids_;
  WallTime start_;
  TimePoint started_;
  std::size_t requests_ = 0;
};

}  // namespace kubewatch::hooks
