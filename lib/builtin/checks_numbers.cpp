// Ports, shares and quantities: the checks of checks.hpp that look at how much it is.
#include <algorithm>

#include "base/ascii.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::builtin {

void check_port_number(const Field& port) {
  const std::int64_t number = port.number_or(0);
  if (number < 1 || number > 65535) {
    port.invalid_as(std::to_string(number), range_sentence(1, 65535));
  }
}

void check_port_or_name(const Field& port) {
  if (port.is_text()) return port.invalid_each(port_name_problems(port.text()));
  check_port_number(port);
}

namespace {

// "5%", which may be any number of digits.
bool is_percent(const std::string& text) {
  return text.size() > 1 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, base::is_digit);
}

constexpr std::int64_t kManyPercent = 1000000;

std::int64_t percent_of(const std::string& text) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    value = std::min(kManyPercent, value * 10 + (text[i] - '0'));
  }
  return value;
}

}  // namespace

void check_int_or_percent(const Field& value) {
  if (!value.is_text()) return value.not_negative();
  if (is_percent(value.text())) return;
  value.invalid(
      shape_sentence("a valid percent string must be a numeric string followed by an ending '%'",
                     {"1%", "93%"}, "[0-9]+%"));
}

void check_not_above_all(const Field& value) {
  const std::string text = value.text();
  if (is_percent(text) && percent_of(text) > 100) value.invalid("must not be greater than 100%");
}

std::int64_t int_or_percent(const Field& value) {
  if (!value.is_text()) return value.number_or(0);
  const std::string text = value.text();
  if (is_percent(text)) return percent_of(text);
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
  return digits ? percent_of(text + "%") : 0;
}

std::string quantity_text(const base::Quantity& quantity) {
  return quantity.canonical().value_or("");
}

void check_not_negative_quantity(const Field& value) {
  const auto quantity = value.quantity();
  if (!quantity || quantity->sign() >= 0) return;
  value.invalid_as(go_quoted(quantity_text(*quantity)), "must be greater than or equal to 0");
}

void check_positive_quantity(const Field& value) {
  const auto quantity = value.quantity();
  if (!quantity || quantity->sign() > 0) return;
  value.invalid_as(go_quoted(quantity_text(*quantity)), "must be greater than zero");
}

}  // namespace kubewatch::builtin
