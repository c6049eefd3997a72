// Metrics that a hook writes into METRICS_PATH.
#include "compat/metrics_file.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

TimePoint at(int ms) {
  return TimePoint{} + Duration{1000000 + ms};
}

Result<std::vector<MetricOperation>> read(const std::string& text) {
  std::set<std::string> unknown;
  auto parsed = parse_metrics_file(text, unknown);
  CHECK(unknown.empty());
  return parsed;
}

std::vector<MetricOperation> operations(const std::string& text) {
  auto parsed = read(text);
  INFO((parsed.ok() ? "" : parsed.error().render()));
  REQUIRE(parsed.ok());
  return *std::move(parsed);
}

// name{label="value",...} value, one a line.
std::string shown(HookMetrics& metrics) {
  std::string out;
  for (const auto& family : metrics.collect(at(0))) {
    for (const auto& series : family.series) {
      out += family.spec.name;
      for (const auto& [name, value] : series.labels) out += " " + name + "=" + value;
      out += " " + std::to_string(static_cast<int>(series.value)) + "\n";
    }
  }
  return out;
}

}  // namespace

TEST_CASE("counters add, gauges are set, histograms observe, and each has its hook") {
  HookMetrics metrics;
  const auto run = operations(R"(
{"name":"runs","action":"add","value":2,"labels":{"a":"x"}}
{"name":"items","action":"set","value":5}
{"name":"seconds","action":"observe","value":3,"buckets":[1,2,5]}
{"name":"old","add":1}
{"name":"older","set":9}
{"name":"both","action":"add","value":1,"set":7}
)");
  REQUIRE(run.size() == 6);
  CHECK(metrics.apply("10-a.sh", run, at(0)).empty());
  CHECK(metrics.apply("10-a.sh", run, at(0)).empty());
  CHECK(shown(metrics) ==
        "both hook=10-a.sh 7\n"
        "items hook=10-a.sh 5\n"
        "old hook=10-a.sh 2\n"
        "older hook=10-a.sh 9\n"
        "runs a=x hook=10-a.sh 4\n"
        "seconds hook=10-a.sh 6\n");
}

TEST_CASE("a label without a value is none, as it is to Prometheus") {
  HookMetrics metrics;
  const auto run = operations(R"(
{"name":"runs","action":"add","value":1}
{"name":"runs","action":"add","value":1,"labels":{"a":""}}
)");
  CHECK(metrics.apply("h", run, at(0)).empty());
  CHECK(shown(metrics) == "runs hook=h 2\n");
}

TEST_CASE("a group holds what the last run said of it") {
  HookMetrics metrics;
  metrics.apply("h", operations(R"(
{"group":"g","name":"keys","action":"set","value":1,"labels":{"of":"a"}}
{"group":"g","name":"keys","action":"set","value":2,"labels":{"of":"b"}}
{"name":"total","action":"add","value":1}
)"),
                at(0));
  metrics.apply(
      "h",
      operations(R"({"group":"g","name":"keys","action":"set","value":3,"labels":{"of":"b"}})"),
      at(0));
  CHECK(shown(metrics) == "keys hook=h of=b 3\ntotal hook=h 1\n");
  metrics.apply("other", operations(R"({"group":"g","action":"expire"})"), at(0));
  CHECK(shown(metrics) == "keys hook=h of=b 3\ntotal hook=h 1\n");
  metrics.apply("h", operations(R"({"group":"g","action":"expire"})"), at(0));
  CHECK(shown(metrics) == "total hook=h 1\n");
}

TEST_CASE("a run that names a group twice keeps both") {
  HookMetrics metrics;
  metrics.apply("h", operations(R"(
{"group":"g","name":"n","action":"add","value":1}
{"group":"g","name":"n","action":"add","value":1}
)"),
                at(0));
  CHECK(shown(metrics) == "n hook=h 2\n");
}

TEST_CASE("a group of thousands is replaced, and so is the kind of its metric") {
  constexpr int kSeries = 5000;
  const auto group = [](const std::string& action, int value) {
    std::string out;
    for (int i = 0; i < kSeries; ++i) {
      out += R"({"group":"g","name":"n","action":")" + action + R"(","value":)" +
             std::to_string(value) + R"(,"labels":{"of":")" + std::to_string(i) + "\"}}\n";
    }
    return operations(out);
  };
  HookMetrics metrics;
  CHECK(metrics.apply("h", group("set", 1), at(0)).empty());
  CHECK(metrics.apply("h", group("add", 2), at(0)).empty());
  const auto families = metrics.collect(at(0));
  REQUIRE(families.size() == 1);
  CHECK(families[0].spec.kind == hooks::MetricKind::counter);
  REQUIRE(families[0].series.size() == kSeries);
  CHECK(families[0].series[0].value == 2);
}

