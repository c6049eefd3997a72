#include "hooks/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/cut_text.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "http/retry_after.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kLongestMessage = 256;
constexpr std::int64_t kLongestWait = 600;  // seconds
constexpr int kInternal = 1;
constexpr int kClient = 3;
constexpr int kError = 2;

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value == 0 ? 1 : value);
}

Json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

Json attributes(const std::map<std::string, std::string>& values) {
  Json out = Json::array();
  for (const auto& [key, value] : values) out.push_back(attribute(key, value));
  return out;
}

std::string nanoseconds(WallTime time) {
  using std::chrono::nanoseconds;
  return std::to_string(std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count());
}

Json document_of(const Span& span) {
  Json out = {{"traceId", span.ids.trace},
              {"spanId", span.ids.span},
              {"name", span.name},
              {"kind", span.client ? kClient : kInternal},
              {"startTimeUnixNano", nanoseconds(span.start)},
              {"endTimeUnixNano", nanoseconds(span.start + span.took)},
              {"attributes", attributes(span.attributes)}};
  if (!span.parent.empty()) out["parentSpanId"] = span.parent;
  if (span.error) out["status"] = {{"code", kError}, {"message", *span.error}};
  return out;
}

// In JSON a 64-bit number of protobuf is text; a number is taken as well.
std::uint64_t count_of(const Json* value) {
  if (value == nullptr) return 0;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (!value->is_string()) return 0;
  return base::read_number<std::uint64_t>(value->get_ref<const std::string&>()).value_or(0);
}

Duration asked_to_wait(const http::Headers& headers) {
  const auto seconds = base::read_number<std::int64_t>(http::retry_after_seconds(headers));
  if (!seconds || *seconds < 0) return Duration{0};
  return Duration{std::min(*seconds, kLongestWait) * 1000};
}

}  // namespace

TraceIds new_trace(base::Random& random, double part) {
  // All zeros are no identifier.
  const std::uint64_t high = random.next() | 1U;
  const std::uint64_t low = random.next();
  // As the SDKs of OpenTelemetry choose: by 63 bits of the lower half.
  const bool sampled = static_cast<double>(low >> 1U) < part * 0x1p63;
  return {hex(high) + hex(low), new_span_id(random), sampled};
}

std::string new_span_id(base::Random& random) {
  return hex(random.next() | 1U);
}

void SpanQueue::add(Span span) {
  if (spans_.size() >= most_) {
    ++dropped_;
    return;
  }
  spans_.push_back(std::move(span));
}

std::vector<Span> SpanQueue::take(std::size_t most) {
  std::vector<Span> out;
  while (!spans_.empty() && out.size() < most) {
    out.push_back(std::move(spans_.front()));
    spans_.pop_front();
  }
  return out;
}

void SpanQueue::put_back(std::vector<Span> spans) {
  for (auto it = spans.rbegin(); it != spans.rend(); ++it) {
    if (spans_.size() >= most_) {
      ++dropped_;
      continue;
    }
    spans_.push_front(std::move(*it));
  }
}

std::string otlp_document(const std::vector<Span>& spans,
                          const std::map<std::string, std::string>& resource) {
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(document_of(span));
  const Json scope = {{"name", "kubewatch"}, {"version", KUBEWATCH_VERSION}};
  const Json scope_spans = Json::array({{{"scope", scope}, {"spans", std::move(list)}}});
  return base::dump_json(
      {{"resourceSpans", Json::array({{{"resource", {{"attributes", attributes(resource)}}},
                                       {"scopeSpans", scope_spans}}})}});
}

ExportAnswer judge_export(const Result<http::Response>& answer, std::size_t spans) {
  using What = ExportAnswer::What;
  if (!answer.ok()) return {What::again, 0, "", {}};
  const int status = answer->status;
  if (status >= 300) {
    const bool again = status == 429 || status == 502 || status == 503 || status == 504;
    return {again ? What::again : What::refused, 0, "", asked_to_wait(answer->headers)};
  }
  // Whoever answers in another form has taken them nevertheless.
  const auto body = base::parse_json(answer->body);
  if (!body.ok() || !body->is_object()) return {};
  ExportAnswer out;
  const std::uint64_t rejected = count_of(base::find(*body, {"partialSuccess", "rejectedSpans"}));
  out.rejected = std::min<std::uint64_t>(rejected, spans);
  out.message =
      base::cut_text(base::string_at(*body, {"partialSuccess", "errorMessage"}), kLongestMessage);
  return out;
}

}  // namespace kubewatch::hooks
