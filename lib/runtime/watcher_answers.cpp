#include "runtime/watcher_answers.hpp"

#include <algorithm>
#include <string_view>

#include "base/ascii.hpp"
#include "core/status.hpp"

namespace kubewatch::runtime {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

// An answer that is none of an API server: a proxy's page, half a list.
bool is_no_answer(const Error& error) {
  return error.kind() == ErrorKind::unavailable && error.status() == nullptr;
}

}  // namespace

bool older_version(const std::string& a, const std::string& b) {
  if (!is_number(a) || !is_number(b)) return false;
  const auto strip = [](std::string_view text) {
    const auto first = text.find_first_not_of('0');
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  };
  const std::string_view x = strip(a);
  const std::string_view y = strip(b);
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

bool usable_version(const std::string& resource_version) {
  return !resource_version.empty() && resource_version != "0";
}

bool version_is_useless(const Error& error) {
  return error.is_gone() || core::is_resource_version_too_large(error);
}

bool refuses_request(const Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::unsupported ||
         is_no_answer(error);
}

bool may_be_of_version(const Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::internal ||
         is_no_answer(error) || error.kind() == ErrorKind::too_large ||
         (error.status() != nullptr && error.status()->code == 500);
}

bool is_away(const Error& error) {
  const int code = error.status() == nullptr ? 0 : error.status()->code;
  return error.is_unreachable() || error.kind() == ErrorKind::timeout ||
         (code >= 502 && code <= 504);
}

}  // namespace kubewatch::runtime
