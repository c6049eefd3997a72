// What a POST to the path of a rule is answered: whether its token lets it in, whether there were
// too many, and 202 {"objects": N}. Reads the token files; time comes from the caller.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "hooks/hook_log.hpp"
#include "hooks/trigger_request.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

struct TriggerRoute {
  std::string path;
  std::string token_file;  // "": no token is asked for
  std::string document;    // metadata.name of the rule
};

class TriggerAnswers {
 public:
  // How many objects run; absent: nothing is running here yet, another instance may.
  using OnRequest =
      std::function<std::optional<std::size_t>(const std::string& document, const TriggerRequest&)>;
  struct Answer {
    int status = 202;
    std::string body;
  };
  TriggerAnswers(std::vector<TriggerRoute> routes, OnRequest on_request);
  Answer answer(const http::ServerRequest& request, TimePoint now);
  void set_routes(std::vector<TriggerRoute> routes);

 private:
  // Of all rules with this path, those whose token it carries.
  Result<std::vector<std::string>> allowed(const http::ServerRequest& request) const;

  std::vector<TriggerRoute> routes_;
  OnRequest on_request_;
  // Of a path: who floods one keeps nobody from the others.
  struct Share {
    LineLimit all{1000, Duration{5}};
    LineLimit wide{20, Duration{500}};  // of those that look at all objects
  };
  std::map<std::string, Share> shares_;
  LineLimit refused_{1000, Duration{5}};  // those without a right must not use up the others' share
};

}  // namespace kubewatch::hooks
