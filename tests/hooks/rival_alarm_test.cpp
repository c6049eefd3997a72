#include "hooks/rival_alarm.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

const ChildId kChild{"", "ConfigMap", {"shop", "a"}};
const std::string kManager = "kubewatch/website";

Json child(int version, const std::string& time, const std::string& manager = kManager,
           const std::string& operation = "Apply") {
  Json out;
  out["metadata"]["resourceVersion"] = std::to_string(version);
  out["metadata"]["managedFields"] =
      Json::array({{{"manager", manager}, {"operation", operation}, {"time", time}}});
  return out;
}

}  // namespace

TEST_CASE("a child that our manager changed without us is a rival's work") {
  RivalAlarm alarm;
  alarm.wrote(kChild, child(9, "2026-01-01T00:00:00Z"), kManager);
  CHECK(alarm.is_suspect(kChild, "10"));
  CHECK(alarm.is_rival(kChild, "10", "2026-01-01T00:00:01Z"));
}

TEST_CASE("other writers, old states and our own writes are no rival's work") {
  RivalAlarm alarm;
  alarm.wrote(kChild, child(9, "2026-01-01T00:00:00Z"), kManager);
  CHECK_FALSE(alarm.is_suspect(kChild, "9"));
  CHECK_FALSE(alarm.is_suspect(kChild, "8"));
  // Somebody else changed it: our entry kept its time.
  CHECK_FALSE(alarm.is_rival(kChild, "10", "2026-01-01T00:00:00Z"));
  // Somebody took our fields over: our entry is gone.
  CHECK_FALSE(alarm.is_rival(kChild, "10", ""));
  CHECK_FALSE(alarm.is_rival(kChild, "8", "2026-01-01T00:00:05Z"));
}

TEST_CASE("only our own Apply entry counts as our own write") {
  RivalAlarm alarm;
  alarm.wrote(kChild, child(9, "2026-01-01T00:00:00Z", "kubectl"), kManager);
  CHECK_FALSE(alarm.is_suspect(kChild, "10"));
  alarm.wrote(kChild, child(9, "2026-01-01T00:00:00Z", kManager, "Update"), kManager);
  CHECK_FALSE(alarm.is_suspect(kChild, "10"));
}

TEST_CASE("what was not written since the start, or perhaps written, raises no alarm") {
  RivalAlarm alarm;
  CHECK_FALSE(alarm.is_suspect(kChild, "10"));
  CHECK_FALSE(alarm.is_rival(kChild, "10", "2026-01-01T00:00:05Z"));
  alarm.wrote(kChild, child(9, "2026-01-01T00:00:00Z"), kManager);
  alarm.unsure(kChild);
  CHECK_FALSE(alarm.is_rival(kChild, "10", "2026-01-01T00:00:05Z"));
}

}  // namespace kubewatch::hooks
