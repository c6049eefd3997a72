// A followed file that is appended to, and one that is overwritten.
#include "hooks/trigger_place.hpp"

#include "support/catch.hpp"

using namespace kubewatch::hooks;

namespace {

// A file as a text, with the time of its last change.
struct Followed {
  TriggerPlace place;
  std::string text;
  std::int64_t changed = 1;

  // What a look reads, after the text has become this.
  std::string look(const std::string& next, bool written = true) {
    text = next;
    if (written) ++changed;
    const FileMoment now{1, 7, static_cast<off_t>(text.size()), changed};
    const auto at = std::min(static_cast<std::size_t>(place.offset()), text.size());
    const std::size_t kept = std::min(place.kept(), at);
    if (place.is_another(now, std::string_view(text).substr(at - kept, kept))) place.restart();
    place.looked(now);
    std::string out = text.substr(static_cast<std::size_t>(place.offset()));
    place.read(out);
    return out;
  }
};

}  // namespace

TEST_CASE("of a trigger file that is appended to only the new part is read") {
  Followed file;
  CHECK(file.look("one\n") == "one\n");
  CHECK(file.look("one\n", false).empty());
  CHECK(file.look("one\ntwo\n") == "two\n");
  const std::string many(500, 'x');
  CHECK(file.look("one\ntwo\n" + many) == many);
  CHECK(file.look("one\ntwo\n" + many + "\n") == "\n");
}

TEST_CASE("a trigger file that is overwritten in place is read from its beginning") {
  Followed file;
  CHECK(file.look("one\n") == "one\n");
  CHECK(file.look("one\n") == "one\n");      // the same text again
  CHECK(file.look("two\n") == "two\n");      // as long
  CHECK(file.look("seven\n") == "seven\n");  // longer
  CHECK(file.look("a\n") == "a\n");          // shorter
  CHECK(file.look("").empty());
  CHECK(file.look("b\n") == "b\n");
}

TEST_CASE("a trigger file that was there before is read from its end") {
  TriggerPlace place;
  place.skip_to(4, "one\n");
  place.looked({1, 7, 4, 1});
  CHECK(place.kept() == 4);
  CHECK_FALSE(place.is_another({1, 7, 4, 1}, "one\n"));
  CHECK_FALSE(place.is_another({1, 7, 8, 2}, "one\n"));
  CHECK(place.is_another({1, 8, 8, 2}, "one\n"));
  CHECK(place.is_another({2, 7, 8, 2}, "one\n"));
  CHECK(place.is_another({1, 7, 8, 2}, "two\n"));
  CHECK(place.is_another({1, 7, 4, 2}, "one\n"));
}
