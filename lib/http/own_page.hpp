// The pages that evhttp answers by itself (a body that is too long, a method that it does not know,
// what is no request), found among what it writes, and ours in their place: libevent 2.1 asks
// nobody for them. Internal to http/. Pure: bytes in, bytes out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "http/server.hpp"

namespace kubewatch::http {

using PageMaker = std::function<OwnPage(int status)>;

// A sentence.
OwnPage plain_page(int status);

// `said`: all that a connection is about to send. Absent when it ends with no such page; a 100 in
// front of it stays.
std::optional<std::string> with_own_page(std::string_view said, const PageMaker& page);

}  // namespace kubewatch::http
