// A message is masked, and only then cut.
#include "hooks/shown_message.hpp"

#include "core/status.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

TEST_CASE("a message is shown whole where it is no longer than messages are") {
  SecretMask mask;
  mask.add_value("hunter22");
  CHECK(shown_message(mask, "it is hunter22") == "it is ***");
  const std::string fits(4096, 'x');
  CHECK(shown_message(mask, fits) == fits);
}

TEST_CASE("a longer message is cut and says so") {
  const std::string shown = shown_message(SecretMask(), std::string(4095, 'x') + "\u00e9 and more");
  CHECK(shown == std::string(4095, 'x') + "... (cut: it has 4106 bytes)");
}

TEST_CASE("a value at the place of the cut is masked first") {
  SecretMask mask;
  mask.add_value("hunter22");
  const std::string shown = shown_message(mask, std::string(4090, 'x') + "hunter22 and more");
  CHECK(shown.starts_with(std::string(4090, 'x') + "***"));
  CHECK(shown.find("hunter") == std::string::npos);
}

TEST_CASE("a value that was cut where an answer was quoted is masked") {
  SecretMask mask;
  mask.add_value("hunter22-and-more");
  const std::string page = std::string(190, 'x') + "hunter22-and-more and the rest of the line";
  const std::string said = core::error_from_response(502, page).render();
  REQUIRE(said.find("hunter22-a...") != std::string::npos);
  CHECK(shown_message(mask, said + "; another").ends_with("x***...; another"));
}

}  // namespace kubewatch::hooks
