// The part of warnings.hpp that is about the form of IP addresses. Those that the rules refuse in
// new objects are not looked at.
#include <fmt/format.h>

#include "builtin/checks.hpp"
#include "builtin/warnings.hpp"

namespace kubewatch::builtin {

void warn_of_address(const std::string& path, const std::string& address,
                     std::vector<std::string>& warnings) {
  if (address.find(':') == std::string::npos) return;
  const bool range = is_cidr(address);
  if (!range && !is_ip(address)) return;
  const std::string form = range ? canonical_cidr(address) : canonical_ip(address);
  if (form == address) return;
  warnings.push_back(fmt::format("{}: IPv6 {} {} should be in RFC 5952 canonical format ({})", path,
                                 range ? "CIDR value" : "address", go_quoted(address),
                                 go_quoted(form)));
}

void warn_of_addresses(const std::string& path, const Json* list,
                       std::vector<std::string>& warnings) {
  if (list == nullptr || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_string()) continue;
    warn_of_address(fmt::format("{}[{}]", path, i), (*list)[i].get<std::string>(), warnings);
  }
}

}  // namespace kubewatch::builtin
