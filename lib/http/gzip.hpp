// gzip of response bodies, at the fast level: links to the clients of our servers are local or
// quick.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::http {

// The smallest body that is worth it, as kube-apiserver has it.
inline constexpr std::size_t kGzipThreshold = 128U << 10U;

std::string gzip(std::string_view bytes);
// Whether an Accept-Encoding value takes gzip ("gzip;q=0" does not).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace kubewatch::http
