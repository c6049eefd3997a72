// Options of a request and the callbacks that libcurl makes for it.
#include "http/curl_transfer.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "base/time.hpp"
#include "http/curl_error.hpp"
#include "http/dead_peers.hpp"
#include "http/no_proxy.hpp"
#include "http/proxy_url.hpp"

namespace kubewatch::http {

namespace {

constexpr std::size_t kMaxHeaderBytes = 256U << 10U;
constexpr long kStreamBuffer = 16L << 10U;
constexpr long kBodyBuffer = 128L << 10U;
constexpr std::size_t kShownEncoding = 40;

int set_socket_options(void*, curl_socket_t fd, curlsocktype) noexcept {
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof(kUserTimeoutMs));
  return CURL_SOCKOPT_OK;
}

curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) noexcept {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Its context's app data is where the reason goes.
int on_verified(int verified, X509_STORE_CTX* store) noexcept {
  if (verified == 1) return verified;
  const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
  const auto* ssl = static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, index));
  *static_cast<long*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl))) = X509_STORE_CTX_get_error(store);
  return verified;
}

curl_blob blob_of(const std::string& text) {
  curl_blob out{};
  out.data = const_cast<char*>(text.data());
  out.len = text.size();
  out.flags = CURL_BLOB_NOCOPY;
  return out;
}

// One way of TLS, as libcurl calls its options.
struct TlsWay {
  CURLoption verify_peer, verify_host, version;
  CURLoption ca_blob, ca_file, ca_folder;
  CURLoption certificate, key, key_password;
};
constexpr TlsWay kToServer = {CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST, CURLOPT_SSLVERSION,
                              CURLOPT_CAINFO_BLOB,    CURLOPT_CAINFO,         CURLOPT_CAPATH,
                              CURLOPT_SSLCERT_BLOB,   CURLOPT_SSLKEY_BLOB,    CURLOPT_KEYPASSWD};
constexpr TlsWay kToProxy = {
    CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST, CURLOPT_PROXY_SSLVERSION,
    CURLOPT_PROXY_CAINFO_BLOB,    CURLOPT_PROXY_CAINFO,         CURLOPT_PROXY_CAPATH,
    CURLOPT_PROXY_SSLCERT_BLOB,   CURLOPT_PROXY_SSLKEY_BLOB,    CURLOPT_PROXY_KEYPASSWD};

// What is trusted, and who we are.
void set_trust(CURL* easy, const TlsOptions& tls, const TlsWay& way) {
  const long verify = tls.insecure_skip_verify ? 0L : 1L;
  curl_easy_setopt(easy, way.verify_peer, verify);
  curl_easy_setopt(easy, way.verify_host, verify * 2);
  curl_easy_setopt(easy, way.version, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!tls.ca_pem.empty()) {
    const curl_blob ca = blob_of(tls.ca_pem);
    curl_easy_setopt(easy, way.ca_blob, &ca);
    curl_easy_setopt(easy, way.ca_file, nullptr);
    curl_easy_setopt(easy, way.ca_folder, nullptr);
  }
  if (!tls.client_cert_pem.empty()) {
    const curl_blob certificate = blob_of(tls.client_cert_pem);
    const curl_blob key = blob_of(tls.client_key_pem);
    curl_easy_setopt(easy, way.certificate, &certificate);
    curl_easy_setopt(easy, way.key, &key);
    // Never a prompt on the terminal.
    curl_easy_setopt(easy, way.key_password, "");
  }
}

void append(SlistPtr& list, const std::string& line) {
  list.reset(curl_slist_append(list.release(), line.c_str()));
}

// Done twice it may give two objects, or two more items. What else changes something (PUT, DELETE,
// the other patches) leaves the same state.
bool counts_each_time(const Request& request) {
  if (request.method == "POST") return true;
  const std::string type = base::to_lower(base::trim(request.headers.get("Content-Type")));
  return request.method == "PATCH" && type.rfind("application/json-patch+json", 0) == 0;
}

}  // namespace

