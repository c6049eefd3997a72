#include "http/retry_after.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <optional>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

// libcurl reads all three forms of RFC 9110, 5.6.7, and more that nobody sends; -1 is its failure.
std::optional<time_t> read_date(std::string_view text) {
  const time_t at = curl_getdate(std::string(text).c_str(), nullptr);
  if (at < 0) return std::nullopt;
  return at;
}

}  // namespace

std::string retry_after_seconds(const Headers& headers) {
  const std::string_view value = base::trim(headers.get("Retry-After"));
  // A number is told apart by its first character: libcurl takes some for days.
  if (value.empty() || value.front() == '-' || base::is_digit(value.front())) {
    return std::string(value);
  }
  const auto until = read_date(value);
  const auto sent = read_date(headers.get("Date"));
  if (!until || !sent) return "";
  return std::to_string(std::max<time_t>(0, *until - *sent));
}

}  // namespace kubewatch::http
