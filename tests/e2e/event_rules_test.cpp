// What the server demands of Events in their newer group, and how it shows there what came by the
// older one.
#include <string>
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

std::string newer_events(const World& w) {
  return "/apis/events.k8s.io/v1/namespaces/" + w.ns() + "/events";
}

// `rest` is a merge patch of one that is right.
Json newer_event(const World& w, const std::string& name, const std::string& rest = "{}") {
  Json out = Json::parse(R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
      "eventTime":"2026-01-01T00:00:00.000001Z","type":"Normal","reason":"R","action":"A",
      "note":"n","reportingController":"kw.io/c","reportingInstance":"i",
      "regarding":{"kind":"Pod","name":"p"}})");
  out["metadata"]["name"] = name;
  out["regarding"]["namespace"] = w.ns();
  out.merge_patch(Json::parse(rest));
  return out;
}

}  // namespace

E2E_CASE("a new Event says nothing in the fields of the older group, and twice in a series") {
  World w;
  const auto told = [&](const std::string& rest) {
    return message(send(w, "POST", newer_events(w) + "?dryRun=All", newer_event(w, "x", rest)));
  };
  const std::string invalid = "Event \"x\" is invalid: ";
  CHECK(told(R"({"deprecatedSource":{},"series":{"count":2,
      "lastObservedTime":"2026-01-01T00:00:00.000001Z"}})")
            .empty());
  CHECK(told(R"({"deprecatedCount":3,"series":{"count":1}})") ==
        invalid +
            "[series.count: Invalid value: \"\": should be at least 2, series.lastObservedTime: "
            "Required value, count: Invalid value: \"\": needs to be unset]");
  CHECK(told(R"({"type":null,"eventTime":null,"deprecatedSource":{"host":"h"},
      "deprecatedFirstTimestamp":"2026-01-01T00:00:00Z",
      "deprecatedLastTimestamp":"2026-01-01T00:00:00Z"})") ==
        invalid +
            "[eventTime: Required value, type: Invalid value: \"\": has invalid value: , "
            "firstTimestamp: Invalid value: \"\": needs to be unset, lastTimestamp: Invalid value: "
            "\"\": needs to be unset, source: Invalid value: \"\": needs to be unset]");
}

E2E_CASE("of an Event only its series may be changed in the newer group") {
  World w;
  made(w, newer_events(w), newer_event(w, "x"));
  const auto changed = [&](const std::string& to) {
    return patch(w, newer_events(w) + "/x?dryRun=All", Json::parse(to));
  };
  struct Change {
    const char* change;
    std::string told;
  };
  const std::string reference = R"("UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""})";
  const std::vector<Change> all = {
      {R"({"note":"changed"})", "message: Invalid value: \"changed\""},
      {R"({"note":null})", "message: Invalid value: \"\""},
      {R"({"reason":"X"})", "reason: Invalid value: \"X\""},
      {R"({"type":"Warning"})", "type: Invalid value: \"Warning\""},
      {R"({"action":"B"})", "action: Invalid value: \"B\""},
      {R"({"eventTime":"2026-01-01T00:00:00.000002Z"})",
       "eventTime: Invalid value: \"2026-01-01T00:00:00.000002Z\""},
      {R"({"eventTime":null})", "eventTime: Invalid value: null"},
      {R"({"reportingController":"kw.io/d"})", "reportingController: Invalid value: \"kw.io/d\""},
      {R"({"reportingInstance":"j"})", "reportingInstance: Invalid value: \"j\""},
      {R"({"deprecatedCount":3})", "count: Invalid value: 3"},
      {R"({"deprecatedSource":{"component":"c"}})",
       R"(source: Invalid value: {"Component":"c","Host":""})"},
      {R"({"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z"})",
       "firstTimestamp: Invalid value: \"2026-01-01T00:00:00Z\""},
      {R"({"deprecatedLastTimestamp":"2026-01-01T00:00:00Z"})",
       "lastTimestamp: Invalid value: \"2026-01-01T00:00:00Z\""},
      {R"({"regarding":{"name":"q"}})",
       R"(involvedObject: Invalid value: {"Kind":"Pod","Namespace":")" + w.ns() +
           R"(","Name":"q",)" + reference},
      {R"({"related":{"kind":"Pod"}})",
       R"(related: Invalid value: {"Kind":"Pod","Namespace":"","Name":"",)" + reference},
  };
  for (const Change& one : all) {
    CAPTURE(one.change);
    CHECK(message(changed(one.change)) ==
          "Event \"x\" is invalid: " + one.told + ": field is immutable");
  }
  CHECK(changed(R"({"reason":"X"})").body["details"]["causes"].size() == 2);
  CHECK(message(changed(R"({"series":{"count":1}})")) ==
        "Event \"x\" is invalid: [series.count: Invalid value: \"\": should be at least 2, "
        "series.lastObservedTime: Required value]");
  for (const char* fine : {R"({"metadata":{"labels":{"a":"b"}}})",
                           R"({"eventTime":"2026-01-01T01:00:00.000001+01:00"})",
                           R"({"series":{"count":2,
                               "lastObservedTime":"2026-01-01T00:00:00.000001Z"}})"}) {
    CAPTURE(fine);
    CHECK(message(changed(fine)).empty());
  }
}

E2E_CASE("an Event of nobody says so in the older group alone") {
  World w;
  const std::string older = "/api/v1/namespaces/" + w.ns() + "/events";
  Json event = Json::parse(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"x"},
      "involvedObject":{"kind":"Pod","name":"p"},"reason":"R","message":"m","type":"Normal"})");
  event["involvedObject"]["namespace"] = w.ns();
  made(w, older, event);
  const auto shows = [&](const std::string& collection, const char* key) {
    return send(w, "GET", collection + "/x").body.contains(key);
  };
  CHECK_FALSE(shows(newer_events(w), "reportingController"));
  CHECK_FALSE(shows(newer_events(w), "reportingInstance"));
  // Nor is it lost on the way there and back.
  CHECK(patch(w, newer_events(w) + "/x", {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
  CHECK(shows(older, "reportingComponent"));
  CHECK(shows(older, "reportingInstance"));
  CHECK(message(patch(w, newer_events(w) + "/x", {{"note", "x"}})) ==
        "Event \"x\" is invalid: message: Invalid value: \"x\": field is immutable");
  CHECK(patch(w, older + "/x", {{"message", "x"}}).code == 200);
}

}  // namespace kubewatch::e2e