Transfer::Transfer(loop::EventLoop& loop, std::shared_ptr<const TransportOptions> options,
                   Request request, CallHandlers handlers, std::function<void(Transfer&)> paced)
    : loop_(loop),
      options_(std::move(options)),
      request_(std::move(request)),
      handlers_(std::move(handlers)),
      paced_(std::move(paced)) {}

Result<void> Transfer::check() {
  KW_TRY(check_request(request_));
  KW_ASSIGN(endpoint_, parse_endpoint(request_.url));
  return {};
}

void Transfer::configure(CURL* easy) {
  easy_ = easy;
  touch();
  set_connection();
  set_url();
  set_tls();
  set_timeouts();
  set_method_and_body();
  set_headers();
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
}

void Transfer::set_connection() {
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  // Unpacked by us: libcurl would use zlib.
  curl_easy_setopt(easy_, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, request_.streaming ? kStreamBuffer : kBodyBuffer);
  curl_easy_setopt(easy_, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, long{kKeepAliveIdleSeconds});
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, long{kKeepAliveIntervalSeconds});
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, set_socket_options);
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  // Set even when empty: otherwise libcurl reads the environment.
  const bool direct = named_by_no_proxy(options_->no_proxy, endpoint_.host, endpoint_.port);
  proxy_ = direct ? "" : options_->proxy;
  curl_easy_setopt(easy_, CURLOPT_PROXY, proxy_for_curl(proxy_).c_str());
  // Not libcurl's rules, which look at the URL: set_url() may put another name there.
  curl_easy_setopt(easy_, CURLOPT_NOPROXY, "");
  // Never by Kerberos, which curl_left_out.c leaves out.
  curl_easy_setopt(easy_, CURLOPT_SOCKS5_AUTH, static_cast<long>(CURLAUTH_BASIC));
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

void Transfer::set_url() {
  const std::string& name = options_->tls.server_name;
  if (name.empty() || endpoint_.scheme != "https") {
    curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
    return;
  }
  // SNI and verification take the name from the URL, so the name goes there and the address beside
  // it.
  const bool ipv6 = name.find(':') != std::string::npos && name.front() != '[';
  const std::string host = ipv6 ? "[" + name + "]" : name;
  const std::string url = "https://" + host + ":" + endpoint_.port + endpoint_.rest;
  curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
  append(connect_to_, "::" + endpoint_.host_port());
  curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_.get());
  if (!request_.headers.has("Host")) append(headers_, "Host: " + endpoint_.authority);
}

void Transfer::set_tls() {
  set_trust(easy_, options_->tls, kToServer);
  if (request_.streaming || is_tls_proxy(proxy_)) {
    curl_easy_setopt(easy_, CURLOPT_SSL_CTX_FUNCTION, &Transfer::on_context);
    curl_easy_setopt(easy_, CURLOPT_SSL_CTX_DATA, this);
  }
  // As Go's http.Transport, which is kubectl's, has it: what is trusted and who we are is the same
  // on the way to the proxy. But its name is its own: server_name is about the server.
  if (is_tls_proxy(proxy_)) set_trust(easy_, options_->tls, kToProxy);
}

void Transfer::set_timeouts() {
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(request_.connect_timeout.count()));
  const Duration whole = request_.streaming ? Duration::zero() : request_.response_timeout;
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(whole.count()));
}

void Transfer::set_method_and_body() {
  const std::string& method = request_.method;
  const bool has_body = !request_.body.empty();
  // Where a kept connection ends before the answer begins, libcurl sends a request once more on a
  // new one, whatever it asks for: it takes the old one for closed before. What nobody sent yet
  // goes again all the same; but a body that it has taken from us it cannot take again.
  const bool once = counts_each_time(request_);
  if (once && !has_body) curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
  if (method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else if (method == "GET" && !has_body) {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
  } else if (has_body || method == "POST" || method == "PUT" || method == "PATCH") {
    if (once && has_body) {
      curl_easy_setopt(easy_, CURLOPT_POST, 1L);
      curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &Transfer::on_read);
      curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    } else {
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data());
    }
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method.c_str());
    // Without a type of its own libcurl would call it a form; and it would wait for "100 Continue".
    if (!request_.headers.has("Content-Type")) append(headers_, "Content-Type:");
    append(headers_, "Expect:");
  } else {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method.c_str());
  }
}

