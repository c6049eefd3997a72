// Answers that are no success, with and without a Status.
#include "core/status.hpp"

#include "base/json.hpp"
#include "base/result.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

TEST_CASE("the HTTP status and the reason decide the kind of an error") {
  struct Case {
    int code;
    const char* reason;
    ErrorKind kind;
    bool retryable;
  };
  const Case cases[] = {
      {400, "BadRequest", ErrorKind::invalid, false},
      {401, "Unauthorized", ErrorKind::unauthorized, false},
      {403, "Forbidden", ErrorKind::forbidden, false},
      {404, "NotFound", ErrorKind::not_found, false},
      {405, "MethodNotAllowed", ErrorKind::unsupported, false},
      {406, "NotAcceptable", ErrorKind::unsupported, false},
      {409, "Conflict", ErrorKind::conflict, true},
      {409, "AlreadyExists", ErrorKind::already_exists, false},
      {410, "Expired", ErrorKind::gone, false},
      {410, "Gone", ErrorKind::gone, false},
      {410, "", ErrorKind::gone, false},
      {400, "Expired", ErrorKind::gone, false},
      {413, "RequestEntityTooLarge", ErrorKind::too_large, false},
      {415, "UnsupportedMediaType", ErrorKind::unsupported, false},
      {422, "Invalid", ErrorKind::invalid, false},
      {429, "TooManyRequests", ErrorKind::rate_limited, true},
      {500, "InternalError", ErrorKind::unavailable, true},
      {503, "ServiceUnavailable", ErrorKind::unavailable, true},
      {504, "Timeout", ErrorKind::timeout, true},
  };
  for (const Case& c : cases) {
    INFO(c.code << " " << c.reason);
    const auto error = error_from_response(
        c.code, std::string(R"({"kind":"Status","apiVersion":"v1","message":"m","reason":")") +
                    c.reason + "\"}");
    CHECK(error.kind() == c.kind);
    CHECK(error.is_retryable() == c.retryable);
    CHECK(error.message() == "m");
    REQUIRE(error.status() != nullptr);
    CHECK(error.status()->code == c.code);
    CHECK(error.status()->reason == c.reason);
  }
}

TEST_CASE("an HTTP code alone has the reason that apimachinery gives it") {
  CHECK(reason_of_code(400) == "BadRequest");
  CHECK(reason_of_code(409) == "Conflict");
  CHECK(reason_of_code(410) == "Expired");
  CHECK(reason_of_code(413) == "RequestEntityTooLarge");
  CHECK(reason_of_code(414).empty());
  CHECK(reason_of_code(422) == "Invalid");
  CHECK(reason_of_code(500) == "InternalError");
  CHECK(reason_of_code(502) == "InternalError");
  CHECK(reason_of_code(503) == "ServiceUnavailable");
  CHECK(reason_of_code(504) == "Timeout");
}

TEST_CASE("an answer that is no Status becomes a sentence with code and first line") {
  const auto busy =
      error_from_response(429, "Too many requests, please try again later.\nmore", "7");
  CHECK(busy.kind() == ErrorKind::rate_limited);
  CHECK(busy.message() ==
        "the server answered 429 Too Many Requests: Too many requests, please try again later.");
  CHECK(busy.status()->retry_after_seconds == 7);
  const auto html = error_from_response(
      503, "<html>\n<head><title>503 Service Unavailable</title></head><body>x</body></html>");
  CHECK(html.message() == "the server answered 503 Service Unavailable: 503 Service Unavailable");
  CHECK(error_from_response(502, "<html><body>no title").message() ==
        "the server answered 502 Bad Gateway");
  CHECK(error_from_response(404, "404 page not found\n").message() ==
        "the server answered 404 Not Found: 404 page not found");
  CHECK(error_from_response(599, "").message() == "the server answered 599");
  CHECK(error_from_response(500, std::string(5000, 'x')).message().size() < 300);
  CHECK(error_from_response(500, "{\"kind\":\"Status\",").kind() == ErrorKind::unavailable);
  CHECK(error_from_response(500, "{\"kind\":\"Pod\"}")
            .message()
            .rfind("the server answered 500", 0) == 0);
}

TEST_CASE("retry hints come from the header or the Status and are bounded") {
  const char* body = R"({"kind":"Status","message":"m","details":{"retryAfterSeconds":3}})";
  CHECK(error_from_response(503, body).status()->retry_after_seconds == 3);
  CHECK(error_from_response(503, body, "9").status()->retry_after_seconds == 9);
  CHECK(error_from_response(503, body, "soon").status()->retry_after_seconds == 3);
  CHECK_FALSE(error_from_response(503, "", "-1").status()->retry_after_seconds.has_value());
  CHECK(error_from_response(503, "", "999999999").status()->retry_after_seconds == 86400);
  // More than an int holds is a long time, not none.
  CHECK(error_from_response(503, "", "9999999999").status()->retry_after_seconds == 86400);
  CHECK_FALSE(error_from_response(503, "", "-9999999999").status()->retry_after_seconds);
  CHECK_FALSE(error_from_response(503, "", "9999999999 s").status()->retry_after_seconds);
}

