// Where spans go, how many are kept, and what is sent.
#include "hooks/trace.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Result<std::optional<TraceTarget>> target(std::map<std::string, std::string> variables) {
  return trace_target([variables](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  });
}

Span span(const std::string& name) {
  Span out;
  out.ids = {std::string(32, 'a'), std::string(16, 'b')};
  out.name = name;
  return out;
}

}  // namespace

TEST_CASE("tracing is off without an endpoint, and when it is disabled") {
  CHECK_FALSE(target({})->has_value());
  CHECK_FALSE(
      target({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_SDK_DISABLED", "true"}})
          ->has_value());
}

TEST_CASE("endpoint, headers and service name are read as OpenTelemetry says") {
  const auto found = target({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"},
                             {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1"},
                             {"OTEL_SERVICE_NAME", "shop"}});
  REQUIRE(found.ok());
  const TraceTarget& one = **found;
  CHECK(one.url == "http://c:4318/v1/traces");
  CHECK(one.headers ==
        std::vector<std::pair<std::string, std::string>>{{"api-key", "a b"}, {"x", "1"}});
  CHECK(one.service_name == "shop");
  const auto own = target({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c/x"}});
  CHECK((*own)->url == "https://c/x");
  CHECK((*own)->service_name == "kubewatch");
}

TEST_CASE("another protocol than JSON over HTTP is told, and no target lost for it") {
  const auto other = [](std::map<std::string, std::string> variables) {
    variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://c:4317";
    return (*target(std::move(variables)))->other_protocol;
  };
  CHECK(other({}).empty());
  CHECK(other({{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}}).empty());
  CHECK(other({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}) ==
        "OTEL_EXPORTER_OTLP_PROTOCOL asks for grpc");
  // That of traces alone comes first.
  CHECK(other({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
               {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}})
            .empty());
  CHECK(other({{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}}) ==
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL asks for http/protobuf");
  CHECK(other({{"OTEL_EXPORTER_OTLP_PROTOCOL", "se\ncret"}}) ==
        "OTEL_EXPORTER_OTLP_PROTOCOL asks for something else");
}

TEST_CASE("a wrong variable is named, its value is not") {
  for (const auto& variables : std::vector<std::map<std::string, std::string>>{
           {{"OTEL_EXPORTER_OTLP_ENDPOINT", "secret:4317"}},
           {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_HEADERS", "secret"}},
           {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
            {"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0ab"}}}) {
    const auto found = target(variables);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().render().find("OTEL_EXPORTER_OTLP_") != std::string::npos);
    CHECK(found.error().render().find("secret") == std::string::npos);
  }
}

TEST_CASE("identifiers have the shape of traceparent") {
  base::Random random(1);
  const TraceIds ids = new_trace(random);
  CHECK(ids.trace.size() == 32);
  CHECK(ids.span.size() == 16);
  CHECK(ids.traceparent() == "00-" + ids.trace + "-" + ids.span + "-01");
  CHECK(new_span_id(random) != ids.span);
}

TEST_CASE("the queue of spans is bounded, what does not fit is counted") {
  SpanQueue queue(3);
  for (const char* name : {"a", "b", "c", "d"}) queue.add(span(name));
  CHECK(queue.dropped() == 1);
  auto batch = queue.take(2);
  CHECK(batch.size() == 2);
  queue.add(span("e"));
  queue.put_back(std::move(batch));
  CHECK(queue.dropped() == 2);
  const auto all = queue.take(9);
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "b");
}

TEST_CASE("a batch is one OTLP document with parents, attributes and errors") {
  Span run = span("reconcile website");
  run.start = WallTime{std::chrono::seconds(1)};
  run.took = Duration{5};
  run.attributes = {{"kubewatch.outcome", "failed"}};
  run.error = "exit code 1";
  Span request = span("apply");
  request.ids.span = std::string(16, 'c');
  request.parent = run.ids.span;
  request.client = true;
  const auto document = base::parse_json(otlp_document({run, request}, "shop"));
  REQUIRE(document.ok());
  const Json& resource = document->at("resourceSpans").at(0);
  CHECK(resource["resource"]["attributes"][0]["value"]["stringValue"] == "shop");
  const Json& spans = resource["scopeSpans"][0]["spans"];
  REQUIRE(spans.size() == 2);
  CHECK(spans[0]["startTimeUnixNano"] == "1000000000");
  CHECK(spans[0]["endTimeUnixNano"] == "1005000000");
  CHECK(spans[0]["status"] == Json{{"code", 2}, {"message", "exit code 1"}});
  CHECK(spans[0]["kind"] == 1);
  CHECK_FALSE(spans[0].contains("parentSpanId"));
  CHECK(spans[0]["attributes"][0]["key"] == "kubewatch.outcome");
  CHECK(spans[1]["parentSpanId"] == std::string(16, 'b'));
  CHECK(spans[1]["kind"] == 3);
}
