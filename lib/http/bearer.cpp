#include "http/bearer.hpp"

#include <cstddef>

#include "base/strings.hpp"

namespace kubewatch::http {

std::string_view bearer_token(const Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  std::string_view given = headers.get("Authorization");
  if (base::to_lower(given.substr(0, kScheme.size())) != kScheme) return {};
  return base::trim(given.substr(kScheme.size()));
}

bool same_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  unsigned different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i]) ^
                 static_cast<unsigned char>(secret[i % secret.size()]);
  }
  return different == 0;
}

}  // namespace kubewatch::http
