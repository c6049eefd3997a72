#include "builtin/image_name.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kShortestDigest = 32;
constexpr std::size_t kIdentifier = 64;

bool is_word(char c) {
  return base::is_lower(c) || base::is_digit(c);
}
bool is_lower_hex(char c) {
  return base::is_hex_digit(c) && !base::is_upper(c);
}
bool all(std::string_view text, bool (*test)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), test);
}

// "a", "a.b", "a_b", "a__b", "a---b".
bool is_component(std::string_view text) {
  while (true) {
    const std::size_t word = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
    if (word == 0) return false;
    text.remove_prefix(word);
    if (text.empty()) return true;
    const std::size_t gap = static_cast<std::size_t>(
        std::find_if(text.begin(), text.end(), base::is_alphanumeric) - text.begin());
    const std::string_view between = text.substr(0, gap);
    const bool dashes = between.find_first_not_of('-') == std::string_view::npos;
    if (!dashes && between != "." && between != "_" && between != "__") return false;
    text.remove_prefix(gap);
  }
}

bool is_path(std::string_view text) {
  if (text.empty() || text.back() == '/') return false;
  while (!text.empty()) {
    if (!is_component(base::take_until(text, '/'))) return false;
  }
  return true;
}

bool is_host_label(std::string_view text) {
  if (text.empty() || !base::is_alphanumeric(text.front()) || !base::is_alphanumeric(text.back()))
    return false;
  return all(text, [](char c) { return base::is_alphanumeric(c) || c == '-'; });
}

bool is_host(std::string_view text) {
  if (text.starts_with('[')) {
    return text.size() > 2 && text.ends_with(']') &&
           all(text.substr(1, text.size() - 2),
               [](char c) { return base::is_hex_digit(c) || c == ':'; });
  }
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty()) {
    if (!is_host_label(base::take_until(text, '.'))) return false;
  }
  return true;
}

bool is_registry(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.ends_with(']')) return is_host(text);
  return is_host(text.substr(0, colon)) && all(text.substr(colon + 1), base::is_digit);
}

// Whether the part before the first slash names a registry and not a folder of the default one.
bool names_registry(std::string_view text) {
  return text == "localhost" || text.find_first_of(".:") != std::string_view::npos ||
         std::any_of(text.begin(), text.end(), [](char c) { return base::is_upper(c); });
}

bool is_name(std::string_view text) {
  if (text.size() > kLongestName) return false;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !names_registry(text.substr(0, slash))) {
    return is_path(text);
  }
  return is_registry(text.substr(0, slash)) && is_path(text.substr(slash + 1));
}

bool is_digest(std::string_view text) {
  const std::string_view algorithm = base::take_until(text, ':');
  return !algorithm.empty() && base::is_alphanumeric(algorithm.front()) &&
         text.size() >= kShortestDigest && all(text, base::is_hex_digit);
}

}  // namespace

bool is_latest_image(std::string_view image) {
  // The identifier of an image, which is no name.
  if (image.size() == kIdentifier && all(image, is_lower_hex)) return false;
  const std::size_t at = image.find('@');
  const bool digested = at != std::string_view::npos;
  if (digested && !is_digest(image.substr(at + 1))) return false;
  std::string_view name = image.substr(0, at);
  const std::size_t slash = name.rfind('/');
  const std::size_t colon = name.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return !digested && is_name(name);
  return name.substr(colon + 1) == "latest" && is_name(name.substr(0, colon));
}

}  // namespace kubewatch::builtin
