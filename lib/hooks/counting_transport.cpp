#include "hooks/counting_transport.hpp"

#include <utility>

#include "hooks/recorded_request.hpp"

namespace kubewatch::hooks {

std::unique_ptr<http::Call> CountingTransport::start(http::Request request,
                                                     http::CallHandlers handlers) {
  std::string kind;
  if (const auto target = api_target(request.url)) {
    kind = target->group.empty() ? target->plural : target->plural + "." + target->group;
  }
  std::uint64_t& count = (*counts_)[kind];  // stays where it is
  handlers.on_data = [counts = counts_, &count,
                      then = std::move(handlers.on_data)](std::string_view bytes) {
    count += bytes.size();
    if (then) then(bytes);
  };
  return inner_.start(std::move(request), std::move(handlers));
}

}  // namespace kubewatch::hooks