TEST_CASE("unknown fields of a metric are passed over and named") {
  std::set<std::string> unknown;
  const auto parsed = parse_metrics_file(
      R"({"name":"a","action":"set","value":1,"help":"x","label":{"x":"1"}})", unknown);
  REQUIRE(parsed.ok());
  CHECK(parsed->at(0).labels.empty());
  CHECK(unknown ==
        std::set<std::string>{"help: unknown field", "label: unknown field, did you mean labels?"});
  std::string many = R"({"name":"a","add":1)";
  for (int i = 0; i < 100; ++i) many += ",\"other" + std::to_string(i) + "\":1";
  unknown.clear();
  REQUIRE(parse_metrics_file(many + "}\n" + many + "}", unknown).ok());
  CHECK(unknown.size() == 20);
}

TEST_CASE("metrics above the limit are refused while they are read") {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += R"({"name":"a","add":1})"
            "\n";
  CHECK(operations(text).size() == 10'000);
  const auto refused = read(text + R"({"name":"a","add":1})" + "\n{");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("more than 10000 operations") != std::string::npos);
}

TEST_CASE("a wrong metric is refused with its document") {
  for (const char* text :
       {R"({"name":"a","action":"add"})", R"({"name":"a","value":1})",
        R"({"name":"a b","action":"set","value":1})", R"({"name":"a","action":"add","value":-1})",
        R"({"name":"a","action":"observe","value":1})", R"({"action":"expire"})",
        R"({"name":"kubewatch_runs_total","action":"add","value":1})",
        R"({"name":"a","action":"set","value":1,"labels":{"x":1}})", R"("text")",
        R"({"name":"a","add":1,"set":2})"}) {
    INFO(text);
    CHECK_FALSE(read(text).ok());
  }
}

TEST_CASE("labels are bounded in number and length, as those of rules' hooks are") {
  const auto metric = [](const std::string& labels) {
    return R"({"name":"a","action":"set","value":1,"labels":{)" + labels + "}}";
  };
  std::string many = R"("a0":"x")";
  for (int i = 1; i < 16; ++i) many += R"(,"a)" + std::to_string(i) + R"(":"x")";
  CHECK(read(metric(many)).ok());
  CHECK_FALSE(read(metric(many + R"(,"b":"x")")).ok());
  CHECK(read(metric(R"("a":")" + std::string(256, 'x') + "\"")).ok());
  const auto longer = read(metric(R"("a":")" + std::string(257, 'x') + "\""));
  REQUIRE_FALSE(longer.ok());
  CHECK(longer.error().render().find("a has more than 256 bytes") != std::string::npos);
}

TEST_CASE("a histogram whose series Prometheus would refuse is refused") {
  const auto problem = [](const std::string& text) {
    const auto parsed = read(text);
    return parsed.ok() ? "" : parsed.error().render();
  };
  const std::string begin = R"({"name":"a","action":"observe","value":1,)";
  CHECK(problem(begin + R"("buckets":[1,2],"labels":{"le":"x"}})").find("has le") !=
        std::string::npos);
  CHECK(problem(begin + R"("buckets":[1,1,2]})").find("must rise") != std::string::npos);
  CHECK(problem(begin + R"("buckets":[0.3,0.30000000000000004]})").find("must rise") !=
        std::string::npos);
  std::string many = "0";
  for (int i = 1; i < 50; ++i) many += "," + std::to_string(i);
  CHECK(problem(begin + "\"buckets\":[" + many + "]}").empty());
  CHECK(problem(begin + "\"buckets\":[" + many + ",50]}").find("has 51 entries") !=
        std::string::npos);
  CHECK(problem(begin + R"("buckets":[1,1e999]})").find("list of numbers") != std::string::npos);
  CHECK(problem(begin + R"("buckets":[1,2],"labels":{"of":"x"}})").empty());
  // Elsewhere it is a label as any other.
  CHECK(problem(R"({"name":"a","action":"set","value":1,"labels":{"le":"x"}})").empty());
}

TEST_CASE("a metric that changes its kind is told and the rest is taken") {
  HookMetrics metrics;
  metrics.apply("h", operations(R"({"name":"a","action":"set","value":1})"), at(0));
  const auto problems = metrics.apply("h", operations(R"(
{"name":"a","action":"add","value":1}
{"name":"b","action":"add","value":1}
)"),
                                      at(0));
  CHECK(problems.size() == 1);
  CHECK(shown(metrics) == "a hook=h 1\nb hook=h 1\n");
}
