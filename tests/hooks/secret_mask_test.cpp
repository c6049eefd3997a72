// Known values are hidden wherever they stand, in time that depends on the text alone, and so is
// what is left of one where a text was cut.
#include "hooks/secret_mask.hpp"

#include <algorithm>
#include <ctime>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {
namespace {

SecretMask knowing(const std::vector<std::string>& values) {
  SecretMask out;
  for (const std::string& value : values) out.add_value(value);
  return out;
}

// Seconds of CPU: a machine that is busy does not count.
double cost_of(const SecretMask& mask, const std::string& text) {
  const std::clock_t before = std::clock();
  CHECK(mask.mask(text).size() <= text.size());
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("values are hidden wherever they stand") {
  const SecretMask mask = knowing({"hunter22", "hunter22-and-more", "swordfish", "short"});
  CHECK(mask.mask("") == "");
  CHECK(mask.mask("hunter") == "hunter");
  CHECK(mask.mask("hunter22") == "***");
  CHECK(mask.mask("a hunter22, hunter22-and-more; swordfishhunter22 short") ==
        "a ***, ***; ****** short");
  CHECK(mask.mask("hunter22-and-mor") == "***-and-mor");
  CHECK(SecretMask().mask("hunter22") == "hunter22");
  CHECK(knowing({"p\xc3\xa4sswort"}).mask("p\xc3\xa4sswort p\xc3\xa4sswor") ==
        "*** p\xc3\xa4sswor");
}

TEST_CASE("what a Secret holds in lines of base64 is hidden as the server reads it") {
  SecretMask mask;
  mask.add_object(
      {{"apiVersion", "v1"}, {"kind", "Secret"}, {"data", {{"key", "c2VjcmV0\nLXZhbHVl\n"}}}});
  CHECK(mask.mask("it is secret-value") == "it is ***");
}

TEST_CASE("a value is hidden as well where it is quoted") {
  const SecretMask mask = knowing({"Tr0ub&d\u00f6r<3\"x\\y\n", "a!'lo ng"});
  for (const char* form : {
           R"(Tr0ub&dör<3"x\y)",
           R"(Tr0ub&dör<3\"x\\y)",                  // JSON, and Go's %q
           R"(Tr0ub\u0026dör\u003c3\"x\\y)",        // Go's JSON
           R"(Tr0ub&d\u00f6r<3\"x\\y)",             // ASCII
           R"(Tr0ub&dör<3\\\"x\\\\y)",              // a message in JSON
           R"(Tr0ub\\u0026dör\\u003c3\\\"x\\\\y)",  // JSON in JSON
           "Tr0ub%26d%C3%B6r%3C3%22x%5Cy", "a%21%27lo%20ng", "a%21%27lo+ng",
           "a!'lo%20ng",  // JavaScript
       }) {
    INFO(form);
    CHECK(mask.mask(std::string("it is ") + form + ".") == "it is ***.");
  }
  CHECK(mask.mask_message("Invalid value: \"Tr0ub\\u0026d...") == "Invalid value: \"***...");
  // Control characters: each in its own way.
  const SecretMask control = knowing({"one\x01two\vthree\x7f.", "line one\nline two"});
  CHECK(control.mask(R"(one\x01two\vthree\x7f.)") == "***");
  CHECK(control.mask("one\\u0001two\\u000bthree\x7f.") == "***");
  CHECK(control.mask(R"(line one\nline two)") == "***");
  // As a literal of either is written, and in a URL, all of it and each of its lines.
  CHECK(control.mask("line%20one%0Aline%20two, line+one") == "***, ***");
  // Too short, and no longer because it is quoted.
  CHECK(knowing({"a\"\"\"b"}).mask(R"(a\"\"\"b)") == R"(a\"\"\"b)");
  CHECK(knowing({"a&&&b"}).mask("a%26%26%26b") == "a%26%26%26b");
  // No text: as it is.
  CHECK(knowing({"\xff\xfe\"binary"}).mask("\xff\xfe\"binary") == "***");
}

TEST_CASE("a value is hidden as well in the traces of shells and in strings of programs") {
  struct Shown {
    const char* value;
    std::vector<const char*> forms;
  };
  // As bash 5.2, dash 0.5, busybox 1.35, zsh 5.9, mksh, jq 1.6, Python 3.11, Perl 5.36, Node 18 and
  // PyYAML write them.
  const Shown all[] = {
      {"correct'horse-battery",
       {R"(correct'\''horse-battery)", R"(correct'"'"'horse-battery)", R"(correct\'horse-battery)",
        R"(correct''horse-battery)", R"(\c\o\r\r\e\c\t\'\h\o\r\s\e\-\b\a\t\t\e\r\y)",
        R"(correct'\\''horse-battery)",  // a trace in a line of JSON
        R"(correct\u0027horse-battery)", R"(correct\047horse-battery)",
        R"(correct%5C%27horse-battery)"}},
      {R"(a "b" $x `y` \z!(c))",
       {R"(a\ \"b\"\ \$x\ \`y\`\ \\z\!\(c\))", R"(a \"b\" \$x \`y\` \\z!(c))",
        R"(a ""b"" $x `y` \z!(c))"}},
      {"one\x01two\tit's\x1b\xc3\xa4\x7f.",
       {R"(one\001two\tit\'s\E\303\244\177.)", R"(one\x01two\tit's\x1b\xc3\xa4\x7f.)",
        "one\\C-Atwo\\tit\\'s\\C-[\xc3\xa4\\C-?."}},
      {R"(both "and" 'so' on)", {R"(both "and" \'so\' on)", R"(both \"and\" 'so' on)"}},
      {"it's \xf0\x9f\x98\x80", {R"(it\u0027s \ud83d\ude00)", R"(it\'s \U0001f600)"}},
      {"''quoted''", {R"(\'\'quoted\'\')", R"("''"'quoted'"''")"}},
      {"90%25+more", {"90%2525%2Bmore", "90%252525%252Bmore", R"(90\%25\+more)"}},
      {R"(a\b\c\d)", {R"(a\\b\\c\\d)", R"(a\\\\b\\\\c\\\\d)"}},  // hardly more than marks
      {R"('a"'b")", {R"('a\"'b\")", R"(\'a\"\'b\")", R"('\''a"'\''b")"}},
      {"hunter22", {R"(\h\u\n\t\e\r\2\2)"}},
  };
  for (const auto& [value, forms] : all) {
    const SecretMask mask = knowing({value});
    for (const char* form : forms) {
      INFO(form);
      const std::string masked = mask.mask(std::string("+ false <") + form + "> 2");
      // Quotation marks at its ends may stay.
      const std::size_t begin = masked.find("***");
      REQUIRE(begin != std::string::npos);
      const auto is_mark = [](char c) {
        return std::string_view("'\"\\").find(c) != std::string_view::npos;
      };
      std::string rest = masked;
      std::erase_if(rest, is_mark);
      CHECK(rest == "+ false <***> 2");
    }
  }
  // No more than that.
  CHECK(knowing({"correct'horse"}).mask("correct horse, correcthorse") ==
        "correct horse, correcthorse");
  CHECK(knowing({"hunter22"}).mask(R"(C:\hunter\22)") != "***");
  CHECK(knowing({"it's so"}).mask_cut(R"(is 'it'\'')") == R"(is '***)");
  CHECK(knowing({"sword\tfish"}).mask_cut(R"(is sword\01)") == "is ***");
  CHECK(knowing({"sword\tfish"}).mask_message(R"(is $'sword\tf...)") == "is $'***...");
}