TEST_CASE("an ERROR event holds a Status with its own code") {
  const auto gone = error_from_status_json(
      R"j({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version: 1 (2)"})j");
  CHECK(gone.is_gone());
  CHECK(gone.status()->code == 410);
  CHECK(error_from_status_json(R"({"kind":"Status","reason":"Expired"})").is_gone());
  CHECK(error_from_status_json(R"({"kind":"Status","reason":"Forbidden","message":"no"})")
            .is_forbidden());
  const auto empty = error_from_status_json(R"({"kind":"Status"})");
  CHECK(empty.kind() == ErrorKind::internal);
  CHECK_FALSE(empty.message().empty());
  CHECK(error_from_status_json(R"({"kind":"Pod"})").kind() == ErrorKind::internal);
  CHECK(error_from_status_json("nonsense").kind() == ErrorKind::internal);
  CHECK(error_from_status_json(R"({"kind":"Status","code":99999999999})").kind() ==
        ErrorKind::internal);
}

TEST_CASE("the causes of a conflict are data") {
  const auto error = error_from_response(409, R"({"kind":"Status","reason":"Conflict","code":409,
    "message":"Apply failed with 1 conflict: conflict with \"foo\": .spec.replicas",
    "details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"foo\"",
    "field":".spec.replicas"},7]}})");
  CHECK(error.is_conflict());
  const auto causes = causes_of(error);
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].reason == "FieldManagerConflict");
  CHECK(causes[0].message == "conflict with \"foo\"");
  CHECK(causes[0].field == ".spec.replicas");
  CHECK(causes[1].reason.empty());
  CHECK(causes_of(Error(ErrorKind::conflict, "ours")).empty());
}

TEST_CASE("a resourceVersion from the future is told from other timeouts") {
  CHECK(is_resource_version_too_large(error_from_response(
      504, R"({"kind":"Status","reason":"Timeout","message":"Timeout","details":{"causes":[
        {"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})")));
  CHECK(is_resource_version_too_large(error_from_status_json(
      R"({"kind":"Status","code":504,"message":"Timeout: Too large resource version: 9, current: 1"})")));
  CHECK_FALSE(is_resource_version_too_large(error_from_response(504, "")));
  CHECK_FALSE(is_resource_version_too_large(Error(ErrorKind::timeout, "ours")));
}

TEST_CASE("a 404 of an unknown kind is told from that of an absent object or namespace") {
  const auto unknown = [](const std::string& body) {
    return is_unknown_path(error_from_response(404, body));
  };
  CHECK(unknown("404 page not found\n"));
  CHECK(unknown(R"({"kind":"Status","reason":"NotFound","details":{},
    "message":"the server could not find the requested resource"})"));
  CHECK_FALSE(unknown(R"({"kind":"Status","reason":"NotFound",
    "details":{"name":"web","kind":"pods"},"message":"pods \"web\" not found"})"));
  CHECK_FALSE(unknown(R"({"kind":"Status","reason":"NotFound",
    "details":{"name":"shop","kind":"namespaces"},"message":"namespaces \"shop\" not found"})"));
  CHECK_FALSE(is_unknown_path(error_from_response(503, "no")));
  CHECK_FALSE(is_unknown_path(Error(ErrorKind::not_found, "a file")));
}

TEST_CASE("only a Status of an API server says that an object is not there") {
  const auto absent = [](int code, const std::string& body) {
    return is_absent_object(error_from_response(code, body));
  };
  CHECK(absent(404, R"({"kind":"Status","reason":"NotFound","code":404})"));
  CHECK(absent(404, R"({"kind":"Status","reason":"NotFound",
    "details":{"name":"web","kind":"pods"},"message":"pods \"web\" not found"})"));
  CHECK_FALSE(absent(404, "404 page not found\n"));
  CHECK_FALSE(absent(404, ""));
  CHECK_FALSE(absent(404, R"({"kind":"Status","reason":"NotFound","details":{},
    "message":"the server could not find the requested resource"})"));
  CHECK_FALSE(absent(410, R"({"kind":"Status","reason":"Expired","message":"old"})"));
  CHECK_FALSE(is_absent_object(Error(ErrorKind::not_found, "a file")));
}

TEST_CASE("a failure that is made here reads as one from a server") {
  const Json body = status_body(404, "NotFound", "no such kind");
  CHECK(body["kind"] == "Status");
  CHECK(body["metadata"] == Json::object());
  const auto error = error_from_response(404, base::dump_json(body));
  CHECK(error.kind() == ErrorKind::not_found);
  CHECK(error.message() == "no such kind");
  CHECK_FALSE(status_body(418, "", "short").contains("reason"));
}
