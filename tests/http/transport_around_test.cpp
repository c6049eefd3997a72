#include "http/transport_around.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

namespace {

class Inner : public http::Transport {
 public:
  std::unique_ptr<http::Call> start(http::Request /*request*/,
                                    http::CallHandlers /*handlers*/) override {
    return nullptr;
  }
  Result<void> set_tls(http::TlsOptions tls) override {
    server_name = tls.server_name;
    return {};
  }
  std::vector<std::string> secrets() const override { return {"token"}; }
  bool awaits_login() const override { return true; }
  std::string server_name;
};

class Around : public http::TransportAround {
 public:
  using http::TransportAround::TransportAround;
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    return inner_.start(std::move(request), std::move(handlers));
  }
};

}  // namespace

TEST_CASE("a transport around another passes on all that is no call") {
  Inner inner;
  Around around(inner);
  http::TlsOptions tls;
  tls.server_name = "kubernetes";
  CHECK(around.set_tls(tls).ok());
  CHECK(inner.server_name == "kubernetes");
  CHECK(around.secrets() == std::vector<std::string>{"token"});
  CHECK(around.awaits_login());
}
