#include "base/result.hpp"

#include <memory>

#include "support/catch.hpp"

using namespace kubewatch;

namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(ErrorKind::invalid, "odd");
  return number / 2;
}

Result<void> check(int number) {
  KW_TRY(half(number));
  return {};
}

Result<std::string> quarter(int number) {
  KW_ASSIGN(const int first, half(number));
  KW_ASSIGN(const int second, half(first).with_context("second half"));
  return std::to_string(second);
}

}  // namespace

TEST_CASE("a result is a value or an error") {
  CHECK(half(4).ok());
  CHECK(*half(4) == 2);
  CHECK_FALSE(half(3));
  CHECK(half(3).error().message() == "odd");
  CHECK(check(2).ok());
  CHECK(check(3).error().message() == "odd");
  Result<std::unique_ptr<int>> owner(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(owner);
  CHECK(*taken == 5);
}

TEST_CASE("KW_ASSIGN passes values on and errors up") {
  CHECK(*quarter(8) == "2");
  CHECK(quarter(3).error().render() == "odd");
  CHECK(quarter(6).error().render() == "second half: odd");
}

TEST_CASE("context is rendered outermost first and leaves the message alone") {
  Error error(ErrorKind::not_found, "no such pod");
  error.add_context("reading default/web").add_context("waiting");
  CHECK(error.render() == "waiting: reading default/web: no such pod");
  CHECK(error.message() == "no such pod");
  CHECK(Error(ErrorKind::gone, "x").with_context("a").render() == "a: x");
  CHECK(check(3).with_context("checking").error().render() == "checking: odd");
  CHECK(check(2).with_context("checking").ok());
}

TEST_CASE("kinds are asked for by predicate and have names") {
  CHECK(Error(ErrorKind::not_found, "").is_not_found());
  CHECK(Error(ErrorKind::conflict, "").is_conflict());
  CHECK(Error(ErrorKind::already_exists, "").is_already_exists());
  CHECK(Error(ErrorKind::gone, "").is_gone());
  CHECK(Error(ErrorKind::forbidden, "").is_forbidden());
  CHECK(Error(ErrorKind::unauthorized, "").is_unauthorized());
  CHECK(Error(ErrorKind::unreachable, "").is_unreachable());
  CHECK_FALSE(Error(ErrorKind::invalid, "").is_not_found());
  CHECK(to_string(ErrorKind::already_exists) == "already_exists");
}

TEST_CASE("conflicts, throttling, server and network failures may be retried") {
  using enum ErrorKind;
  for (const ErrorKind kind : {conflict, rate_limited, timeout, unavailable, unreachable}) {
    CHECK(Error(kind, "").is_retryable());
  }
  for (const ErrorKind kind : {internal, invalid, not_found, already_exists, gone, unauthorized,
                               forbidden, too_large, unsupported, canceled}) {
    CHECK_FALSE(Error(kind, "").is_retryable());
  }
}

TEST_CASE("the answer of the API server travels with the error") {
  CHECK(Error(ErrorKind::invalid, "x").status() == nullptr);
  const Error error(ErrorKind::conflict, "x", {409, "Conflict", "old", 3, "{}"});
  const Error copy = error;
  REQUIRE(copy.status() != nullptr);
  CHECK(copy.status()->code == 409);
  CHECK(copy.status()->retry_after_seconds == 3);
}
