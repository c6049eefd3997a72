// Known values are hidden wherever they stand, in time that depends on the text alone, and so is
// what is left of one where a text was cut.
#include "hooks/secret_mask.hpp"

#include <ctime>

#include "base/json.hpp"
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
  CHECK(mask.mask("it is hunter22-and-mor") == "it is hunter22-and-mor");
}

TEST_CASE("a long text that repeats a value costs no more than another") {
  constexpr std::size_t kLong = 1'000'000;
  const std::string text(kLong, 'a');
  CHECK(knowing({"aaaaaa"}).mask(text) == "***");
  CHECK(cost_of(knowing({"aaaaaa"}), text) < 0.8);
  // Compared at each place, this would be looked through half a million times as far.
  CHECK(cost_of(knowing({std::string(kLong / 2, 'a') + "b"}), text) < 0.8);
  SecretMask lengths;
  for (std::size_t size = 6; size < 1200; ++size) lengths.add_value(std::string(size, 'a') + "b");
  CHECK(cost_of(lengths, text) < 3);
}

TEST_CASE("many values cost hardly more than one") {
  SecretMask mask;
  for (int i = 0; i < 15000; ++i) mask.add_value("a-secret-" + std::to_string(i * 7919));
  std::string text;
  while (text.size() < 500'000) text += "0f3a a-secre b5-c1e9 ";
  CHECK(cost_of(mask, text) < 0.8);
  CHECK(mask.mask("it is a-secret-7919.") == "it is ***.");
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
