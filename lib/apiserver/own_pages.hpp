// What an API server says of requests that come to no handler: a Status as well.
#pragma once

#include "http/server.hpp"

namespace kubewatch::apiserver {

// Of a server that takes bodies of `most_body_bytes`.
std::function<http::OwnPage(int status)> own_pages(std::size_t most_body_bytes);

}  // namespace kubewatch::apiserver
