// Spans of runs and of their requests, as OpenTelemetry has them: identifiers, the queue of what is
// to be sent, and the OTLP/HTTP JSON document. Pure; trace_exporter sends it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::hooks {

// Where spans go, as the variables of OpenTelemetry say.
struct TraceTarget {
  std::string url;                                           // .../v1/traces
  std::vector<std::pair<std::string, std::string>> headers;  // may hold a token: never shown
  std::string service_name = "kubewatch";
  // "OTEL_EXPORTER_OTLP_PROTOCOL asks for grpc": spans go as JSON over HTTP all the same. "" = none
  // was asked for, or that.
  std::string other_protocol = {};
};
// From OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
// OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL (or, where that is not set,
// OTEL_EXPORTER_OTLP_PROTOCOL) and OTEL_SERVICE_NAME; absent when no endpoint is set or
// OTEL_SDK_DISABLED is true. Errors: invalid, naming the variable (never its value).
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Result<std::optional<TraceTarget>> trace_target(const Environment& environment);

struct TraceIds {
  std::string trace;  // 32 hex digits
  std::string span;   // 16
  std::string traceparent() const { return "00-" + trace + "-" + span + "-01"; }
};
TraceIds new_trace(base::Random& random);
std::string new_span_id(base::Random& random);

struct Span {
  TraceIds ids;
  std::string parent;  // "" = none
  std::string name;
  bool client = false;  // a request; else internal
  WallTime start{};
  Duration took{0};
  std::map<std::string, std::string> attributes;
  std::optional<std::string> error;
};

// Bounded: what does not fit is dropped and counted.
class SpanQueue {
 public:
  explicit SpanQueue(std::size_t most) : most_(most) {}
  void add(Span span);
  std::vector<Span> take(std::size_t most);
  // A batch that was not taken by the collector, to be sent again; before all others.
  void put_back(std::vector<Span> spans);
  void drop(std::size_t count) { dropped_ += count; }
  std::size_t size() const { return spans_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::size_t most_;
  std::deque<Span> spans_;
  std::uint64_t dropped_ = 0;
};

// An ExportTraceServiceRequest.
std::string otlp_document(const std::vector<Span>& spans, const std::string& service_name);

}  // namespace kubewatch::hooks
