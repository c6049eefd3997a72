#include "cli/printers/sort_by.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "cli/caret.hpp"
#include "core/json_template.hpp"

namespace kubewatch::cli {

namespace {

// Digits from `at`, without leading zeros; moves `at` behind them.
std::string_view digits(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && base::is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

std::optional<double> scale_of(std::string_view suffix) {
  static constexpr std::pair<std::string_view, double> kScales[] = {
      {"", 1},        {"n", 1e-9},     {"u", 1e-6},        {"m", 1e-3},           {"k", 1e3},
      {"M", 1e6},     {"G", 1e9},      {"T", 1e12},        {"P", 1e15},           {"E", 1e18},
      {"Ki", 1024},   {"Mi", 1048576}, {"Gi", 1073741824}, {"Ti", 1099511627776}, {"Pi", 0x1p50},
      {"Ei", 0x1p60},
  };
  for (const auto& [word, scale] : kScales) {
    if (suffix == word) return scale;
  }
  return std::nullopt;
}

std::optional<double> quantity(const std::string& text) {
  double value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || !std::isfinite(value)) return std::nullopt;
  const auto scale = scale_of(std::string_view(stop, text.data() + text.size() - stop));
  if (!scale) return std::nullopt;
  return value * *scale;
}

int rank(const Json& value) {
  if (value.is_null()) return 0;
  if (value.is_boolean()) return 1;
  if (value.is_number()) return 2;
  return value.is_string() ? 3 : 4;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (base::is_digit(a[i]) && base::is_digit(b[j])) {
      const std::string_view left = digits(a, i);
      const std::string_view right = digits(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

bool field_less(const Json& a, const Json& b, bool by_size) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (!a.is_string()) return a < b;
  const auto& left = a.get_ref<const std::string&>();
  const auto& right = b.get_ref<const std::string&>();
  if (by_size) return quantity(left).value_or(0) < quantity(right).value_or(0);
  return natural_less(left, right);
}

Result<SortBy> SortBy::parse(const std::string& path) {
  std::size_t at = 0;
  const auto relaxed = core::relaxed_path(path, &at);
  if (!relaxed.ok()) {
    return Error(ErrorKind::invalid,
                 with_caret("--sort-by: " + relaxed.error().message(), path, at));
  }
  SortBy out;
  out.text_ = *relaxed;
  KW_ASSIGN(out.path_, core::JsonPath::parse(*relaxed));
  return out;
}

Result<std::vector<std::size_t>> SortBy::order(const std::vector<const Json*>& objects) const {
  std::vector<const Json*> keys;
  bool any = false;
  for (const Json* object : objects) {
    const auto found = path_.find(*object);
    keys.push_back(found.empty() ? nullptr : found.front());
    any = any || !found.empty();
  }
  if (!any && objects.size() > 1) {
    return Error(
        ErrorKind::invalid,
        fmt::format("couldn't find any field with path \"{{{}}}\" in the list of objects", text_));
  }
  std::vector<std::size_t> out(objects.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  // Only where all are quantities: two orders in one list would be none.
  const bool by_size = std::all_of(keys.begin(), keys.end(), [](const Json* key) {
    return key == nullptr || !key->is_string() || quantity(key->get_ref<const std::string&>());
  });
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a] == nullptr || keys[b] == nullptr) return keys[a] == nullptr && keys[b] != nullptr;
    return field_less(*keys[a], *keys[b], by_size);
  });
  return out;
}

}  // namespace kubewatch::cli