TEST_CASE("texts that are full of escapes, and end within one, cost no more than others") {
  SecretMask mask;
  for (int i = 0; i < 15000; ++i) mask.add_value("it's \"secret\" " + std::to_string(i * 7919));
  CHECK(mask.mask(R"('it'\''s "secret" 7919')") == "'***'");
  const double usual = std::max(cost_of(mask, std::string(1'000'000, 'a')), 0.001);
  for (const char* part :
       {"\\", "%25", "\\\"it's ", "\\ud83d", "%5C", "\\x", "'\"", "{\"a\":\"b\"}\n"}) {
    INFO(part);
    std::string text;
    while (text.size() < 1'000'000) text += part;
    CHECK(cost_of(mask, text) < 500 * usual);
    for (std::size_t size = 0; size < 40; ++size) {
      mask.mask_cut(std::string_view(text).substr(0, size));
    }
  }
}

TEST_CASE("values that overlap are hidden as one") {
  CHECK(knowing({"abcdefgh", "efghijkl"}).mask("_abcdefghijkl_") == "_***_");
  CHECK(knowing({"aaaaaa"}).mask("aaaaaaaaaaa!") == "***!");
  CHECK(knowing({"abcdefghij", "cdefgh"}).mask("abcdefghij") == "***");
}

TEST_CASE("what is learned from another mask is hidden as well") {
  SecretMask mask = knowing({"hunter22"});
  mask.merge(knowing({"swordfish"}));
  CHECK(mask.mask("hunter22 swordfish") == "*** ***");
}

