// Names are compared without case, port and trailing dot.
#include "http/host_check.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

bool is_port(std::string_view text) {
  return std::all_of(text.begin(), text.end(), base::is_digit);
}

std::string_view without_port(std::string_view text) {
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == text.npos) return {};
    const std::string_view after = text.substr(end + 1);
    const bool clean = after.empty() || (after.front() == ':' && is_port(after.substr(1)));
    return clean ? text.substr(1, end - 1) : std::string_view();
  }
  const std::size_t colon = text.find(':');
  if (colon == text.npos || text.find(':', colon + 1) != text.npos) return text;
  return is_port(text.substr(colon + 1)) ? text.substr(0, colon) : std::string_view();
}

// Of text whose host is fine; that of the scheme where it names none.
std::string_view port_of(std::string_view text, std::string_view usual) {
  text = base::trim(text);
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  if (colon == text.npos || colon + 1 == text.size()) return usual;
  return text.substr(colon + 1);
}

}  // namespace

std::string host_name_of(std::string_view host_and_port) {
  std::string name = base::to_lower(without_port(base::trim(host_and_port)));
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

std::string host_name_of_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  if (scheme == origin.npos) return {};
  return host_name_of(origin.substr(scheme + 3));
}

HostCheck::HostCheck(std::string_view bound_address, const std::vector<std::string>& hosts)
    : names_{"localhost", "127.0.0.1", "::1"} {
  names_.insert(host_name_of(bound_address));
  for (const std::string& host : hosts) names_.insert(host_name_of(host));
  names_.erase("");
}

bool HostCheck::allows_name(const std::string& name, std::string_view local_address) const {
  return !name.empty() && (names_.count(name) != 0 || name == local_address);
}

bool HostCheck::allows(std::string_view host_header, std::string_view local_address) const {
  return allows_name(host_name_of(host_header), local_address);
}

bool HostCheck::allows_origin(std::string_view origin, std::string_view host_header, bool tls,
                              std::string_view local_address) const {
  const std::string_view scheme = tls ? "https" : "http";
  const std::size_t end = origin.find("://");
  if (end == origin.npos || base::to_lower(origin.substr(0, end)) != scheme) return false;
  const std::string_view usual = tls ? "443" : "80";
  return port_of(origin.substr(end + 3), usual) == port_of(host_header, usual) &&
         allows_name(host_name_of_origin(origin), local_address);
}

}  // namespace kubewatch::http
