#include "apiserver/go_duration.hpp"

#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("durations that Go reads") {
  for (const char* text : {"0", "-0", "+0", "0s", "10s", "-1s", "+1s", "1m1s", "1.5s", ".5s", "5.s",
                           "1us", "1\u00b5s", "1\u03bcs", "1ns", "61m", "100h", "2562047h"}) {
    CAPTURE(text);
    CHECK_FALSE(why_no_duration(text));
  }
}

TEST_CASE("texts that are no durations are refused in Go's words") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", R"(time: invalid duration "")"},
      {"x", R"(time: invalid duration "x")"},
      {"s", R"(time: invalid duration "s")"},
      {"-", R"(time: invalid duration "-")"},
      {".s", R"(time: invalid duration ".s")"},
      {"\"", R"(time: invalid duration "\"")"},
      {"1", R"(time: missing unit in duration "1")"},
      {"1s2", R"(time: missing unit in duration "1s2")"},
      {"1..5s", R"(time: missing unit in duration "1..5s")"},
      {"1x", R"(time: unknown unit "x" in duration "1x")"},
      {"1S", R"(time: unknown unit "S" in duration "1S")"},
      {"1 s", R"(time: unknown unit " s" in duration "1 s")"},
      {"1e3s", R"(time: unknown unit "e" in duration "1e3s")"},
      {"9999999h", R"(time: invalid duration "9999999h")"},
      {"99999999999999999999999h", R"(time: invalid duration "99999999999999999999999h")"},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE(text);
    CHECK(why_no_duration(text).value_or("") == words);
  }
}

}  // namespace kubewatch::apiserver
