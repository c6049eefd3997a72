// What is sent again after a refusal, and when.
#include "client/retry.hpp"

#include "core/status.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::client;

namespace {

Error answer(int code, const std::string& retry_after = "") {
  return core::error_from_response(code, "{}", retry_after);
}

}  // namespace

TEST_CASE("what is safe is sent again, as the server says and within a budget") {
  CHECK(retry_delay(answer(429, "3"), 0, Duration{0}) == Duration{3000});
  CHECK(retry_delay(answer(503), 0, Duration{0}) == Duration{500});
  CHECK(retry_delay(answer(503), 3, Duration{0}) == Duration{4000});
  CHECK(retry_delay(answer(504), 60, Duration{0}) == Duration{8000});
  CHECK_FALSE(retry_delay(answer(429, "30"), 1, Duration{40000}));
  // "At once" has an end as well.
  CHECK(retry_delay(answer(429, "0"), 2, Duration{0}) == Duration{2000});
  for (const int code : {400, 403, 404, 409, 422, 500}) {
    CHECK_FALSE(retry_delay(answer(code), 0, Duration{0}));
  }
  CHECK_FALSE(retry_delay(Error(ErrorKind::unreachable, "no route"), 0, Duration{0}));
}

TEST_CASE("a connection that broke off is made again within the same budget, and nothing else") {
  const Error lost(ErrorKind::unreachable, "it broke off");
  CHECK(reconnect_delay(lost, 0, Duration{0}) == Duration{500});
  CHECK(reconnect_delay(lost, 60, Duration{0}) == Duration{8000});
  CHECK_FALSE(reconnect_delay(lost, 9, Duration{52001}));
  CHECK_FALSE(reconnect_delay(Error(ErrorKind::timeout, "late"), 0, Duration{0}));
  CHECK_FALSE(reconnect_delay(answer(503), 0, Duration{0}));
}

TEST_CASE("what is asked for again waits longer and longer, or as long as the server says") {
  base::Random random(1);
  base::Backoff backoff({Duration{800}, Duration{30000}, 2.0, 0});
  const Duration asked = pause_before_next(answer(503, "20"), backoff, random);
  CHECK(asked >= Duration{20000});
  CHECK(asked <= Duration{22000});
  CHECK(pause_before_next(answer(503, "1"), backoff, random) == Duration{1600});
  CHECK(pause_before_next(answer(503, "100000"), backoff, random) == Duration{300000});
  CHECK(pause_before_next(Error(ErrorKind::unreachable, "refused"), backoff, random) ==
        Duration{6400});
}

TEST_CASE("those who were asked to come back at the same time do not all come at once") {
  const auto pause = [](std::uint64_t seed) {
    base::Random random(seed);
    base::Backoff backoff({Duration{800}, Duration{30000}, 2.0, 0});
    return pause_before_next(answer(429, "60"), backoff, random);
  };
  CHECK(pause(1) != pause(2));
}

TEST_CASE("who was told to wait knows it, also where it is for no time at all") {
  CHECK(is_told_to_wait(answer(429, "0")));
  CHECK_FALSE(is_told_to_wait(answer(429)));
  CHECK_FALSE(is_told_to_wait(Error(ErrorKind::unreachable, "refused")));
}

TEST_CASE("a server that is away is waited for, one that is set up wrong is not") {
  const Error refused = Error(ErrorKind::unreachable, "refused").as_disconnect();
  const Error late(ErrorKind::timeout, "nothing came");
  const Error no_address = Error(ErrorKind::unreachable, "cannot resolve it").as_unresolved();
  // As a proxy in front of a server that is away has it, under 200.
  const Error page(ErrorKind::unavailable, "the server's answer cannot be read");
  for (const Error& away : {refused, late, no_address, page, answer(429), answer(500), answer(502),
                            answer(503), answer(504)}) {
    CAPTURE(away.render());
    CHECK(may_come_back(away));
    CHECK_FALSE(is_wrongly_set_up(away));
  }
  for (const int code : {400, 401, 403, 404}) {
    CHECK_FALSE(may_come_back(answer(code)));
    CHECK_FALSE(is_wrongly_set_up(answer(code)));
  }
  for (const ErrorKind kind :
       {ErrorKind::unreachable, ErrorKind::invalid, ErrorKind::unauthorized}) {
    const Error wrong(kind, "TLS: the certificate is of nobody");
    CHECK_FALSE(may_come_back(wrong));
    CHECK(is_wrongly_set_up(wrong));
  }
}