TEST_CASE("where a text was cut, the beginning of a value is hidden") {
  const SecretMask mask = knowing({"hunter22-and-more", "swordfish", std::string(200, 'x')});
  CHECK(mask.mask_cut("it is hunter22-and-mor") == "it is ***");
  CHECK(mask.mask_cut("it is hunter2") == "it is ***");
  CHECK(mask.mask_cut("it is hun") == "it is ***");
  CHECK(mask.mask_cut("it is hunter22-and-lend") == "it is hunter22-and-lend");
  CHECK(mask.mask_cut("it is swordfish") == "it is ***");
  CHECK(mask.mask_cut("it is " + std::string(150, 'x')) == "it is ***");
  CHECK(mask.mask_cut("nothing") == "nothing");
  CHECK(knowing({"abcdef\xf0\x9f\x98\x80"}).mask_cut(R"(is abcdef\ud83d\ude)") == "is ***");
  CHECK(mask.mask("it is hunter22-and-mor") == "it is hunter22-and-mor");
}

TEST_CASE("a long text that repeats a value costs no more than another") {
  constexpr std::size_t kLong = 1'000'000;
  const std::string text(kLong, 'a');
  CHECK(knowing({"aaaaaa"}).mask(text) == "***");
  const double usual = std::max(cost_of(knowing({"swordfish"}), text), 0.001);
  CHECK(cost_of(knowing({"aaaaaa"}), text) < 100 * usual);
  // Compared at each place, this would be looked through half a million times as far.
  CHECK(cost_of(knowing({std::string(kLong / 2, 'a') + "b"}), text) < 100 * usual);
  SecretMask lengths;
  for (std::size_t size = 6; size < 1200; ++size) lengths.add_value(std::string(size, 'a') + "b");
  CHECK(cost_of(lengths, text) < 1000 * usual);
}

TEST_CASE("many values cost hardly more than one") {
  SecretMask mask;
  for (int i = 0; i < 15000; ++i) mask.add_value("a-secret-" + std::to_string(i * 7919));
  std::string text;
  while (text.size() < 500'000) text += "0f3a a-secre b5-c1e9 ";
  CHECK(cost_of(mask, text) < 0.8);
  CHECK(mask.mask("it is a-secret-7919.") == "it is ***.");
}

TEST_CASE("how full it is depends on the values, not on how many ways they are written") {
  Json data = Json::object();
  for (int i = 0; i < 4000; ++i) {
    data["key" + std::to_string(i)] =
        base::base64_encode("<\"pass word\" & " + std::to_string(i) + ">");
  }
  SecretMask mask;
  mask.add_object({{"apiVersion", "v1"}, {"kind", "Secret"}, {"data", data}});
  CHECK_FALSE(mask.nearly_full());
  // Known already.
  mask.merge(SecretMask(mask));
  CHECK_FALSE(mask.nearly_full());
  CHECK(mask.mask(R"(it is \u003c\"pass word\" \u0026 3999\u003e.)") == "it is ***.");
  SecretMask many;
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i) many.add_value("a-secret-" + std::to_string(i));
  };
  add(0, 10000);
  CHECK_FALSE(many.nearly_full());
  add(10000, 20000);
  CHECK(many.nearly_full());
  many.add_value("a-secret-1");
  CHECK_FALSE(many.overflowed());
  many.add_value("one more");
  CHECK(many.overflowed());
}

TEST_CASE("a value in JSON is hidden though its beginning and what is before it look like a code") {
  CHECK(knowing({"ab\"cdefgh"}).mask(R"({"is":"100%ab\"cdefgh"})") == R"({"is":"100%***"})");
}

TEST_CASE("a very long value is hidden as it is and where it is quoted") {
  const std::string line(70'000, 'x');
  const SecretMask mask = knowing({"\"first\"\n" + line});
  CHECK(mask.mask("it is \"first\"\n" + line + ".") == "it is ***.");
  CHECK(mask.mask("it is \\\"first\\\"\\n" + line + ".") == "it is ***.");
}

TEST_CASE("where too many values look alike, the rest of the text is hidden") {
  SecretMask mask;
  for (std::size_t size = 6; size < 1200; ++size) mask.add_value(std::string(size, 'a') + "b");
  const std::string text = "seen " + std::string(200'000, 'a') + " hidden";
  const std::string masked = mask.mask(text);
  CHECK(masked.starts_with("seen "));
  CHECK(masked.ends_with("a***"));
}

TEST_CASE("where a message cuts what it quotes, the beginning of a value is hidden") {
  const SecretMask mask = knowing({"hunter22-and-more", "swordfish"});
  CHECK(mask.mask_message("string (\"hunter22-a...) and (\"sword...) no") ==
        "string (\"***...) and (\"***...) no");
  CHECK(mask.mask_message("hunter22-and-more... or hunter22, waiting...") ==
        "***... or hunter22, waiting...");
  CHECK(mask.mask_message("waits for the s...") == "waits for the s...");
  CHECK(mask.mask_message("...") == "...");
  CHECK(SecretMask().mask_message("hun...") == "hun...");
}

}  // namespace kubewatch::hooks
