// Where spans go, how many are kept, and what is sent.
#include "hooks/trace.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Span span(const std::string& name) {
  Span out;
  out.ids = {std::string(32, 'a'), std::string(16, 'b')};
  out.name = name;
  return out;
}

}  // namespace

TEST_CASE("identifiers have the shape of traceparent") {
  base::Random random(1);
  const TraceIds ids = new_trace(random);
  CHECK(ids.trace.size() == 32);
  CHECK(ids.span.size() == 16);
  CHECK(ids.traceparent() == "00-" + ids.trace + "-" + ids.span + "-01");
  CHECK(new_span_id(random) != ids.span);
}

TEST_CASE("which traces are sampled is told by their identifiers, and hooks are told of it") {
  base::Random random(1);
  int sampled = 0;
  for (int i = 0; i < 1000; ++i) {
    const TraceIds ids = new_trace(random, 0.25);
    // By 63 bits of the lower half, as others do.
    CHECK(ids.sampled == (std::stoull(ids.trace.substr(16), nullptr, 16) >> 1U < 1ULL << 61U));
    CHECK(ids.traceparent().ends_with(ids.sampled ? "-01" : "-00"));
    sampled += ids.sampled ? 1 : 0;
  }
  CHECK(sampled > 200);
  CHECK(sampled < 300);
  CHECK_FALSE(new_trace(random, 0).sampled);
  CHECK(new_trace(random).sampled);
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
  const auto document =
      base::parse_json(otlp_document({run, request}, {{"service.name", "shop"}, {"team", "a"}}));
  REQUIRE(document.ok());
  const Json& resource = document->at("resourceSpans").at(0);
  CHECK(resource["resource"]["attributes"] ==
        Json::parse(R"([{"key":"service.name","value":{"stringValue":"shop"}},
                        {"key":"team","value":{"stringValue":"a"}}])"));
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

namespace {

ExportAnswer judged(int status, const std::string& body = "", http::Headers headers = {}) {
  return judge_export(http::Response{status, std::move(headers), body}, 10);
}

}  // namespace

TEST_CASE("an answer says whether spans were taken, refused, or may come again") {
  using What = ExportAnswer::What;
  CHECK(judged(200, "{}").what == What::taken);
  CHECK(judged(200, "no JSON").what == What::taken);
  CHECK(judged(400).what == What::refused);
  CHECK(judged(302).what == What::refused);
  for (const int status : {429, 502, 503, 504}) CHECK(judged(status).what == What::again);
  CHECK(judge_export(Error(ErrorKind::unreachable, "x"), 10).what == What::again);
}

TEST_CASE("spans that the collector rejects of those it takes are counted, and its words bounded") {
  const auto rejected = [](const std::string& partial) {
    return judged(200, "{\"partialSuccess\":" + partial + "}");
  };
  CHECK(rejected("{}").rejected == 0);
  CHECK(rejected(R"({"rejectedSpans":"3","errorMessage":"too old"})").rejected == 3);
  CHECK(rejected(R"({"rejectedSpans":"3","errorMessage":"too old"})").message == "too old");
  CHECK(rejected(R"({"rejectedSpans":4})").rejected == 4);
  CHECK(rejected(R"({"rejectedSpans":"99999999999999999999"})").rejected == 0);
  CHECK(rejected(R"({"rejectedSpans":"-1"})").rejected == 0);
  CHECK(rejected(R"({"rejectedSpans":11})").rejected == 10);  // no more than were sent
  CHECK(rejected("{\"errorMessage\":\"" + std::string(5000, 'x') + "\"}").message.size() == 256);
}

TEST_CASE("how long the collector asks to be left alone is read, and bounded") {
  const auto wait = [](const std::string& after) {
    http::Headers headers;
    headers.set("Retry-After", after);
    return judged(503, "", std::move(headers)).not_before;
  };
  CHECK(wait("30") == Duration{30000});
  CHECK(wait("999999999999") == Duration{600000});
  CHECK(wait("-5") == Duration{0});
  CHECK(wait("soon") == Duration{0});
  CHECK(judged(429).not_before == Duration{0});
}
