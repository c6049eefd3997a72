#include "base/quantity.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"

namespace kubewatch::base {

namespace {

std::string canonical(std::string_view text) {
  const auto quantity = Quantity::parse(text);
  if (!quantity) return "none";
  return quantity->canonical().value_or("as written");
}

}  // namespace

// What kube-apiserver 1.36 gives back for each, in the limits of a Pod or in a ResourceQuota.
TEST_CASE("a quantity is written as the API server writes it") {
  CHECK(canonical("1000m") == "1");
  CHECK(canonical("0.5") == "500m");
  CHECK(canonical("1.5") == "1500m");
  CHECK(canonical("100000") == "100k");
  CHECK(canonical("1500") == "1500");
  CHECK(canonical("+3") == "3");
  CHECK(canonical("-0.250") == "-250m");
  CHECK(canonical("0") == "0");
  CHECK(canonical("0Gi") == "0");
  CHECK(canonical("1024Mi") == "1Gi");
  CHECK(canonical("1.5Gi") == "1536Mi");
  CHECK(canonical("1025Mi") == "1025Mi");
  CHECK(canonical("0.5Ki") == "512");
  CHECK(canonical("0.3Gi") == "322122547200m");
  CHECK(canonical("1000Ki") == "1000Ki");
  CHECK(canonical("1e3") == "1e3");
  CHECK(canonical("12E4") == "120e3");
  CHECK(canonical("5e-2") == "50e-3");
  CHECK(canonical("0.1n") == "1n");
  CHECK(canonical("1000G") == "1T");
  CHECK(canonical("m") == "0");
  CHECK(canonical(".") == "0");
}

TEST_CASE("what is no quantity, and one too large to be written anew") {
  CHECK(canonical("") == "none");
  CHECK(canonical("1.2.3") == "none");
  CHECK(canonical("1 Gi") == "none");
  CHECK(canonical("1gi") == "none");
  CHECK(canonical("1e") == "none");
  CHECK(canonical(std::string(60, '9')) == "as written");
  CHECK(canonical("1e300") == "as written");
  CHECK(canonical("1" + std::string(45, '0') + "e-40") == "as written");
}

TEST_CASE("quantities compare and add by value, whatever their format") {
  const auto of = [](std::string_view text) { return *Quantity::parse(text); };
  CHECK(of("1Gi").compare(of("1024Mi")) == 0);
  CHECK(of("1G").compare(of("1Gi")) < 0);
  CHECK(of(std::string(60, '9')).compare(of("1Ei")) > 0);
  CHECK(of("1500m").plus(of("0.5")).canonical() == "2");
  CHECK(of("1Gi").minus(of("512Mi")).canonical() == "512Mi");
  CHECK(of("2k").as_int64() == std::int64_t{2000});
  CHECK_FALSE(of("1m").as_int64());
}

}  // namespace kubewatch::base
