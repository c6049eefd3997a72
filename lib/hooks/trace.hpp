// Spans of runs and of their requests, as OpenTelemetry has them: identifiers, the queue of what is
// to be sent, the OTLP/HTTP JSON document and what is answered to it. Pure; trace_exporter sends
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "http/message.hpp"

namespace kubewatch::hooks {

struct TraceIds {
  std::string trace;  // 32 hex digits
  std::string span;   // 16
  bool sampled = true;
  // What is below it is to be sent where it is.
  std::string traceparent() const { return "00-" + trace + "-" + span + (sampled ? "-01" : "-00"); }
};
// `part` of all traces is sampled, from 0 to 1: by the identifier, so that others who sample by it
// choose the same ones.
TraceIds new_trace(base::Random& random, double part = 1);
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

// An ExportTraceServiceRequest; `resource`: the attributes of who sends them.
std::string otlp_document(const std::vector<Span>& spans,
                          const std::map<std::string, std::string>& resource);

// What an answer to one means for the spans that were in it.
struct ExportAnswer {
  enum class What { taken, refused, again };
  What what = What::taken;
  std::uint64_t rejected = 0;  // of those that were taken
  std::string message;         // of the collector, about them
  Duration not_before{0};      // again: as long as it asks to be left alone
};
ExportAnswer judge_export(const Result<http::Response>& answer, std::size_t spans);

}  // namespace kubewatch::hooks
