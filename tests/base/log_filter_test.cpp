// How much is logged of what.
#include "base/log_filter.hpp"

#include "base/log.hpp"
#include "base/log_level.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

namespace {

LogFilter filter(const std::string& text) {
  auto parsed = LogFilter::parse(text);
  REQUIRE(parsed.ok());
  return std::move(*parsed);
}

}  // namespace

TEST_CASE("a controller's level goes before its room's, and a room's before the rest") {
  const auto levels = filter("warn, runtime=debug,http=off,controller/website=8");
  CHECK(levels.level("runtime", "", 0) == kLogDebug);
  CHECK(levels.level("http", "", 0) == kLogOff);
  CHECK(levels.level("hooks", "", 6) == kLogWarnings);
  CHECK(levels.level("hooks", "website", 0) == 8);
  CHECK(levels.level("runtime", "other", 0) == kLogDebug);
  CHECK(levels.highest(0) == 8);
}

TEST_CASE("without a level for the rest, -v holds for it, later entries win") {
  const auto levels = filter("runtime=debug,runtime=error");
  CHECK(levels.level("runtime", "", 4) == kLogErrors);
  CHECK(levels.level("hooks", "", 4) == 4);
  CHECK(levels.highest(4) == 4);
  CHECK(filter("").empty());
}

TEST_CASE("a wrong log filter is refused with what is known") {
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"runtime=loud", "\"loud\" is no level"},
           {"11", "is no level"},
           {"rutime=info", "known: apiserver"},
           {"controller/=info", "no part of the program"},
           {"=info", "no part of the program"}}) {
    INFO(text);
    const auto parsed = LogFilter::parse(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().render().find(says) != std::string::npos);
  }
}

TEST_CASE("the room of a source file is its folder below lib") {
  CHECK(room_of("/a/lib/b/lib/runtime/store.cpp") == "runtime");
  CHECK(room_of("lib/http/x.cpp") == "http");
  CHECK(room_of("/src/cli/verbs/watch.cpp") == "cli");
  CHECK(room_of("/src/cli/app.cpp") == "cli");
  CHECK(room_of("/src/tests/base/log_test.cpp") == "");
  CHECK(room_of("main.cpp") == "");
}

TEST_CASE("a verbosity that is set later goes before the filter's own for the rest alone") {
  std::vector<std::string> lines;
  LogOptions options;
  options.filter = filter("warn,controller/website=error,client=6");
  configure_log(options);
  CHECK(general_log_verbosity() == kLogWarnings);
  set_log_verbosity(4);
  CHECK(general_log_verbosity() == 4);
  CHECK(log_verbosity() == 6);
  capture_log(&lines);
  vlog(4, "one");
  vlog(5, "two");
  log_warn("three", {{"controller", "website"}});
  vlog(6, "four", {}, "lib/client/request_log.cpp");
  capture_log(nullptr);
  set_log_verbosity(0);
  CHECK(general_log_verbosity() == 0);
  configure_log({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("one") != std::string::npos);
  CHECK(lines[1].find("four") != std::string::npos);
}

TEST_CASE("log lines obey the filter by their field controller") {
  std::vector<std::string> lines;
  LogOptions options;
  options.filter = filter("error,controller/website=info,controller/noisy=off");
  configure_log(options);
  capture_log(&lines);
  log_info("one", {{"controller", "website"}});
  log_info("two", {{"controller", "other"}});
  log_error("three", {{"controller", "noisy"}});
  log_error("four");
  vlog(1, "five", {{"controller", "website"}});
  capture_log(nullptr);
  configure_log({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("one") != std::string::npos);
  CHECK(lines[1].find("four") != std::string::npos);
}
