#include "hooks/state_log.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

StateKey key(const std::string& name) {
  return {"website", {"shop", name}};
}

}  // namespace

TEST_CASE("what was handled is read back, the last line of an object counts") {
  const HandledObject first{"uid-1", "aa", false, 0, 0, ""};
  const HandledObject second{"uid-1", "bb", true, 1700000000000, 0, "permanent: no \"plan\" é"};
  std::string text = state_header() + state_line(key("a"), first) + state_line(key("b"), first) +
                     state_line(key("c"), first) + state_line(key("a"), second) +
                     state_line(key("b"), std::nullopt);
  const auto loaded = load_state(text);
  REQUIRE(loaded.ok());
  CHECK(loaded->damage == "");
  CHECK(loaded->valid == text.size());
  CHECK(loaded->lines == 5);
  CHECK(loaded->objects == HandledObjects{{key("a"), second}, {key("c"), first}});
  CHECK(load_state(state_text(loaded->objects))->objects == loaded->objects);
}

TEST_CASE("when an object last ran is kept, and not needed: older files do not say it") {
  HandledObject handled{"uid-1", "aa", false, 0, 0, ""};
  const std::string old = state_line(key("a"), handled);
  CHECK(old.find("ran") == std::string::npos);
  CHECK(load_state(state_header() + old)->objects.at(key("a")).ran == 0);
  handled.ran = 1700000000123;
  const auto loaded = load_state(state_header() + state_line(key("a"), handled));
  REQUIRE(loaded.ok());
  CHECK(loaded->objects.at(key("a")) == handled);
}

TEST_CASE("of which kind an object is is kept, and not needed: older files do not say it") {
  HandledObject handled = to_be_handled("Website.demo.dev", "uid-1", 5);
  const auto loaded = load_state(state_header() + state_line(key("a"), handled));
  REQUIRE(loaded.ok());
  CHECK(loaded->objects.at(key("a")) == handled);
  handled.kind.clear();
  const std::string old = state_line(key("a"), handled);
  CHECK(old.find("\"k\"") == std::string::npos);
  const auto known = load_state(state_header() + old);
  REQUIRE(known.ok());
  CHECK(known->objects.at(key("a")) == handled);
}

TEST_CASE("a state file cut off at any byte keeps the records before, and says what it drops") {
  std::string text = state_header();
  std::vector<std::size_t> ends = {text.size()};
  for (const char* name : {"a", "b", "c"}) {
    text += state_line(key(name), HandledObject{"uid", "hash", false, 0, 0, ""});
    ends.push_back(text.size());
  }
  for (std::size_t size = 0; size <= text.size(); ++size) {
    INFO(size);
    const auto loaded = load_state(text.substr(0, size));
    if (size < ends[0]) {
      CHECK_FALSE(loaded.ok());
      continue;
    }
    REQUIRE(loaded.ok());
    std::size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= size) ++whole;
    CHECK(loaded->objects.size() == whole);
    CHECK(loaded->valid == ends[whole]);
    CHECK(loaded->damage.empty() == (size == ends[whole]));
  }
}

TEST_CASE("a state file with any byte changed never gives a record that was not written") {
  const HandledObject handled{"uid", "hash", true, 5, 0, ""};
  const std::string text =
      state_header() + state_line(key("a"), handled) + state_line(key("b"), handled);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char other : {'\0', '\n', '{', '0', 'z'}) {
      if (text[at] == other) continue;
      std::string damaged = text;
      damaged[at] = other;
      INFO(at);
      const auto loaded = load_state(damaged);
      if (!loaded.ok()) continue;
      CHECK_FALSE(loaded->damage.empty());
      for (const auto& [known, value] : loaded->objects) {
        CHECK((known == key("a") || known == key("b")));
        CHECK(value == handled);
      }
    }
  }
}

}  // namespace kubewatch::hooks
