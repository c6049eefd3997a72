#include "cli/stream_flags.hpp"

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "client/rig.hpp"
#include "runtime/reflector.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;
using Lines = std::vector<std::string>;

namespace {

Result<runtime::WatcherOptions> parsed(std::vector<std::string> words) {
  CLI::App app;
  runtime::WatcherOptions options;
  bind_stream(app, options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    return Error(ErrorKind::invalid, e.what());
  }
  KW_TRY(check_stream(options));
  return options;
}

std::string refusal(std::vector<std::string> words) {
  const auto options = parsed(std::move(words));
  return options.ok() ? "" : options.error().render();
}

// The first request, and the one behind an answer of an empty list.
Lines wire(std::vector<std::string> words) {
  test::Rig rig;
  rig.transport.answer(
      200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]})");
  base::Random random(1);
  const auto options = parsed(std::move(words));
  REQUIRE(options.ok());
  runtime::Reflector reflector(rig.client, test::kPods, "", options.value(), {}, random, {});
  reflector.start();
  rig.run();
  Lines out;
  for (const auto& line : rig.transport.lines())
    out.push_back(line.substr(sizeof("GET /api/v1/pods") - 1));
  return out;
}

}  // namespace

TEST_CASE("each flag of lists and watches is in the requests that are sent") {
  CHECK(wire({}) ==
        Lines{"", "?allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=225&watch=true"});
  CHECK(wire({"--list-strategy=paged", "--chunk-size=9", "--list-semantics", "any"})[0] ==
        "?limit=9&resourceVersion=0");
  CHECK(wire({"--watch-timeout=1m", "--bookmarks=false"})[1] ==
        "?resourceVersion=5&timeoutSeconds=60&watch=true");
  CHECK(wire({"--list-strategy=streaming"})[0] ==
        "?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&"
        "timeoutSeconds=225&watch=true");
  const auto backoff = parsed({"--backoff-initial=2s", "--backoff-max=9s"});
  REQUIRE(backoff.ok());
  CHECK(backoff->backoff.initial == Duration{2000});
  CHECK(backoff->backoff.max == Duration{9000});
}

TEST_CASE("values of list and watch flags outside their bounds are refused with the bounds") {
  CHECK(refusal({"--watch-timeout=295s"}) == "--watch-timeout: must be from 5s to 4m54s, not 295s");
  CHECK(refusal({"--watch-timeout=1s"}) == "--watch-timeout: must be from 5s to 4m54s, not 1s");
  CHECK(refusal({"--backoff-initial=1ms"}) ==
        "--backoff-initial: must be from 10ms to 1h, not 1ms");
  CHECK(refusal({"--backoff-initial=40s"}) ==
        "--backoff-max 30s is shorter than --backoff-initial 40s");
  CHECK(refusal({"--chunk-size=10001"}) == "--chunk-size: Value 10001 not in range 0 to 10000");
  CHECK(refusal({"--list-strategy=fast"}) ==
        "--list-strategy: fast not in {auto,paged,unpaged,streaming}");
  CHECK(refusal({"--list-semantics=old"}) ==
        "--list-semantics: old not in {recent,any,notOlderThan}");
  CHECK(refusal({"--list-strategy=paged", "--chunk-size=0"}) ==
        "--list-strategy=paged needs a --chunk-size above 0");
}

TEST_CASE("failures of a watch are counted by where they happened") {
  runtime::ReflectorStats stats;
  CHECK(failures_json(stats) == base::parse_json(R"({"initialList": 0, "watchStart": 0, "stream": 0,
                                   "serverError": 0, "noResourceVersion": 0})")
                                    .value());
  stats.failures = {2, 0, 1, 0, 3};
  CHECK(failures_json(stats)["initialList"] == 2);
  CHECK(failures_json(stats)["noResourceVersion"] == 3);
}
