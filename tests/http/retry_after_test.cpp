// When to ask again, of an answer's headers.
#include "http/retry_after.hpp"

#include "support/catch.hpp"

namespace kubewatch::http {
namespace {

std::string after(const std::string& value, const std::string& date) {
  Headers headers;
  headers.add("Retry-After", value);
  if (!date.empty()) headers.add("Date", date);
  return retry_after_seconds(headers);
}

TEST_CASE("Retry-After in seconds is told as it is, a time against the answer's own Date") {
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  CHECK(after("7", date) == "7");
  CHECK(after(" 7 ", "") == "7");
  CHECK(after("-7", date) == "-7");  // what it is worth is for who reads seconds
  CHECK(after("Sun, 06 Nov 1994 08:50:07 GMT", date) == "30");
  CHECK(after("Sunday, 06-Nov-94 08:50:07 GMT", date) == "30");
  CHECK(after("Sun Nov  6 08:50:07 1994", date) == "30");
  CHECK(after("Mon, 07 Nov 1994 08:49:37 GMT", date) == "86400");
  // It is over.
  CHECK(after("Sun, 06 Nov 1994 08:49:07 GMT", date) == "0");
  CHECK(after("Sun, 06 Nov 1994 08:50:07 GMT", "").empty());
  CHECK(after("Sun, 06 Nov 1994 08:50:07 GMT", "soon").empty());
  CHECK(after("soon", date).empty());
  CHECK(after("", date).empty());
  CHECK(retry_after_seconds({}).empty());
}

}  // namespace
}  // namespace kubewatch::http
