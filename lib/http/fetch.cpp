// fetch(): one answer as a whole, over any Transport.
#include <memory>
#include <utility>

#include "http/transport.hpp"

namespace kubewatch::http {

namespace {

struct Fetch {
  Response response;
  std::function<void(Result<Response>)> done;
};

void finish(Fetch& fetch, Result<void> result) {
  // `done` may destroy the call, and with it everything but what is held here.
  const auto done = std::move(fetch.done);
  if (result.ok()) {
    done(std::move(fetch.response));
  } else {
    done(std::move(result).error());
  }
}

}  // namespace

std::unique_ptr<Call> fetch(Transport& transport, Request request,
                            std::function<void(Result<Response>)> done) {
  auto state = std::make_shared<Fetch>();
  state->done = std::move(done);
  CallHandlers handlers;
  handlers.on_head = [state](const ResponseHead& head) {
    state->response.status = head.status;
    state->response.headers = head.headers;
  };
  handlers.on_data = [state](std::string_view bytes) { state->response.body.append(bytes); };
  handlers.on_done = [state](Result<void> result) {
    const auto keep = state;
    finish(*keep, std::move(result));
  };
  return transport.start(std::move(request), std::move(handlers));
}

}  // namespace kubewatch::http