void Transfer::set_headers() {
  append(headers_, options_->compress ? "Accept-Encoding: gzip" : "Accept-Encoding: identity");
  for (const auto& [name, value] : request_.headers.all()) {
    // "Name;" is how libcurl is told to send a header without a value.
    append(headers_, base::trim(value).empty() ? name + ";" : name + ": " + value);
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_.get());
  if (!options_->user_agent.empty()) {
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, options_->user_agent.c_str());
  }
}

CURLcode Transfer::on_context(CURL*, void* context, void* self) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  auto* tls = static_cast<SSL_CTX*>(context);
  // libcurl has OpenSSL give its buffers back after each read. A stream is read for as long as it
  // lives, a little at a time, and would ask for them again with each event.
  if (transfer->request_.streaming) SSL_CTX_clear_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  // Behind a proxy of TLS the alert that refuses a certificate goes through the TLS of the proxy,
  // which makes libcurl forget why.
  if (is_tls_proxy(transfer->proxy_) && !transfer->options_->tls.insecure_skip_verify) {
    // The context lives as long as its connection, which other transfers use when this one is gone:
    // nothing is verified on it once more. Go, too, renegotiates nothing.
    SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_app_data(tls, &transfer->verify_error_);
    SSL_CTX_set_verify(tls, SSL_CTX_get_verify_mode(tls), on_verified);
  }
  return CURLE_OK;
}

std::size_t Transfer::on_read(char* to, std::size_t size, std::size_t count, void* self) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  const std::string& body = transfer->request_.body;
  // Only who begins anew asks for more than there is: a part that stuck on its way was not counted
  // as sent.
  if (transfer->body_taken_ == body.size()) {
    transfer->refuse(Error(ErrorKind::unreachable, transfer->endpoint_.host_port() +
                                                       " closed the connection without an answer")
                         .as_disconnect());
    return CURL_READFUNC_ABORT;
  }
  const std::size_t taken = std::min(size * count, body.size() - transfer->body_taken_);
  std::copy_n(body.data() + transfer->body_taken_, taken, to);
  transfer->body_taken_ += taken;
  return taken;
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count,
                                void* self) noexcept {
  const std::string_view line(data, size * count);
  return static_cast<Transfer*>(self)->handle_header(line) ? line.size() : 0;
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count,
                              void* self) noexcept {
  const std::string_view bytes(data, size * count);
  auto* transfer = static_cast<Transfer*>(self);
  const bool go_on = transfer->handle_body(bytes);
  if (go_on) transfer->paced_(*transfer);
  // Any other number than what was given is an error; so must an empty write differ.
  return go_on ? bytes.size() : bytes.size() + 1;
}

bool Transfer::handle_header(std::string_view line) {
  if (canceled_) return false;
  count(line.size());
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    return refuse(Error(ErrorKind::too_large, "the answer of " + endpoint_.host_port() +
                                                  " has more than 256 KiB of headers"));
  }
  if (head_done_) return true;  // a trailer
  if (line.rfind("HTTP/", 0) == 0) {
    head_ = ResponseHead{};
    return true;
  }
  const std::string_view text = base::trim(line);
  if (text.empty()) return end_of_head();
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return true;
  head_.headers.add(std::string(text.substr(0, colon)),
                    std::string(base::trim(text.substr(colon + 1))));
  return true;
}

bool Transfer::end_of_head() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 100 && status < 200) return true;
  head_done_ = true;
  touch();
  head_.status = static_cast<int>(status);
  choose_decoding();
  if (handlers_.on_head) handlers_.on_head(head_);
  return !canceled_;
}

