// Asks the server whether it allows what rules need, and logs each right that is missing with the
// line of the rule that needs it. Never holds up or ends anything: a right may be given later.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/rbac.hpp"

namespace kubewatch::cli {

class Preflight {
 public:
  // `client` must outlive it.
  // `pause`: before the server is asked again, where it could not be reached.
  explicit Preflight(client::Client& client, Duration pause = Duration{30000})
      : client_(client), pause_(pause) {}
  // When they start, and again when kinds have come that the server did not have then: a rule is
  // asked for no rights before.
  void ask(std::vector<hooks::Rule> rules);
  // With those that are asked for next, and once: what --leader-elect needs.
  void ask_for_leases(hooks::ElectionRights rights) { leases_ = std::move(rights); }

 private:
  void begin();
  void begin_later();
  void ask_all(const client::ResourceMap& resources);
  void ask_next();
  void on_answer(const hooks::Right& right, const Result<Json>& answer);
  void tell();

  client::Client& client_;
  Duration pause_;
  std::vector<hooks::Rule> waiting_;             // until those before them were asked about
  std::optional<hooks::ElectionRights> leases_;  // until they were
  bool busy_ = false;
  // Of those that are asked about now:
  std::vector<hooks::Rule> rules_;
  std::vector<hooks::Right> rights_;
  std::size_t next_ = 0;
  std::size_t open_ = 0;
  std::vector<hooks::Right> missing_;
  bool unanswered_ = false;  // some of the rights
  loop::Timer again_;
  client::InFlight requests_;
};

}  // namespace kubewatch::cli
