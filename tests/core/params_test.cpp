// Query strings and the combinations that the server refuses.
#include "core/params.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

TEST_CASE("list parameters become a query in alphabetical order") {
  ListParams params;
  CHECK(params.query().empty());
  params.label_selector = "a in (b,c)";
  params.field_selector = "metadata.name=x";
  params.limit = 500;
  params.resource_version = "0";
  params.match = VersionMatch::not_older_than;
  CHECK(params.query() ==
        "fieldSelector=metadata.name%3Dx&labelSelector=a%20in%20%28b%2Cc%29&limit=500&"
        "resourceVersion=0&resourceVersionMatch=NotOlderThan");
}

TEST_CASE("a continue token goes without resourceVersion and match") {
  ListParams params;
  params.continue_token = "abc+/=";
  params.limit = 5;
  params.resource_version = "7";
  params.match = VersionMatch::exact;
  CHECK(params.validate().ok());
  CHECK(params.query() == "continue=abc%2B%2F%3D&limit=5");
}

TEST_CASE("list parameters that the server refuses are refused here") {
  struct Case {
    std::string version;
    VersionMatch match;
    bool good;
  };
  const Case cases[] = {
      {"", VersionMatch::unset, true},           {"0", VersionMatch::unset, true},
      {"7", VersionMatch::exact, true},          {"7", VersionMatch::not_older_than, true},
      {"0", VersionMatch::not_older_than, true}, {"", VersionMatch::exact, false},
      {"", VersionMatch::not_older_than, false}, {"0", VersionMatch::exact, false},
  };
  for (const Case& c : cases) {
    INFO(c.version << " " << static_cast<int>(c.match));
    ListParams params;
    params.resource_version = c.version;
    params.match = c.match;
    CHECK(params.validate().ok() == c.good);
  }
}

TEST_CASE("watch parameters become a query") {
  WatchParams params;
  params.resource_version = "12";
  CHECK(params.query() ==
        "allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=290&watch=true");
  params.bookmarks = false;
  params.timeout = Duration(0);
  CHECK(params.query() == "resourceVersion=12&watch=true");
  params = {};
  params.resource_version = "0";
  params.send_initial_events = true;
  CHECK(params.query() ==
        "allowWatchBookmarks=true&resourceVersion=0&resourceVersionMatch=NotOlderThan&"
        "sendInitialEvents=true&timeoutSeconds=290&watch=true");
}

TEST_CASE("a watch that could not work is refused") {
  WatchParams params;
  CHECK(params.validate().ok());
  params.timeout = Duration(500);
  CHECK_FALSE(params.validate().ok());
  params.timeout = Duration(-1000);
  CHECK_FALSE(params.validate().ok());
  params.timeout = Duration(0);
  CHECK(params.validate().ok());
  params.send_initial_events = true;
  CHECK(params.validate().ok());
  params.bookmarks = false;
  CHECK_FALSE(params.validate().ok());
}

TEST_CASE("write and patch parameters become queries") {
  CHECK(WriteParams{}.query().empty());
  CHECK(WriteParams{true, "kubewatch/web", "Strict"}.query() ==
        "dryRun=All&fieldManager=kubewatch%2Fweb&fieldValidation=Strict");
  PatchParams patch;
  CHECK(patch.query().empty());
  patch = {PatchType::apply, true, true, "m", "Warn"};
  CHECK(patch.query() == "dryRun=All&fieldManager=m&fieldValidation=Warn&force=true");
}

TEST_CASE("patch types have their content types") {
  CHECK(content_type(PatchType::json) == "application/json-patch+json");
  CHECK(content_type(PatchType::merge) == "application/merge-patch+json");
  CHECK(content_type(PatchType::strategic) == "application/strategic-merge-patch+json");
  CHECK(content_type(PatchType::apply) == "application/apply-patch+yaml");
}

TEST_CASE("patch parameters that the server refuses are refused here") {
  const auto good = [](PatchType type, bool force, const std::string& manager,
                       const std::string& validation = "") {
    PatchParams params;
    params.type = type;
    params.force = force;
    params.field_manager = manager;
    params.field_validation = validation;
    return params.validate().ok();
  };
  CHECK(good(PatchType::apply, true, "m"));
  CHECK(good(PatchType::merge, false, ""));
  CHECK(good(PatchType::apply, false, std::string(128, 'm'), "Ignore"));
  CHECK_FALSE(good(PatchType::apply, false, ""));
  CHECK_FALSE(good(PatchType::apply, false, std::string(129, 'm')));
  CHECK_FALSE(good(PatchType::apply, false, "a\nb"));
  CHECK_FALSE(good(PatchType::apply, false, "a\xff"));
  CHECK_FALSE(good(PatchType::merge, true, "m"));
  CHECK_FALSE(good(PatchType::merge, false, "m", "strict"));
}

TEST_CASE("delete options are a document") {
  DeleteParams params;
  CHECK(Json::parse(params.body()) == Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions"})"));
  CHECK(params.query().empty());
  params.propagation = Propagation::foreground;
  params.uid = "u1";
  params.resource_version = "9";
  params.dry_run = true;
  params.grace_period_seconds = 0;
  CHECK(Json::parse(params.body()) == Json::parse(R"({
    "apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",
    "preconditions":{"uid":"u1","resourceVersion":"9"},"dryRun":["All"],"gracePeriodSeconds":0})"));
  CHECK(params.query() == "dryRun=All");
  params.propagation = Propagation::background;
  CHECK(Json::parse(params.body())["propagationPolicy"] == "Background");
  params.propagation = Propagation::orphan;
  CHECK(Json::parse(params.body())["propagationPolicy"] == "Orphan");
}
