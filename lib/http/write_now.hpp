// Bytes written to a connection before its loop's turn comes. Not a way around its buffer: only
// for a connection whose buffer is empty, and what was not taken goes into that buffer.
#pragma once

#include <cstddef>
#include <string_view>

struct bufferevent;

namespace kubewatch::http {

// How many of them the connection has taken for good. With TLS that is all or 0, and 0 may mean
// begun: then these bytes must come next, from one piece of memory that holds them all (SSL_write,
// with the mode ACCEPT_MOVING_WRITE_BUFFER that libevent sets). A broken connection takes none:
// whoever writes next finds it. Precondition: nothing waits to be written.
std::size_t write_now(bufferevent* connection, std::string_view bytes);

}  // namespace kubewatch::http
