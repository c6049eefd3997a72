#include "http/write_now.hpp"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace kubewatch::http {

std::size_t write_now(bufferevent* connection, std::string_view bytes) {
  SSL* ssl = bufferevent_openssl_get_ssl(connection);
  if (ssl == nullptr) {
    const auto sent = ::send(bufferevent_getfd(connection), bytes.data(), bytes.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  if (SSL_is_init_finished(ssl) == 0) return 0;
  std::size_t taken = 0;
  if (SSL_write_ex(ssl, bytes.data(), bytes.size(), &taken) == 1) return taken;
  ERR_clear_error();  // nobody else's
  return 0;
}

}  // namespace kubewatch::http
