#include "apiserver/selector_words.hpp"

#include <utility>
#include <vector>

#include "core/selector.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("label selectors are refused in the server's words") {
  const std::string start = "unable to parse requirement: ";
  const std::string operators = ", expected: in, notin, =, ==, !=, gt, lt";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a===b", start + "found '=', expected: identifier"},
      {"a=!b", start + "found '!', expected: identifier"},
      {"a=(b)", start + "found '(', expected: identifier"},
      {"a in", start + "found '' expected: '('"},
      {"a notin b", start + "found 'b' expected: '('"},
      {"a in (", start + "found '', expected: ',', ')' or identifier"},
      {"a in ((b)", start + "found '(', expected: ',', ')' or identifier"},
      {"a in (b", start + "found '', expected: ',' or ')'"},
      {"a in (b c)", start + "found 'c', expected: ',' or ')'"},
      {"a in (b,", start + "found '', expected: ',', or identifier"},
      {"!", start + "found '', expected: identifier"},
      {"!!a", start + "found '!', expected: identifier"},
      {"a=b,!", start + "found '', expected: identifier"},
      {"a!", start + "found '!'" + operators},
      {"a b", start + "found 'b'" + operators},
      {"a)", start + "found ')'" + operators},
      {"a,,b", "found ',', expected: identifier after ','"},
      {"a,", "found '', expected: identifier after ','"},
      {"a=b=c", "found '=', expected: ',' or 'end of string'"},
      {"a=b c", "found 'c', expected: ',' or 'end of string'"},
      {"a in (b))", "found ')', expected: ',' or 'end of string'"},
      {",", "found ',', expected: !, identifier, or 'end of string'"},
      {"==a", "found '==', expected: !, identifier, or 'end of string'"},
      {"a>x", start +
                  "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be "
                  "an integer"},
      {"/a", start + "<nil>: Invalid value: \"/a\": prefix part must be non-empty"},
      {"a=" + std::string(64, 'x'), start + "values[0][a]: Invalid value: \"" +
                                        std::string(64, 'x') + "\": must be no more than 63 bytes"},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE(text);
    CHECK(why_no_label_selector(text).value_or("") == words);
    CHECK_FALSE(core::LabelSelector::parse(text).ok());
  }
}

TEST_CASE("nothing is said of label selectors that can be read") {
  for (const char* text :
       {"", "a", "!a", "a=b", "a==b", "a!=b", "a=", "a!=", " a = b , c ", "a in ()",
        "a in (b,c),!d", "a notin (b,)", "a>1", "a<2", "in in (in)", "x/y=z"}) {
    CAPTURE(text);
    CHECK_FALSE(why_no_label_selector(text));
    CHECK(core::LabelSelector::parse(text).ok());
  }
}

TEST_CASE("field selectors are refused in the server's words") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a", "invalid selector: 'a'; can't understand 'a'"},
      {"a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"},
      {" ", "invalid selector: ' '; can't understand ' '"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
      {"a=\\", "invalid field selector: invalid escape sequence: \\"},
      {"a=\\x", "invalid field selector: invalid escape sequence: \\x"},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE(text);
    CHECK(why_no_field_selector(text).value_or("") == words);
  }
  for (const char* text : {"", "a=b", "a==b,c!=d", "a=\\,\\=\\\\", "a=b,"}) {
    CAPTURE(text);
    CHECK_FALSE(why_no_field_selector(text));
  }
  CHECK(selected_fields("a.b=c,=d,e!=f") == std::vector<std::string>{"a.b", "", "e"});
}

}  // namespace kubewatch::apiserver
