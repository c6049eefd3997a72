// Kubernetes' quantities ("500m", "1Gi", "1e3"): parsed, compared, and written as the API server
// writes them. Rules: k8s.io/apimachinery/pkg/api/resource. Not a number of a JSON document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::base {

__extension__ using Int128 = __int128;

// What the API server says of a text that is none.
inline constexpr const char* kNoQuantity =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

// An exact decimal: digits * 10^exponent. Kubernetes rounds up to nano and caps at about 2^63.
class Quantity {
 public:
  // How it was written, and is to be written again where that loses nothing.
  enum class Format { decimal, binary, exponent };

  // Absent when it is none.
  static std::optional<Quantity> parse(std::string_view text);
  static Quantity of(std::int64_t number);

  int sign() const;
  std::optional<std::int64_t> as_int64() const;  // whole numbers only
  double as_double() const;
  int compare(const Quantity& other) const;
  Quantity plus(const Quantity& other) const;
  Quantity minus(const Quantity& other) const;

  // The one text of this value in its format: "1000m" is "1", "1024Mi" is "1Gi", "0.5" is "500m".
  // Absent for what is too large to have one.
  std::optional<std::string> canonical() const;

 private:
  Quantity(Int128 units, int scale, Format format)
      : units_(units), scale_(scale), format_(format) {}
  std::optional<std::string> as_decimal(Format format) const;

  Int128 units_ = 0;
  int scale_ = 0;  // decimal places, 0 to 9
  Format format_ = Format::decimal;
  bool too_large_ = false;  // it was written with more digits than there is room for
};

}  // namespace kubewatch::base
