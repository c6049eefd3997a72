#include "runtime/finalizer.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using runtime::FinalizerStep;

namespace {

core::ObjectMeta meta(std::vector<std::string> finalizers, bool deleting) {
  core::ObjectMeta out;
  out.name = "a";
  out.uid = "u1";
  out.finalizers = std::move(finalizers);
  if (deleting) out.deletion_timestamp = "2026-01-02T03:04:05Z";
  return out;
}

const std::string kOurs = "kubewatch.dev/web";

}  // namespace

TEST_CASE("the finalizer decides what comes next") {
  struct Row {
    std::vector<std::string> finalizers;
    bool deleting, wanted;
    FinalizerStep step;
  };
  const std::vector<Row> rows = {
      {{}, false, false, FinalizerStep::reconcile},
      {{}, false, true, FinalizerStep::add_first},
      {{"other/x"}, false, true, FinalizerStep::add_first},
      {{"other/x", kOurs}, false, true, FinalizerStep::reconcile},
      {{kOurs}, false, false, FinalizerStep::remove},
      {{kOurs}, true, true, FinalizerStep::clean_up},
      {{kOurs}, true, false, FinalizerStep::clean_up},
      {{"other/x"}, true, true, FinalizerStep::nothing},
      {{}, true, false, FinalizerStep::nothing},
  };
  for (const auto& row : rows) {
    CAPTURE(row.finalizers, row.deleting, row.wanted);
    CHECK(runtime::finalizer_step(meta(row.finalizers, row.deleting), kOurs, row.wanted) ==
          row.step);
  }
}

TEST_CASE("patches test what they saw before they change it") {
  const auto text = [](const Json& patch) { return base::dump_json(patch); };
  CHECK(text(runtime::add_finalizer_patch(meta({}, false), kOurs)) ==
        R"([{"op":"test","path":"/metadata/uid","value":"u1"},)"
        R"({"op":"test","path":"/metadata/finalizers","value":null},)"
        R"({"op":"add","path":"/metadata/finalizers","value":["kubewatch.dev/web"]}])");
  CHECK(text(runtime::add_finalizer_patch(meta({"a/b"}, false), kOurs)) ==
        R"([{"op":"test","path":"/metadata/uid","value":"u1"},)"
        R"({"op":"test","path":"/metadata/finalizers","value":["a/b"]},)"
        R"({"op":"add","path":"/metadata/finalizers/-","value":"kubewatch.dev/web"}])");
  CHECK(text(runtime::remove_finalizer_patch(meta({"a/b", kOurs, "c/d"}, true), kOurs)) ==
        R"([{"op":"test","path":"/metadata/uid","value":"u1"},)"
        R"({"op":"test","path":"/metadata/finalizers/1","value":"kubewatch.dev/web"},)"
        R"({"op":"remove","path":"/metadata/finalizers/1"}])");
}
