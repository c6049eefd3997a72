#include "hooks/trace_exporter.hpp"

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostSpans = 4096;
constexpr std::size_t kBatch = 512;
constexpr std::size_t kMostRequests = 200;  // spans of one run
constexpr Duration kPauseBetweenExports{2000};
constexpr Duration kRetryPause{10000};
constexpr Duration kTimeout{10000};
constexpr Duration kFlushTime{2000};

bool is_worth_another_try(const Result<http::Response>& answer) {
  if (!answer.ok()) return true;
  const int status = answer->status;
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Result<std::unique_ptr<TraceExporter>> TraceExporter::make(loop::EventLoop& loop,
                                                           TraceTarget target) {
  http::TransportOptions options;
  options.user_agent = "kubewatch/" KUBEWATCH_VERSION;
  KW_ASSIGN(auto transport, http::make_curl_transport(loop, std::move(options)));
  return std::unique_ptr<TraceExporter>(
      new TraceExporter(loop, std::move(target), std::move(transport)));
}

TraceExporter::TraceExporter(loop::EventLoop& loop, TraceTarget target,
                             std::unique_ptr<http::Transport> transport)
    : loop_(loop),
      target_(std::move(target)),
      transport_(std::move(transport)),
      queue_(kMostSpans) {}

TraceExporter::~TraceExporter() = default;

void TraceExporter::add(Span span) {
  queue_.add(std::move(span));
  if (queue_.size() >= kBatch && !told_) return send();
  send_later();
}

void TraceExporter::send_later() {
  if (timer_ || call_ != nullptr || queue_.size() == 0) return;
  timer_ = loop_.after(told_ ? kRetryPause : kPauseBetweenExports, [this] {
    timer_.reset();
    send();
  });
}

void TraceExporter::send() {
  if (call_ != nullptr) return;
  timer_.reset();
  auto batch = queue_.take(kBatch);
  if (batch.empty()) return end_flush();
  http::Request request;
  request.method = "POST";
  request.url = target_.url;
  request.headers.set("Content-Type", "application/json");
  for (const auto& [name, value] : target_.headers) request.headers.set(name, value);
  request.body = otlp_document(batch, target_.service_name);
  request.connect_timeout = kTimeout;
  request.response_timeout = kTimeout;
  request.max_body = 1U << 20U;
  call_ = http::fetch(*transport_, std::move(request),
                      [this, batch = std::move(batch)](const Result<http::Response>& answer) {
                        on_answer(batch, answer);
                      });
}

void TraceExporter::on_answer(std::vector<Span> batch, const Result<http::Response>& answer) {
  // The call is on the stack below us.
  loop_.post([call = std::shared_ptr<http::Call>(std::move(call_))] {});
  const bool taken = answer.ok() && answer->status < 300;
  if (taken) {
    sent_ += batch.size();
    told_ = false;
  } else {
    const bool again = is_worth_another_try(answer) && flushed_ == nullptr;
    if (!told_) {
      base::log_warn(
          "the collector of traces does not take spans",
          {{"answer", answer.ok() ? std::to_string(answer->status) : answer.error().render()}});
    }
    told_ = true;
    again ? queue_.put_back(std::move(batch)) : queue_.drop(batch.size());
  }
  if (flushed_ != nullptr) return taken ? send() : end_flush();
  if (taken && queue_.size() >= kBatch) return send();
  send_later();
}

void TraceExporter::flush(std::function<void()> done) {
  flushed_ = std::move(done);
  flush_timer_ = loop_.after(kFlushTime, [this] { end_flush(); });
  send();
}

void TraceExporter::end_flush() {
  if (flushed_ == nullptr) return;
  flush_timer_.reset();
  loop_.post(std::exchange(flushed_, nullptr));
}

RunTrace::RunTrace(TraceExporter& exporter, loop::EventLoop& loop, base::Random& random)
    : exporter_(exporter),
      loop_(loop),
      random_(random),
      ids_(new_trace(random)),
      start_(loop.wall()),
      started_(loop.now()) {}

void RunTrace::on_request(const client::RequestFacts& request) {
  if (++requests_ > kMostRequests) return;
  Span span;
  span.ids = {ids_.trace, new_span_id(random_)};
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
