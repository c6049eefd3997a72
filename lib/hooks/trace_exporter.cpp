#include "hooks/trace_exporter.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostSpans = 4096;
constexpr std::size_t kBatch = 512;
constexpr std::size_t kMostRequests = 200;  // spans of one run
constexpr Duration kPauseBetweenExports{2000};
constexpr base::BackoffPolicy kRetries{Duration{5000}, Duration{120000}, 2.0, 0.2};
constexpr Duration kConnectTimeout{10000};
constexpr Duration kFlushTime{2000};

std::map<std::string, std::string> resource_of(const TraceTarget& target) {
  auto out = target.resource;
  out["service.name"] = target.service_name;
  out.try_emplace("service.version", KUBEWATCH_VERSION);
  return out;
}

}  // namespace

Result<std::unique_ptr<TraceExporter>> TraceExporter::make(loop::EventLoop& loop,
                                                           TraceTarget target,
                                                           base::Random& random) {
  http::TransportOptions options;
  options.user_agent = "kubewatch/" KUBEWATCH_VERSION;
  options.proxy = target.proxy;
  options.no_proxy = target.no_proxy;
  options.ca_setting = "OTEL_EXPORTER_OTLP_CERTIFICATE";
  KW_ASSIGN(options.tls, read_trace_tls(target));
  KW_ASSIGN(auto transport, http::make_curl_transport(loop, std::move(options)));
  return std::make_unique<TraceExporter>(loop, std::move(target), std::move(transport), random);
}

TraceExporter::TraceExporter(loop::EventLoop& loop, TraceTarget target,
                             std::unique_ptr<http::Transport> transport, base::Random& random)
    : loop_(loop),
      target_(std::move(target)),
      resource_(resource_of(target_)),
      transport_(std::move(transport)),
      queue_(kMostSpans),
      random_(random),
      failures_(kRetries),
      pause_(kPauseBetweenExports) {}

TraceExporter::~TraceExporter() = default;

void TraceExporter::add(Span span) {
  queue_.add(std::move(span));
  if (queue_.size() >= kBatch && failures_.failures() == 0) return send();
  send_later();
}

void TraceExporter::send_later() {
  if (timer_ || call_ != nullptr || queue_.size() == 0) return;
  timer_ = loop_.after(pause_, [this] {
    timer_.reset();
    send();
  });
}

void TraceExporter::send() {
  if (call_ != nullptr) return;
  timer_.reset();
  auto batch = queue_.take(kBatch);
  if (batch.empty()) return end_flush();
  in_flight_ = batch.size();
  http::Request request;
  request.method = "POST";
  request.url = target_.url;
  request.headers.set("Content-Type", "application/json");
  for (const auto& [name, value] : target_.headers) request.headers.set(name, value);
  request.body = otlp_document(batch, resource_);
  request.connect_timeout = std::min(target_.timeout, kConnectTimeout);
  request.response_timeout = target_.timeout;
  request.max_body = 1U << 20U;
  call_ = http::fetch(*transport_, std::move(request),
                      [this, batch = std::move(batch)](const Result<http::Response>& answer) {
                        on_answer(batch, answer);
                      });
}

void TraceExporter::on_answer(std::vector<Span> batch, const Result<http::Response>& answer) {
  // The call is on the stack below us.
  loop_.post([call = std::shared_ptr<http::Call>(std::move(call_))] {});
  in_flight_ = 0;
  const ExportAnswer judged = judge_export(answer, batch.size());
  const bool taken = judged.what == ExportAnswer::What::taken;
  if (taken) {
    on_taken(judged, batch.size());
  } else {
    on_failed(answer, judged);
    const bool again = judged.what == ExportAnswer::What::again;
    again ? queue_.put_back(std::move(batch)) : queue_.drop(batch.size());
  }
  if (flushed_ != nullptr) return taken ? send() : end_flush();
  if (taken && queue_.size() >= kBatch) return send();
  send_later();
}

void TraceExporter::on_taken(const ExportAnswer& answer, std::size_t spans) {
  sent_ += spans - answer.rejected;
  queue_.drop(answer.rejected);
  failures_.succeed();
  pause_ = kPauseBetweenExports;
  if ((answer.rejected == 0 && answer.message.empty()) || told_rejected_) return;
  told_rejected_ = true;
  base::log_warn(answer.rejected == 0 ? "the collector of traces warns"
                                      : "the collector of traces rejects spans",
                 {{"rejected", std::to_string(answer.rejected)}, {"message", answer.message}});
}

void TraceExporter::on_failed(const Result<http::Response>& answer, const ExportAnswer& judged) {
  if (failures_.failures() == 0) {
    base::log_warn(
        "the collector of traces does not take spans",
        {{"answer", answer.ok() ? std::to_string(answer->status) : answer.error().render()}});
  }
  pause_ = std::max(failures_.fail(random_), judged.not_before);
  if (!answer.ok()) read_tls_again();
}

// They may have been renewed; what cannot be read or does not fit together yet stays as it was.
void TraceExporter::read_tls_again() {
  if (target_.ca.path.empty() && target_.key.path.empty()) return;
  if (auto tls = read_trace_tls(target_); tls.ok()) (void)transport_->set_tls(std::move(*tls));
}

void TraceExporter::flush(std::function<void()> done) {
  flushed_ = std::move(done);
  flush_timer_ = loop_.after(kFlushTime, [this] { end_flush(); });
  send();
}

void TraceExporter::end_flush() {
  if (flushed_ == nullptr) return;
  flush_timer_.reset();
  timer_.reset();
  call_.reset();
  const std::size_t left = std::exchange(in_flight_, 0) + queue_.take(kMostSpans).size();
  if (left > 0) {
    queue_.drop(left);
    base::log_warn("spans of traces are given up: the collector has not taken them in time",
                   {{"spans", std::to_string(left)}});
  }
  loop_.post(std::exchange(flushed_, nullptr));
}

RunTrace::RunTrace(TraceExporter& exporter, loop::EventLoop& loop, base::Random& random)
    : exporter_(exporter),
      loop_(loop),
      random_(random),
      ids_(new_trace(random, exporter.sampled())),
      start_(loop.wall()),
      started_(loop.now()) {}

void RunTrace::on_request(const client::RequestFacts& request) {
  if (!ids_.sampled || ++requests_ > kMostRequests) return;
  Span span;
  span.ids = {ids_.trace, new_span_id(random_), true};
  span.parent = ids_.span;
  span.name = std::string(request.verb());
  span.client = true;
  span.start = loop_.wall() - request.took;
  span.took = request.took;
  span.attributes = {{"http.request.method", std::string(request.method)},
                     {"url.full", std::string(request.url)},
                     {"kubewatch.request", std::string(request.what)}};
  if (request.status != 0) {
    span.attributes["http.response.status_code"] = std::to_string(request.status);
  }
  if (request.error != nullptr) span.error = request.error->render();
  if (request.status >= 400) span.error = "HTTP " + std::to_string(request.status);
  exporter_.add(std::move(span));
}

void RunTrace::end(std::string name, std::map<std::string, std::string> attributes,
                   std::optional<std::string> error) {
  if (!ids_.sampled) return;
  Span span;
  span.ids = ids_;
  span.name = std::move(name);
  span.start = start_;
  span.took = loop_.now() - started_;
  span.attributes = std::move(attributes);
  if (requests_ > kMostRequests) {
    span.attributes["kubewatch.requests"] = std::to_string(requests_);
  }
  span.error = std::move(error);
  exporter_.add(std::move(span));
}

}  // namespace kubewatch::hooks
