#include "runtime/text_patch.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

std::string applied(const std::string& base, const std::string& patch, std::size_t size) {
  std::string out;
  return apply_patch(base, patch, size, out) ? out : "not applied";
}

// Much like JSON: words between punctuation.
std::string random_text(base::Random& random, std::size_t words) {
  static const std::string kMarks = "\",:{}[]";
  std::string out;
  for (std::size_t i = 0; i < words; ++i) {
    out += random.suffix(random.below(12));
    out += kMarks[random.below(kMarks.size())];
  }
  return out;
}

}  // namespace

TEST_CASE("a patch makes one text of another, whatever they are") {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"", "all new"},
      {"all gone", ""},
      {"the same", "the same"},
      {R"({"a":"1","b":"2"})", R"({"a":"3","b":"2"})"},
      {R"({"a":"1","b":"2","c":"a long and equal end"})",
       R"({"b":"2","c":"a long and equal end"})"},
      {R"({"b":"2","c":"a long and equal end"})",
       R"({"a":"1","b":"2","c":"a long and equal end"})"},
      {std::string(500, 'x'), std::string(500, 'y')}};
  for (const auto& [base, text] : cases) {
    CAPTURE(base, text);
    CHECK(applied(base, make_patch(base, text), text.size()) == text);
  }
}

TEST_CASE("texts that differ in a few values have a small patch") {
  const std::string middle(2000, 'm');
  const std::string base = R"({"name":"web-1","ip":"10.0.0.1","t":")" + middle + R"(","n":1})";
  const std::string text = R"({"name":"web-22","ip":"10.0.7.9","t":")" + middle + R"(","n":5})";
  const std::string patch = make_patch(base, text);
  CHECK(patch.size() < 24);
  CHECK(applied(base, patch, text.size()) == text);
}

TEST_CASE("a whole value that one of two texts lacks is all that their patch holds") {
  const auto pod = [](const std::string& name, const std::string& more) {
    std::string out = R"({"name":")" + name + R"(")" + more;
    for (int i = 0; i < 40; ++i) out += fmt::format(R"(,"field{}":{{"value":"{}"}})", i, i * i);
    return out + R"(,"last":")" + name + "\"}";
  };
  std::string taints;
  for (int i = 0; i < 6; ++i) {
    taints += fmt::format(R"(,{{"key":"k{}","operator":"Exists","effect":"NoExecute"}})", i);
  }
  taints = R"(,"tolerations":[)" + taints.substr(1) + "]";
  const std::string bare = pod("a", ""), more = pod("b", taints);
  const std::string adding = make_patch(bare, more), leaving = make_patch(more, bare);
  CHECK(adding.size() < taints.size() + 24);
  CHECK(leaving.size() < 24);
  CHECK(applied(bare, adding, more.size()) == more);
  CHECK(applied(more, leaving, bare.size()) == bare);
}

TEST_CASE("a place that is far away is found in a text of many values as well") {
  std::string base = R"({"first":0)";
  for (int i = 0; i < 12'000; ++i) base += fmt::format(R"(,"value-{}")", i % 3000);
  std::string more;
  for (int i = 0; i < 40; ++i) more += fmt::format(R"(,"new-{}")", i);
  std::string text = base;
  text.insert(text.rfind(R"(,"value-600")"), more);
  const std::string patch = make_patch(base, text);
  CHECK(patch.size() < more.size() + 24);
  CHECK(applied(base, patch, text.size()) == text);
}

TEST_CASE("random texts, alike and not, come out as they went in") {
  base::Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const std::string base = random_text(random, random.below(60));
    std::string text = random.below(4) == 0 ? random_text(random, random.below(60)) : base;
    for (auto edits = random.below(8); edits > 0 && !text.empty(); --edits) {
      const auto at = random.below(text.size());
      const std::string piece = random_text(random, random.below(3));
      text.replace(at, random.below(20), piece);
    }
    REQUIRE(applied(base, make_patch(base, text), text.size()) == text);
  }
}

TEST_CASE("a patch that was changed or cut is refused or makes a text of the asked size") {
  base::Random random(9);
  const std::string base = random_text(random, 60);
  std::string text = base;
  text.replace(20, 7, "something else").replace(90, 2, "and here");
  const std::string patch = make_patch(base, text);
  for (std::size_t size = 0; size < patch.size(); ++size) {
    const std::string out = applied(base, patch.substr(0, size), text.size());
    CHECK((out == "not applied" || out.size() == text.size()));
  }
  for (int round = 0; round < 5000; ++round) {
    std::string broken = patch;
    broken[random.below(broken.size())] = static_cast<char>(random.below(256));
    const std::string out = applied(base, broken, text.size());
    CHECK((out == "not applied" || out.size() == text.size()));
  }
  CHECK(applied(base, patch, text.size() + 1) == "not applied");
  CHECK(applied(base, std::string(5, '\xff'), 3) == "not applied");
}

TEST_CASE("texts that share nothing cost no more than looking at them once") {
  // Every comma could be where they meet again: without a bound this would take minutes.
  std::string base, text;
  for (int i = 0; i < 400000; ++i) {
    base += "a,";
    text += "b,";
  }
  CHECK(applied(base, make_patch(base, text), text.size()) == text);
}
