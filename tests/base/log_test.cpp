#include "base/log.hpp"

#include <regex>

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

namespace {

// Captures lines and puts the defaults back.
class Capture {
 public:
  explicit Capture(const LogOptions& options) {
    configure_log(options);
    capture_log(&lines);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    capture_log(nullptr);
    configure_log({});
  }
  std::vector<std::string> lines;
};

std::string without_time(const std::string& line) {
  return line.substr(line.find(' ') + 1);
}

}  // namespace

TEST_CASE("text lines have a time, a level, the message and quoted fields") {
  Capture capture({LogFormat::text, 0, false});
  log_info("watch started", {{"kind", "Pod"}, {"message", "two words"}, {"empty", ""}});
  log_warn("slow");
  log_error("bad", {{"why", "say \"no\""}, {"eq", "a=b"}});
  REQUIRE(capture.lines.size() == 3);
  CHECK(std::regex_match(capture.lines[1],
                         std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN  slow)")));
  CHECK(without_time(capture.lines[0]) ==
        "INFO  watch started kind=Pod message=\"two words\" empty=\"\"");
  CHECK(without_time(capture.lines[2]) == "ERROR bad why=\"say \\\"no\\\"\" eq=\"a=b\"");
}

TEST_CASE("verbose lines appear from their level on") {
  Capture capture({LogFormat::text, 4, false});
  CHECK(log_verbosity() == 4);
  vlog(5, "hidden");
  vlog(4, "shown");
  REQUIRE(capture.lines.size() == 1);
  CHECK(without_time(capture.lines[0]) == "V4    shown");
}

TEST_CASE("control characters in messages, keys and values are visible escapes") {
  Capture capture({LogFormat::text, 0, false});
  log_info("a\x1b[2J\nb", {{"k\n", "v\x1b\nw"}});
  CHECK(without_time(capture.lines[0]) == "INFO  a\\x1b[2J\\nb k\\n=\"v\\x1b\\nw\"");
}

TEST_CASE("JSON lines are one object each with the fields in order") {
  Capture capture({LogFormat::json, 6, false});
  log_warn("m\x1b", {{"z", "1"}, {"a", "\xc2\x9b\xff"}, {"msg", "mine"}});
  vlog(6, "request");
  REQUIRE(capture.lines.size() == 2);
  const Json first = Json::parse(capture.lines[0]);
  CHECK(first["level"] == "warn");
  CHECK(first["msg"] == "m\x1b");
  CHECK(first["msg_"] == "mine");
  CHECK(first["time"].get<std::string>().size() == 24);
  CHECK(capture.lines[0].find("\"z\"") < capture.lines[0].find("\"a\""));
  for (const char c : capture.lines[0]) CHECK((c >= 0x20 && c < 0x7f));
  const Json second = Json::parse(capture.lines[1]);
  CHECK(second["level"] == "debug");
  CHECK(second["v"] == 6);
}

TEST_CASE("colour surrounds the level only, and only when asked for") {
  Capture capture({LogFormat::text, 0, true});
  log_error("x");
  log_info("y");
  CHECK(without_time(capture.lines[0]) == "\x1b[31mERROR\x1b[0m x");
  CHECK(without_time(capture.lines[1]) == "INFO  y");
}
