#include "hooks/trigger_answers.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "http/bearer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxToken = 4096;

std::string message(const std::string& text) {
  return base::dump_json({{"message", text}}) + "\n";
}

}  // namespace

TriggerAnswers::TriggerAnswers(std::vector<TriggerRoute> routes, OnRequest on_request)
    : routes_(std::move(routes)), on_request_(std::move(on_request)) {}

void TriggerAnswers::set_routes(std::vector<TriggerRoute> routes) {
  routes_ = std::move(routes);
  std::erase_if(shares_, [&](const auto& share) {
    return std::none_of(routes_.begin(), routes_.end(),
                        [&](const TriggerRoute& route) { return route.path == share.first; });
  });
}

Result<std::vector<std::string>> TriggerAnswers::allowed(const http::ServerRequest& request) const {
  const std::string_view given = http::bearer_token(request.headers);
  bool known = false;
  std::vector<std::string> out;
  for (const TriggerRoute& route : routes_) {
    if (route.path != request.path) continue;
    known = true;
    if (!route.token_file.empty()) {
      // Read each time: a mounted Secret changes.
      const auto token = base::read_regular_file(route.token_file, kMaxToken);
      const std::string_view wanted = token.ok() ? base::trim(*token) : std::string_view();
      if (wanted.empty()) {
        base::log_error("the token file of a trigger cannot be used; its requests are refused",
                        {{"controller", route.document}, {"file", route.token_file}});
      }
      if (!http::same_secret(given, wanted)) continue;
    }
    out.push_back(route.document);
  }
  if (!known) return Error(ErrorKind::not_found, "no rule has a trigger of this path");
  if (out.empty()) return Error(ErrorKind::unauthorized, "the token is missing or wrong");
  return out;
}

TriggerAnswers::Answer TriggerAnswers::answer(const http::ServerRequest& request, TimePoint now) {
  const auto documents = allowed(request);
  if (!documents.ok()) {
    if (!refused_.admit(now)) return {429, message("too many requests")};
    return {documents.error().is_not_found() ? 404 : 401, message(documents.error().message())};
  }
  Share& share = shares_[request.path];
  if (!share.all.admit(now)) return {429, message("too many requests")};
  if (request.method != "POST") return {405, message("only POST triggers")};
  auto trigger = read_trigger_request(request.body);
  if (!trigger.ok()) return {400, message(trigger.error().render())};
  trigger->source = request.path;
  if (!trigger->key && !share.wide.admit(now)) return {429, message("too many requests")};
  std::size_t count = 0;
  bool elsewhere = false;
  for (const std::string& document : *documents) {
    const auto some = on_request_(document, *trigger);
    elsewhere = elsewhere || !some;
    count += some.value_or(0);
  }
  // Asked again it would come to those a second time that have run here.
  if (elsewhere && count == 0) return {503, message("the controller does not run it here (yet)")};
  return {202, base::dump_json({{"objects", count}}) + "\n"};
}

}  // namespace kubewatch::hooks
