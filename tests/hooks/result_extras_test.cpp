// Events, patches and metrics of a Result, as printed.
#include "hooks/result_extras.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

template <class T>
std::string problem(const Result<T>& read) {
  return read.ok() ? "" : read.error().render();
}

Json patch(const Json& extra) {
  Json out = {
      {"apiVersion", "v1"}, {"kind", "Service"}, {"name", "web"}, {"patch", Json::object()}};
  out.update(extra);
  return Json::array({out});
}

Json metric(const Json& extra) {
  Json out = {{"name", "sites_built"}, {"type", "counter"}, {"value", 1}};
  out.update(extra);
  return Json::array({out});
}

}  // namespace

TEST_CASE("an event is read with its defaults") {
  const auto events = read_events(
      Json::array({{{"reason", "Created"}},
                   {{"type", "Warning"},
                    {"reason", "Broken"},
                    {"action", "Build"},
                    {"note", "two words"},
                    {"regarding", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}}}}}));
  REQUIRE(events.ok());
  CHECK_FALSE(events->at(0).warning);
  CHECK(events->at(0).action == "Reconcile");
  CHECK_FALSE(events->at(0).regarding.has_value());
  CHECK(events->at(1).warning);
  CHECK(events->at(1).regarding->at("name") == "p");
}

TEST_CASE("a wrong event is refused with the key that is wrong") {
  struct Case {
    Json event;
    const char* says;
  };
  const std::vector<Case> cases = {
      {Json::object(), "events[0].reason is missing"},
      {{{"reason", "Two words"}}, "must be one word"},
      {{{"reason", std::string(129, 'x')}}, "longer than 128"},
      {{{"reason", "A"}, {"type", "Error"}}, "must be Normal or Warning"},
      {{{"reason", "A"}, {"message", "x"}}, "unknown key \"message\""},
      {{{"reason", "A"}, {"regarding", "web"}}, "regarding must be an object"},
      {{{"reason", "A"}, {"regarding", {{"kind", "Pod"}, {"name", "p"}}}},
       "regarding.apiVersion is missing"},
      {{{"reason", "A"}, {"note", 5}}, "note must be a string, not number"},
  };
  for (const Case& c : cases) {
    INFO(c.event.dump());
    CHECK(problem(read_events(Json::array({c.event}))).find(c.says) != std::string::npos);
  }
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back({{"reason", "A"}});
  CHECK(problem(read_events(many)).find("at most 100") != std::string::npos);
}

TEST_CASE("patches of all three types are read") {
  const auto merge = read_patches(patch({{"subresource", "status"}, {"namespace", "shop"}}));
  REQUIRE(merge.ok());
  CHECK(merge->at(0).type == core::PatchType::merge);
  CHECK(merge->at(0).subresource == "status");
  CHECK(merge->at(0).target["namespace"] == "shop");
  CHECK(read_patches(patch({{"type", "strategic"}}))->at(0).type == core::PatchType::strategic);
  const auto json = read_patches(patch(
      {{"type", "json"}, {"patch", {{{"op", "add"}, {"path", "/spec/x"}, {"value", nullptr}}}}}));
  REQUIRE(json.ok());
  CHECK(json->at(0).type == core::PatchType::json);
}

TEST_CASE("a wrong patch is refused before anything is written") {
  struct Case {
    Json extra;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{{"type", "apply"}}, "must be json, merge or strategic"},
      {{{"patch", nullptr}}, "patch is missing"},
      {{{"patch", Json::array()}}, "must be an object for the types merge and strategic"},
      {{{"type", "json"}}, "must be a list of operations"},
      {{{"type", "json"}, {"patch", {{{"op", "ad"}, {"path", "/x"}}}}}, "must have an op"},
      {{{"type", "json"}, {"patch", {{{"op", "remove"}, {"path", "x"}}}}}, "JSON pointer"},
      {{{"type", "json"}, {"patch", {{{"op", "add"}, {"path", "/x"}}}}}, "has no value"},
      {{{"type", "json"}, {"patch", {{{"op", "move"}, {"path", "/x"}}}}}, ".from must be"},
      {{{"subresource", "a/b"}}, "is no subresource's name"},
      {{{"name", ""}}, "name is missing"},
      {{{"namspace", "x"}}, "did you mean namespace?"},
  };
  for (const Case& c : cases) {
    INFO(c.extra.dump());
    const std::string says = problem(read_patches(patch(c.extra)));
    INFO(says);
    CHECK(says.find(c.says) != std::string::npos);
  }
}

TEST_CASE("metrics are read with kind, labels, ttl and buckets") {
  const auto metrics = read_metrics(metric({{"type", "histogram"},
                                            {"value", 0.5},
                                            {"labels", {{"site", "a"}}},
                                            {"ttl", "1h"},
                                            {"buckets", {1, 2}},
                                            {"help", "Sites."}}));
  REQUIRE(metrics.ok());
  const HookMetric& one = metrics->at(0);
  CHECK(one.kind == MetricKind::histogram);
  CHECK(one.value == 0.5);
  CHECK(one.labels.at("site") == "a");
  CHECK(one.ttl == Duration{3600000});
  CHECK(one.buckets == std::vector<double>{1, 2});
}

TEST_CASE("a label without a value is none, as it is to Prometheus") {
  const auto metrics = read_metrics(metric({{"labels", {{"site", ""}, {"part", "x"}}}}));
  REQUIRE(metrics.ok());
  CHECK(metrics->at(0).labels == MetricLabels{{"part", "x"}});
}

TEST_CASE("bounds of buckets that are written down alike are refused") {
  const auto buckets = [](const Json& bounds) {
    return problem(read_metrics(metric({{"type", "histogram"}, {"buckets", bounds}})));
  };
  CHECK(buckets({0.3, 0.30000000000000004}).find("must rise") != std::string::npos);
  CHECK(buckets({0.3, 0.3000000000000001}).empty());
}

TEST_CASE("a wrong metric is refused with what is wrong") {
  struct Case {
    Json extra;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{{"name", "1x"}}, "must not start with a digit"},
      {{{"name", "kubewatch_runs_total"}}, "starts with kubewatch_"},
      {{{"type", "summary"}}, "must be counter, gauge or histogram"},
      {{{"value", "1"}}, "value must be a number"},
      {{{"value", -1}}, "must not be negative"},
      {{{"labels", {{"a-b", "x"}}}}, "no label name"},
      {{{"labels", {{"controller", "x"}}}}, "which kubewatch sets"},
      {{{"labels", {{"true", "x"}}}}, "as true and false; call it otherwise"},
      {{{"labels", {{"a", 5}}}}, "quote it"},
      {{{"ttl", "0s"}}, "longer than 0s"},
      {{{"buckets", {1}}}, "a histogram's"},
      {{{"type", "histogram"}, {"buckets", {2, 1}}}, "must rise"},
      {{{"type", "histogram"}, {"labels", {{"le", "1"}}}}, "which kubewatch sets"},
  };
  for (const Case& c : cases) {
    INFO(c.extra.dump());
    const std::string says = problem(read_metrics(metric(c.extra)));
    INFO(says);
    CHECK(says.find(c.says) != std::string::npos);
  }
  Json two = metric(Json::object());
  two.push_back({{"name", "sites_built"}, {"type", "gauge"}, {"value", 1}});
  CHECK(problem(read_metrics(two)).find("with two types") != std::string::npos);
}
