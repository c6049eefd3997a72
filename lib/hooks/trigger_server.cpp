#include "hooks/trigger_server.hpp"

namespace kubewatch::hooks {

Result<std::unique_ptr<TriggerServer>> TriggerServer::listen(loop::EventLoop& loop,
                                                             const ListenAddress& address,
                                                             std::vector<TriggerRoute> routes,
                                                             TriggerAnswers::OnRequest on_request) {
  std::unique_ptr<TriggerServer> out(
      new TriggerServer(TriggerAnswers(std::move(routes), std::move(on_request))));
  http::ServerOptions options;
  options.address = address.address;
  options.port = address.port;
  options.hosts = address.hosts;
  options.max_header_bytes = 16U << 10U;
  options.max_body_bytes = kMaxTriggerBytes;
  KW_ASSIGN(out->server_,
            http::Server::listen(loop, std::move(options),
                                 [&loop, &answers = out->answers_](
                                     const http::ServerRequest& request,
                                     const std::shared_ptr<http::Responder>& responder) {
                                   const auto answer = answers.answer(request, loop.now());
                                   http::Headers headers;
                                   headers.add("Content-Type", "application/json");
                                   if (answer.status == 429 || answer.status == 503)
                                     headers.add("Retry-After", "1");
                                   if (answer.status == 405) headers.add("Allow", "POST");
                                   responder->respond(answer.status, headers, answer.body);
                                 }));
  return out;
}

}  // namespace kubewatch::hooks
