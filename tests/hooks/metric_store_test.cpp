// Series, their expiry and their number; and the text that scrapers get.
#include "hooks/metric_store.hpp"

#include "hooks/metric_text.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

const MetricSpec kBuilt{"sites_built", MetricKind::counter, "Sites."};
const MetricSpec kSize{"size", MetricKind::gauge, ""};

}  // namespace

TEST_CASE("counters add up, gauges are set, histograms count by bucket") {
  MetricStore store(10);
  CHECK(store.record(kBuilt, {{"site", "a"}}, 1, at(0)).ok());
  CHECK(store.record(kBuilt, {{"site", "a"}}, 2, at(0)).ok());
  CHECK(store.record(kSize, {}, 5, at(0)).ok());
  CHECK(store.record(kSize, {}, 4, at(0)).ok());
  const MetricSpec seconds{"seconds", MetricKind::histogram, "", {1, 2}};
  for (const double value : {0.5, 1.0, 1.5, 9.0}) {
    CHECK(store.record(seconds, {}, value, at(0)).ok());
  }
  const std::string text = metric_text(store.collect(at(0)));
  CHECK(text.find("# TYPE sites_built counter\nsites_built{site=\"a\"} 3\n") != std::string::npos);
  CHECK(text.find("size 4\n") != std::string::npos);
  CHECK(text.find("seconds_count 4\n") != std::string::npos);
  CHECK(text.find("seconds_sum 12\n") != std::string::npos);
  CHECK(text.find("seconds_bucket{le=\"1\"} 2\n") != std::string::npos);
  CHECK(text.find("seconds_bucket{le=\"2\"} 3\n") != std::string::npos);
  CHECK(text.find("seconds_bucket{le=\"+Inf\"} 4\n") != std::string::npos);
}

TEST_CASE("a series goes when its time is over, and each value starts its time anew") {
  MetricStore store(10);
  CHECK(store.record(kSize, {{"a", "1"}}, 1, at(0), Duration{1000}).ok());
  CHECK(store.record(kSize, {{"a", "2"}}, 1, at(0), Duration{1000}).ok());
  CHECK(store.record(kSize, {{"a", "2"}}, 2, at(900), Duration{1000}).ok());
  CHECK(store.collect(at(999)).at(0).series.size() == 2);
  const auto families = store.collect(at(1000));
  REQUIRE(families.at(0).series.size() == 1);
  CHECK(families[0].series[0].labels.at("a") == "2");
  CHECK(store.collect(at(1900)).empty());
  CHECK(store.size() == 0);
}

TEST_CASE("a name keeps its kind while it has series") {
  MetricStore store(10);
  CHECK(store.record(kSize, {}, 1, at(0), Duration{10}).ok());
  MetricSpec other = kSize;
  other.kind = MetricKind::counter;
  const auto refused = store.record(other, {}, 1, at(1));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("is a gauge already") != std::string::npos);
  CHECK(store.record(other, {}, 1, at(10)).ok());
}

TEST_CASE("no metric has the name of a histogram's lines, whichever came first") {
  const MetricSpec lat{"lat", MetricKind::histogram, "", {1, 5}};
  for (const char* part : {"lat_bucket", "lat_count", "lat_sum"}) {
    INFO(part);
    for (const auto kind : {MetricKind::counter, MetricKind::gauge, MetricKind::histogram}) {
      const MetricSpec other{part, kind, "", {1}};
      MetricStore first(10);
      CHECK(first.record(lat, {}, 1, at(0), Duration{10}).ok());
      CHECK(first.record(other, {}, 1, at(5)).error().kind() == ErrorKind::invalid);
      CHECK(first.record(other, {}, 1, at(10)).ok());  // the histogram is over
      MetricStore second(10);
      CHECK(second.record(other, {}, 1, at(0)).ok());
      CHECK(second.record(lat, {}, 1, at(0)).error().kind() == ErrorKind::invalid);
      CHECK(second.size() == 1);
    }
  }
  MetricStore store(10);
  CHECK(store.record(lat, {}, 1, at(0)).ok());
  CHECK(store.record({"lat_counts", MetricKind::counter, ""}, {}, 1, at(0)).ok());
  CHECK(store.record({"late_count", MetricKind::counter, ""}, {}, 1, at(0)).ok());
  // Beside what is no histogram it is a name like any other.
  CHECK(store.record(kSize, {}, 1, at(0)).ok());
  CHECK(store.record({"size_count", MetricKind::counter, ""}, {}, 1, at(0)).ok());
}

TEST_CASE("a series that is erased leaves the others, and with the last one its name is free") {
  MetricStore store(2);
  CHECK(store.record(kSize, {{"a", "1"}}, 1, at(0)).ok());
  CHECK(store.record(kSize, {{"a", "2"}}, 2, at(0), Duration{10}).ok());
  store.erase("size", {{"a", "3"}});
  store.erase("other", {{"a", "1"}});
  CHECK(store.size() == 2);
  store.erase("size", {{"a", "2"}});
  CHECK(store.size() == 1);
  const auto left = store.collect(at(10));
  REQUIRE(left.size() == 1);
  REQUIRE(left[0].series.size() == 1);
  CHECK(left[0].series[0].labels.at("a") == "1");
  store.erase("size", {{"a", "1"}});
  CHECK(store.size() == 0);
  MetricSpec other = kSize;
  other.kind = MetricKind::counter;
  CHECK(store.record(other, {}, 1, at(11)).ok());
}

TEST_CASE("the number of series is bounded, known ones still count") {
  MetricStore store(2);
  CHECK(store.record(kBuilt, {{"site", "a"}}, 1, at(0)).ok());
  CHECK(store.record(kBuilt, {{"site", "b"}}, 1, at(0), Duration{100}).ok());
  const auto refused = store.record(kBuilt, {{"site", "c"}}, 1, at(0));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::too_large);
  CHECK(store.record(kBuilt, {{"site", "a"}}, 1, at(0)).ok());
  CHECK(store.record(kBuilt, {{"site", "c"}}, 1, at(100)).ok());
}

TEST_CASE("names are bounded with their series, and one that was refused leaves nothing") {
  MetricStore store(1);
  CHECK(store.record(kBuilt, {{"site", "a"}}, 1, at(0), Duration{100}).ok());
  MetricSpec other = kBuilt;
  other.name = "another";
  other.kind = MetricKind::gauge;
  CHECK_FALSE(store.record(other, {}, 1, at(0)).ok());
  // The name is not taken: it may come back as another kind.
  other.kind = MetricKind::counter;
  CHECK(store.record(other, {}, 1, at(100)).ok());
}

TEST_CASE("a help of several lines is one line of the page") {
  MetricStore store(10);
  MetricSpec spec = kSize;
  spec.help = "first\nkubewatch_ready 0\\n";
  CHECK(store.record(spec, {}, 5, at(0)).ok());
  const std::string text = metric_text(store.collect(at(0)));
  CHECK(text == "# HELP size first\\nkubewatch_ready 0\\\\n\n# TYPE size gauge\nsize 5\n");
}
