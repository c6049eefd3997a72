#include "http/bearer.hpp"

#include <cstddef>

namespace kubewatch::http {

std::string_view bearer_token(const Headers& headers) {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view given = headers.get("Authorization");
  given.remove_prefix(given.starts_with(kScheme) ? kScheme.size() : given.size());
  return given;
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
