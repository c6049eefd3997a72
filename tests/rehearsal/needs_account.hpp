// The embedded API server with the admission that a kube-apiserver has and it has not: a Pod is
// refused without its ServiceAccount, in a dry run as in earnest.
#pragma once

#include <string>

#include "hooks/recorded_request.hpp"
#include "rehearsal/local_server.hpp"

namespace kubewatch::test {

class NeedsAccount : public http::Transport {
 public:
  explicit NeedsAccount(loop::EventLoop& loop) : loop_(loop), server_(loop) {}
  rehearsal::LocalServer& server() { return server_; }

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    const auto target = hooks::api_target(request.url);
    if (target && target->plural == "pods" && request.method != "GET") {
      const auto body = base::parse_json(request.body);
      const std::string account =
          body.ok() ? base::string_at(*body, {"spec", "serviceAccountName"}) : "";
      const std::string path = "/api/v1/namespaces/" + target->namespace_ + "/serviceaccounts/";
      if (!account.empty() && !server_.ask("GET", path + account, "", nullptr).ok()) {
        const std::string pod = base::string_at(*body, {"metadata", "name"});
        return std::make_unique<Refusal>(loop_, std::move(handlers),
                                         "pods \"" + pod +
                                             "\" is forbidden: error looking up service account " +
                                             target->namespace_ + "/" + account +
                                             ": serviceaccount \"" + account + "\" not found");
      }
    }
    return server_.start(std::move(request), std::move(handlers));
  }
  Result<void> set_tls(http::TlsOptions tls) override { return server_.set_tls(std::move(tls)); }

 private:
  class Refusal : public http::Call {
   public:
    Refusal(loop::EventLoop& loop, http::CallHandlers handlers, const std::string& message)
        : handlers_(std::move(handlers)) {
      const Json status = {{"kind", "Status"},   {"apiVersion", "v1"},    {"status", "Failure"},
                           {"message", message}, {"reason", "Forbidden"}, {"code", 403}};
      timer_ = loop.after(Duration{0}, [this, text = status.dump()] { give(text); });
    }

   private:
    void give(const std::string& text) {
      // The last handler may destroy this.
      const auto handlers = handlers_;
      const std::string body = text;
      http::ResponseHead head;
      head.status = 403;
      head.headers.set("Content-Type", "application/json");
      if (handlers.on_head) handlers.on_head(head);
      if (handlers.on_data) handlers.on_data(body);
      handlers.on_done({});
    }
    http::CallHandlers handlers_;
    loop::Timer timer_;
  };

  loop::EventLoop& loop_;
  rehearsal::LocalServer server_;
};

}  // namespace kubewatch::test