bool Transfer::refuse(Error why) {
  abort_ = std::move(why);
  return false;
}

void Transfer::choose_decoding() {
  const std::string encoding = base::to_lower(base::trim(head_.headers.get("Content-Encoding")));
  if (encoding.empty() || encoding == "identity") return;
  if (encoding == "gzip" || encoding == "x-gzip") {
    gunzip_.emplace();
  } else {
    foreign_encoding_ = encoding.substr(0, kShownEncoding);
  }
}

bool Transfer::handle_body(std::string_view bytes) {
  if (canceled_) return false;
  count(bytes.size());
  // Its head may say enough: an answer without a body is none that cannot be read.
  if (!foreign_encoding_.empty() && !bytes.empty()) {
    return refuse(Error(ErrorKind::unreachable,
                        "the answer of " + endpoint_.host_port() +
                            " has a Content-Encoding that nobody asked for: " + foreign_encoding_));
  }
  if (!gunzip_) return take_body(bytes);
  packed_bytes_ += bytes.size();
  const auto fed =
      gunzip_->feed(bytes, [this](std::string_view piece) { return take_body(piece); });
  if (fed.ok() || canceled_) return !canceled_ && !abort_;
  return refuse(Error(fed.error().kind(),
                      "the answer of " + endpoint_.host_port() + " " + fed.error().message()));
}

bool Transfer::take_body(std::string_view bytes) {
  body_bytes_ += bytes.size();
  if (!request_.streaming && body_bytes_ > request_.max_body) {
    return refuse(Error(ErrorKind::too_large, "the answer of " + endpoint_.host_port() +
                                                  " is larger than the limit of " +
                                                  std::to_string(request_.max_body) + " bytes"));
  }
  if (handlers_.on_data && !bytes.empty()) handlers_.on_data(bytes);
  return !canceled_;
}

void Transfer::cancel() {
  canceled_ = true;
}

void Transfer::let_go() {
  held_ = false;
  touch();
}

void Transfer::finish(Result<void> result) {
  if (canceled_) return;
  canceled_ = true;
  // What the handlers captured goes with the end, and may be what owns this call.
  const CallHandlers handlers = std::exchange(handlers_, {});
  if (handlers.on_done) handlers.on_done(std::move(result));
}

void Transfer::touch() {
  last_activity_ = loop_.now();
  since_activity_ = 0;
}

void Transfer::count(std::size_t wire_bytes) {
  since_activity_ += wire_bytes;
  if (since_activity_ >= request_.idle_bytes) touch();
}

Error Transfer::idle_error() const {
  const std::string from = " from " + endpoint_.host_port();
  const std::string time = base::format_duration(request_.idle_timeout);
  if (since_activity_ == 0) {
    return Error(ErrorKind::timeout, "nothing came" + from + " for " + time);
  }
  return Error(ErrorKind::timeout, "the answer" + from + " trickles: " +
                                       std::to_string(since_activity_) + " bytes in " + time);
}

Result<void> Transfer::outcome(CURLcode code) const {
  if (abort_) return *abort_;
  if (code == CURLE_OK && gunzip_ && packed_bytes_ > 0 && !gunzip_->whole()) {
    return Error(ErrorKind::unreachable,
                 "the answer of " + endpoint_.host_port() + " ends before its gzip does")
        .as_disconnect();
  }
  if (code == CURLE_OK) return {};
  FailedTransfer failed;
  failed.easy = easy_;
  failed.code = code;
  failed.detail = error_.data();
  failed.host_port = endpoint_.host_port();
  failed.proxy = host_of_proxy(proxy_);
  failed.tls_proxy = is_tls_proxy(proxy_);
  failed.verify_error = verify_error_;
  failed.own_ca = !options_->tls.ca_pem.empty();
  failed.ca_setting = options_->ca_setting;
  failed.streaming = request_.streaming;
  failed.connect_timeout = request_.connect_timeout;
  failed.response_timeout = request_.response_timeout;
  return describe(failed);
}

}  // namespace kubewatch::http
