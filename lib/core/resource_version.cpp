#include "core/resource_version.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/number_text.hpp"

namespace kubewatch::core {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

std::string_view without_zeros(std::string_view number) {
  const auto first = number.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : number.substr(first);
}

}  // namespace

bool older_version(std::string_view a, std::string_view b) {
  if (!is_number(a) || !is_number(b)) return false;
  const std::string_view x = without_zeros(a);
  const std::string_view y = without_zeros(b);
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

bool at_least_version(std::string_view seen, std::string_view wanted) {
  if (!is_number(seen) || !is_number(wanted)) return seen == wanted;
  return !older_version(seen, wanted);
}

std::optional<std::uint64_t> version_number(std::string_view version) {
  return base::read_number<std::uint64_t>(version);
}

}  // namespace kubewatch::core
