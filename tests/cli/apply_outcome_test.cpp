#include <sstream>

#include "cli/apply/apply_report.hpp"
#include "cli/apply/object_apply.hpp"
#include "cli/exit_code.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {
namespace {

Json object(const std::string& version, const std::string& color) {
  return {
      {"kind", "ConfigMap"},
      {"metadata", {{"name", "a"}, {"resourceVersion", version}, {"managedFields", {{version}}}}},
      {"data", {{"color", color}}}};
}

}  // namespace

TEST_CASE("created, configured with its paths, unchanged") {
  CHECK(compare(Json(), object("1", "red"), 9).what == ApplyOutcome::What::created);
  const Change same = compare(object("1", "red"), object("1", "red"), 9);
  CHECK(same.what == ApplyOutcome::What::unchanged);
  CHECK(same.changed.empty());
  const Change changed = compare(object("1", "red"), object("2", "blue"), 9);
  CHECK(changed.what == ApplyOutcome::What::configured);
  CHECK(changed.changed == std::vector<std::string>{".data.color"});
  // Another owner of the same value: written, but no path.
  const Change owner = compare(object("1", "red"), object("2", "red"), 9);
  CHECK(owner.what == ApplyOutcome::What::configured);
  CHECK(owner.changed.empty());
  // A dry run keeps the resourceVersion.
  CHECK(compare(object("1", "red"), object("1", "blue"), 9).what == ApplyOutcome::What::configured);
}

TEST_CASE("the exit code of several outcomes is the most telling one") {
  CHECK(more_telling(kDone, kConflict) == kConflict);
  CHECK(more_telling(kConflict, kNotFound) == kNotFound);
  CHECK(more_telling(kFailed, kConflict) == kFailed);
  CHECK(more_telling(kForbidden, kFailed) == kForbidden);
  CHECK(more_telling(kFailed, kUnreachable) == kUnreachable);
  CHECK(more_telling(kFindings, kConflict) == kConflict);
  CHECK(more_telling(kDone, kFindings) == kFindings);
}

TEST_CASE("a diff leaves the server's book-keeping out and hides secrets, equal for equal values") {
  const auto secrets = hooks::SecretHash::make();
  CHECK(diff_of(object("1", "red"), object("2", "red"), secrets).empty());
  const std::string diff = diff_of(object("1", "red"), object("2", "blue"), secrets);
  CHECK(diff.find("-  color: red\n+  color: blue\n") != std::string::npos);
  const auto secret = [](const std::string& value) {
    return Json{{"kind", "Secret"}, {"data", {{"same", "c2FtZS12YWx1ZQ=="}, {"p", value}}}};
  };
  const std::string hidden = diff_of(secret("aHVudGVyMg=="), secret("aHVudGVyMw=="), secrets);
  CHECK(hidden.find("aHVudGVy") == std::string::npos);
  CHECK(hidden.find("-  p: \"<masked ") != std::string::npos);
  CHECK(hidden.find("-  same") == std::string::npos);
  CHECK(hidden.find("c2FtZS12YWx1ZQ==") == std::string::npos);
  CHECK(diff_of(Json(), object("1", "red"), secrets).find("+  color: red") != std::string::npos);
}

TEST_CASE("outcomes and diffs have colours where there are colours, and are escaped") {
  Terminal colours;
  colours.color = true;
  CHECK(outcome_line("configmap/a\x1b", "created", ": .x", Terminal{}) ==
        "configmap/a\\x1b created: .x\n");
  CHECK(outcome_line("configmap/a", "created", "", colours) ==
        "configmap/a \x1b[32mcreated\x1b[0m\n");
  CHECK(outcome_line("a", "unchanged", "", colours) == "a unchanged\n");
  const std::string diff = "--- a live\n+++ a applied\n@@ -1 +1 @@\n-x\x1b\n+y\n z";
  CHECK(shown_diff(diff, Terminal{}) ==
        "--- a live\n+++ a applied\n@@ -1 +1 @@\n-x\\x1b\n+y\n z\n");
  CHECK(shown_diff(diff, colours) ==
        "\x1b[1m--- a live\x1b[0m\n\x1b[1m+++ a applied\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n"
        "\x1b[31m-x\\x1b\x1b[0m\n\x1b[32m+y\x1b[0m\n z\n");
}

TEST_CASE("a scale is applied from spec.replicas alone") {
  core::ResourceType type;
  type.gvk = {"apps", "v1", "Deployment"};
  type.plural = "deployments";
  Json manifest = R"({"apiVersion": "apps/v1", "kind": "Deployment",
                      "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 3}})"_json;
  CHECK(scale_body(manifest, type).error().kind() == ErrorKind::unsupported);
  type.subresources.push_back({"scale", {"autoscaling", "v1", "Scale"}, {}});
  const auto body = scale_body(manifest, type);
  REQUIRE(body.ok());
  CHECK(*body == R"({"apiVersion": "autoscaling/v1", "kind": "Scale",
                     "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 3}})"_json);
  manifest["spec"]["paused"] = true;
  CHECK_FALSE(scale_body(manifest, type).ok());
  manifest["spec"] = {{"replicas", "three"}};
  CHECK_FALSE(scale_body(manifest, type).ok());
}

TEST_CASE("objects are named as kubectl names them: by the kind, whatever its singular is") {
  std::ostringstream out;
  std::ostringstream err;
  GlobalOptions global;
  Context context{global, out, err};
  ReportStyle style;
  style.output = "name";
  const auto secrets = hooks::SecretHash::make();
  ApplyReport report(context, style, secrets);
  Pruned member;
  member.type.gvk = {"shop.example.com", "v1", "CronTab"};
  member.type.plural = "crontabs";
  member.type.singular = "ct";
  member.key = {"shop", "nightly"};
  report.add_pruned(member);
  CHECK(out.str() == "crontab.shop.example.com/nightly\n");
}

}  // namespace kubewatch::cli
