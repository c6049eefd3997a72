// When the mask of a binding's Secrets is made again.
#include "compat/kept_mask.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("a mask of Secrets is made again only after a change, and forgets what is gone") {
  compat::KeptMask kept;
  int made = 0;
  std::string value = "first-password";
  const auto masked = [&](bool keep, const std::string& text) {
    return kept
        .get(keep,
             [&](hooks::SecretMask& mask) {
               ++made;
               mask.add_value(value);
             })
        .mask(text);
  };
  CHECK(masked(false, "first-password") == "***");
  CHECK(masked(true, "first-password") == "***");
  CHECK(made == 2);  // nothing would have told of a change
  CHECK(masked(true, "first-password") == "***");
  CHECK(made == 2);
  value = "second-password";
  kept.changed();
  CHECK(masked(true, "first-password second-password") == "first-password ***");
  CHECK(made == 3);
}
