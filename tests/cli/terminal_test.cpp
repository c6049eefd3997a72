#include "cli/terminal.hpp"

#include <map>

#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("colour is for terminals that can, unless the user says otherwise") {
  std::map<std::string, const char*> environment;
  const auto get = [&](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second;
  };
  CHECK(wants_color("auto", true, get));
  CHECK_FALSE(wants_color("auto", false, get));
  CHECK(wants_color("always", false, get));
  CHECK_FALSE(wants_color("never", true, get));
  environment["TERM"] = "dumb";
  CHECK_FALSE(wants_color("auto", true, get));
  environment["TERM"] = "xterm";
  CHECK(wants_color("auto", true, get));
  environment["NO_COLOR"] = "";  // empty: as if it were not set
  CHECK(wants_color("auto", true, get));
  environment["NO_COLOR"] = "1";
  CHECK_FALSE(wants_color("auto", true, get));
  CHECK(wants_color("always", true, get));
}

TEST_CASE("text is measured, cut and filled up in columns of a terminal") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("Größe") == 5);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("🚀") == 2);
  CHECK(cut_to_width("abcdef", 6) == "abcdef");
  CHECK(cut_to_width("abcdef", 4) == "abc…");
  CHECK(cut_to_width("日本語", 4) == "日…");
  CHECK(cut_to_width("abc", 0).empty());
  CHECK(padded("日", 4) == "日  ");
  CHECK(padded("abc", 2) == "abc");
}

TEST_CASE("styles are written only where there is colour") {
  Terminal plain;
  Terminal colored;
  colored.color = true;
  CHECK(styled("x", Style::red, plain) == "x");
  CHECK(styled("x", Style::red, colored) == "\x1b[31mx\x1b[0m");
  CHECK(styled("", Style::red, colored).empty());
}

}  // namespace kubewatch::cli
