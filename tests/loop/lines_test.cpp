// However bytes are cut, the lines are the same.
#include "loop/lines.hpp"

#include <vector>

#include "support/catch.hpp"

using kubewatch::loop::LineSplitter;
using Fed = LineSplitter::Fed;

namespace {

struct Seen {
  std::vector<std::string> lines;
  Fed fed = Fed::all;
};

Seen fed_in_pieces(LineSplitter& lines, const std::string& text, std::size_t piece) {
  Seen out;
  const auto each = [&out](std::string_view line, std::string_view) {
    out.lines.emplace_back(line);
    return true;
  };
  for (std::size_t at = 0; at < text.size() && out.fed == Fed::all; at += piece) {
    out.fed = lines.feed(std::string_view(text).substr(at, piece), each);
  }
  if (out.fed == Fed::all) (void)lines.finish(each);
  return out;
}

}  // namespace

TEST_CASE("lines are the same however their bytes arrive") {
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    LineSplitter lines(10);
    CHECK(fed_in_pieces(lines, "one\n\ntwo\nlast", piece).lines ==
          std::vector<std::string>{"one", "", "two", "last"});
  }
}

TEST_CASE("of a longer line the rest is dropped and the cut is told") {
  for (const std::size_t piece : {1U, 3U, 100U}) {
    LineSplitter lines(4);
    CHECK(fed_in_pieces(lines, "abcdefg\nabcd\n", piece).lines ==
          std::vector<std::string>{"abcd [cut: the line is longer than 4 bytes]", "abcd"});
  }
}

TEST_CASE("a longer line ends the reading where it is refused, whether it has ended or not") {
  for (const std::size_t piece : {1U, 3U, 100U}) {
    for (const char* text : {"abcd\nabcde\nabc\n", "abcd\nabcde"}) {
      LineSplitter lines(4, LineSplitter::Longer::refused);
      const Seen seen = fed_in_pieces(lines, text, piece);
      CHECK(seen.fed == Fed::too_long);
      CHECK(seen.lines == std::vector<std::string>{"abcd"});
      CHECK(lines.begun().empty());
    }
  }
}

TEST_CASE("what follows a line is shown with it, and dropped by whoever stops there") {
  LineSplitter lines(10);
  std::string rest;
  const auto first = [&rest](std::string_view, std::string_view behind) {
    rest = behind;
    return false;
  };
  CHECK(lines.feed("a\nbc", first) == Fed::stopped);
  CHECK(rest == "bc");
  CHECK(lines.begun().empty());
  CHECK(lines.feed("de", first) == Fed::all);
  CHECK(lines.begun() == "de");
  lines.clear();
  CHECK(lines.finish(first) == Fed::all);
}
