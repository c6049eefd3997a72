// Which servers are reached past the proxy: the value of NO_PROXY. The rules are those of Go's
// golang.org/x/net/http/httpproxy, which kubectl follows, and not libcurl's: one variable has to
// mean the same to both.
#pragma once

#include <string_view>

namespace kubewatch::http {

// `list` is separated by commas: "*", an address, a network of IPv4 or IPv6 (10.0.0.0/8), a domain
// with all below it (a.b), only what is below it (.a.b, *.a.b); an address or a domain may end in
// :port, an IPv6 address stands in brackets then. What is none of these names nobody. `host` may
// have the brackets of a URL. Names in other letters than ASCII are compared as they stand.
bool named_by_no_proxy(std::string_view list, std::string_view host, std::string_view port);

}  // namespace kubewatch::http
