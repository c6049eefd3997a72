// make_curl_transport(): checks the TLS material and hands out calls.
#include <memory>
#include <utility>

#include "http/checks.hpp"
#include "http/curl_engine.hpp"
#include "http/pem.hpp"
#include "http/transport.hpp"

namespace kubewatch::http {

namespace {

class CurlCall final : public Call {
 public:
  CurlCall(std::weak_ptr<CurlEngine> engine, std::shared_ptr<Transfer> transfer)
      : engine_(std::move(engine)), transfer_(std::move(transfer)) {}
  ~CurlCall() override {
    if (const auto engine = engine_.lock()) {
      engine->cancel(transfer_);
    } else {
      transfer_->cancel();
    }
  }
  void pause() override { transfer_->hold(); }
  void resume() override {
    if (const auto engine = engine_.lock()) engine->let_go(transfer_);
  }

 private:
  std::weak_ptr<CurlEngine> engine_;
  std::shared_ptr<Transfer> transfer_;
};

Result<void> check_tls(const TlsOptions& tls) {
  if (!tls.ca_pem.empty()) {
    KW_TRY(parse_certificate(tls.ca_pem, "the configured CA"));
  }
  if (tls.client_cert_pem.empty() != tls.client_key_pem.empty()) {
    return Error(ErrorKind::invalid, tls.client_key_pem.empty()
                                         ? "a client certificate is set without its key"
                                         : "a client key is set without its certificate");
  }
  if (!tls.client_cert_pem.empty()) {
    KW_TRY(check_key_pair(tls.client_cert_pem, tls.client_key_pem, "the client"));
  }
  if (!is_request_target(tls.server_name) ||
      tls.server_name.find_first_of("/?#@") != std::string::npos) {
    return Error(ErrorKind::invalid, "the TLS server name is not a host name");
  }
  return {};
}

class CurlTransport final : public Transport {
 public:
  CurlTransport(loop::EventLoop& loop, TransportOptions options)
      : engine_(std::make_shared<CurlEngine>(loop, std::move(options))) {}

  std::unique_ptr<Call> start(Request request, CallHandlers handlers) override {
    return std::make_unique<CurlCall>(engine_,
                                      engine_->start(std::move(request), std::move(handlers)));
  }
  Result<void> set_tls(TlsOptions tls) override {
    KW_TRY(check_tls(tls));
    engine_->set_tls(std::move(tls));
    return {};
  }

 private:
  std::shared_ptr<CurlEngine> engine_;
};

}  // namespace

Result<void> Transport::set_tls(TlsOptions) {
  return Error(ErrorKind::unsupported, "this transport has no TLS to change");
}

Result<std::unique_ptr<Transport>> make_curl_transport(loop::EventLoop& loop,
                                                       TransportOptions options) {
  KW_TRY(check_tls(options.tls));
  if (!is_header_value(options.user_agent) || !is_request_target(options.proxy)) {
    return Error(ErrorKind::invalid, "the user agent or the proxy holds a control character");
  }
  return std::unique_ptr<Transport>(std::make_unique<CurlTransport>(loop, std::move(options)));
}

}  // namespace kubewatch::http
