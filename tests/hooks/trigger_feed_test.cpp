// Lines of trigger programs and files: what becomes a request, and how fast they are read.
#include "hooks/trigger_feed.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct World {
  std::vector<std::string> reasons;
  std::vector<std::string> refused;
  TriggerFeed feed{[this](const TriggerRequest& request) { reasons.push_back(request.reason); },
                   [this](const Error& error) { refused.push_back(error.render()); }};
  TimePoint now{Duration{1000000}};
};

std::string line(const std::string& reason) {
  return R"({"all":true,"reason":")" + reason + "\"}\n";
}

}  // namespace

TEST_CASE("lines become requests however their bytes were cut, and bad ones are told") {
  World world;
  const std::string text = line("a") + "\n  \nnonsense\n" + line("b");
  for (const char byte : text) world.feed.bytes(world.now, {&byte, 1});
  CHECK(world.reasons == std::vector<std::string>{"a", "b"});
  CHECK(world.refused.size() == 1);
}

TEST_CASE("the last line of a writer that ended counts, what a replaced file began does not") {
  World world;
  world.feed.bytes(world.now, R"({"all":true,"reason":"a"})");
  CHECK(world.reasons.empty());
  world.feed.end(world.now);
  CHECK(world.reasons == std::vector<std::string>{"a"});
  world.feed.bytes(world.now, R"({"all":)");
  world.feed.restart();
  world.feed.bytes(world.now, line("b"));
  CHECK(world.reasons == std::vector<std::string>{"a", "b"});
  CHECK(world.refused.empty());
}

TEST_CASE("a line that is too long is refused, the next one is read") {
  World world;
  world.feed.bytes(world.now, line(std::string(kMaxTriggerBytes, 'x')) + line("b"));
  CHECK(world.reasons == std::vector<std::string>{"b"});
  CHECK(world.refused.size() == 1);
}

TEST_CASE("after a burst a source is read at a rate") {
  World world;
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "{\"name\": \"a\"}\n";
  world.feed.bytes(world.now, text);
  CHECK(world.reasons.size() == 1200);  // what was read is not thrown away
  CHECK(world.feed.pause(world.now) > Duration{900});
  CHECK(world.feed.pause(world.now + Duration{1100}) == Duration{0});
  // A source that was silent for long has its burst again, and no more.
  world.now += Duration{3600000};
  world.feed.bytes(world.now, text);
  CHECK(world.feed.pause(world.now) > Duration{900});
}

TEST_CASE("requests that look at all objects use up a burst a hundred times as fast") {
  World world;
  for (int i = 0; i < 10; ++i) world.feed.bytes(world.now, line("a"));
  CHECK(world.feed.pause(world.now) == Duration{0});
  world.feed.bytes(world.now, line("a"));
  CHECK(world.feed.pause(world.now) > Duration{400});
}

TEST_CASE("equal requests for many objects that come together are one") {
  World world;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += line("a");
    text += "{\"selector\": \"tier=web\", \"reason\": \"b\"}\n";
  }
  world.feed.bytes(world.now, text + "{\"selector\": \"tier=db\", \"reason\": \"c\"}\n");
  CHECK(world.reasons == std::vector<std::string>{"a", "b", "c"});
  CHECK(world.feed.pause(world.now) == Duration{0});  // three of them, and the reading of 601 lines
  world.feed.bytes(world.now, line("d"));
  CHECK(world.reasons.back() == "d");
}
