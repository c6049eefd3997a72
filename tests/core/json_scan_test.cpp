// Where values end, against a plain reading of every byte.
#include "core/json_scan.hpp"

#include "base/random.hpp"
#include "core/json_blocks.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

namespace {

// Mostly of what matters to a scanner.
std::string random_text(base::Random& random, std::size_t size) {
  static constexpr std::string_view kBytes = "\"\"\"\\\\{}[][]{} \n\tx,:7";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out.push_back(random.below(8) == 0 ? static_cast<char>(random.below(256))
                                       : kBytes[random.below(kBytes.size())]);
  }
  return out;
}

struct Plain {
  std::size_t length = JsonValueEnd::kGoesOn;
  std::size_t deepest = 0;
};

Plain plain_end(std::string_view text) {
  Plain out;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
        if (depth == 0) return {i + 1, 0};
      }
    } else if (c == '\\') {
      // No JSON has one here; it escapes what it would escape in a string.
      if (i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      out.deepest = std::max(out.deepest, ++depth);
    } else if ((c == '}' || c == ']') && --depth == 0) {
      out.length = i + 1;
      return out;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("values are walked over alike by all instruction sets, piece by piece") {
  base::Random random(3);
  for (int round = 0; round < 4000; ++round) {
    const std::string text = "{" + random_text(random, random.below(400));
    const std::size_t chunk = 1 + random.below(200);
    JsonBrackets best, common, plain;
    for (std::size_t at = 0; at < text.size(); at += chunk) {
      const auto piece = std::string_view(text).substr(at, chunk);
      const std::size_t length = plain.feed_portably(piece);
      CAPTURE(text, chunk, at);
      REQUIRE(best.feed(piece) == length);
      REQUIRE(common.feed_commonly(piece) == length);
      for (const JsonBrackets& other : {best, common}) {
        REQUIRE(other.depth == plain.depth);
        REQUIRE(other.deepest == plain.deepest);
        REQUIRE(other.spaced == plain.spaced);
        REQUIRE(other.escaped == plain.escaped);
        REQUIRE(other.in_string == plain.in_string);
      }
      if (length != JsonBrackets::kGoesOn) break;
    }
  }
}

TEST_CASE("punctuation is found where a plain search finds it") {
  base::Random random(5);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, random.below(90));
    for (std::size_t from = 0; from <= text.size(); from += 1 + random.below(7)) {
      CAPTURE(text, from);
      const std::size_t found = text.find_first_of("\",:[]{}", from);
      REQUIRE(find_json_punctuation(text, from) == std::min(found, text.size()));
    }
  }
}

TEST_CASE("a value ends where a plain reading ends it, for every chunking") {
  base::Random random(4);
  static constexpr char kFirst[] = {'"', '{', '['};
  for (int round = 0; round < 4000; ++round) {
    const std::string text =
        kFirst[random.below(3)] + random_text(random, 1 + random.below(round % 2 == 0 ? 300 : 20));
    const Plain wanted = plain_end(text);
    for (const std::size_t chunk :
         {std::size_t{1}, 1 + random.below(9), 1 + random.below(130), text.size()}) {
      JsonValueEnd end;
      std::size_t length = JsonValueEnd::kGoesOn;
      for (std::size_t at = 0; at < text.size() && length == JsonValueEnd::kGoesOn; at += chunk) {
        length = end.feed(std::string_view(text).substr(at, chunk));
        if (length != JsonValueEnd::kGoesOn) length += at;
      }
      CAPTURE(text, chunk);
      REQUIRE(length == wanted.length);
      if (text.front() != '"') REQUIRE(end.deepest() == wanted.deepest);
    }
  }
}

TEST_CASE("scalars end before what cannot belong to them") {
  const auto length = [](std::string_view text) { return JsonValueEnd().feed(text); };
  CHECK(length("12.5e3,") == 6);
  CHECK(length("null}") == 4);
  CHECK(length("true ") == 4);
  CHECK(length("12") == JsonValueEnd::kGoesOn);
  CHECK(length(",") == 0);
  JsonValueEnd pieces;
  CHECK(pieces.feed("12") == JsonValueEnd::kGoesOn);
  CHECK(pieces.feed("]") == 0);
}
