// Asks the server when rules start whether it allows what the rules need, and logs each right that
// is missing with the line of the rule that needs it. Never holds up or ends anything: a right may
// be given later.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/rbac.hpp"

namespace kubewatch::cli {

class Preflight {
 public:
  // `client` must outlive it.
  Preflight(client::Client& client, std::vector<hooks::Rule> rules);
  void start();

 private:
  void ask_all(const client::ResourceMap& resources);
  void ask_next();
  void on_answer(const hooks::Right& right, const Result<Json>& answer);
  void tell() const;

  client::Client& client_;
  std::vector<hooks::Rule> rules_;
  std::vector<hooks::Right> rights_;
  std::size_t next_ = 0;
  std::size_t open_ = 0;
  std::vector<hooks::Right> missing_;
  client::InFlight requests_;
};

}  // namespace kubewatch::cli
