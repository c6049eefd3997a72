// What `credentials` of a rule hands to its hook: a kubeconfig in the hook's private home, of this
// process's own identity or of a service account whose bound token is asked for and renewed here.
// Owned by HookRunner. Tokens are in the files and in this memory, never in a log.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "hooks/invocation.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// How long a bound token is good, and when to ask for the next. Pure.
class TokenAge {
 public:
  void got(TimePoint now, Duration lifetime);
  void failed(TimePoint now) { failed_ = now; }
  // A hook failed with it: it may be of an account that was deleted and created anew. Then the next
  // one is due, unless this one has just been given. It stays usable: most hooks fail for reasons
  // of their own.
  void doubt(TimePoint now);
  // Good for a run that starts now.
  bool usable(TimePoint now) const;
  // The next one should be asked for; not at once again where that failed.
  bool due(TimePoint now) const;
  // A run that starts now should wait for an answer that is on its way, though this one is usable.
  bool doubted() const { return doubted_; }

 private:
  std::optional<TimePoint> got_;
  std::optional<TimePoint> failed_;
  Duration lifetime_{0};
  bool doubted_ = false;
};

class HookCredentials {
 public:
  // `client` must outlive it. Service accounts are those of the client's namespace.
  explicit HookCredentials(client::Client& client) : client_(client), now_(client.config()) {}

  // Before write(): gets the token where one is needed. `ready` comes at once when there is one
  // that nobody doubts. Errors: the server's, naming the service account and its namespace, unless
  // there is a token that has not expired.
  void prepare(const CredentialsRule& rule, std::function<void(Result<void>)> ready);
  // The files in `home`, 0600; the variables that lead to them, and what must not be logged.
  // Nothing where the rule hands over nothing. Errors: those of writing files.
  Result<HookEnvironment> write(const CredentialsRule& rule, const std::string& home);
  // The same for a home that refresh() keeps up to date: what was written there is remembered until
  // forget().
  Result<HookEnvironment> write_kept(const CredentialsRule& rule, const std::string& home);
  // Before each run in a home of write_kept(), as a worker lives on there: writes the token again
  // once there is a newer one, and the kubeconfig once certificates were rotated or a login was
  // renewed; and each, with the home, where something else has taken it away. Gives what must not
  // be logged.
  std::vector<std::string> refresh(const CredentialsRule& rule, const std::string& home);
  // What they hold that must not be logged.
  std::vector<std::string> secrets(const CredentialsRule& rule) const;
  // A hook that has them failed.
  void doubt(const CredentialsRule& rule);
  // The worker is gone.
  void forget(const std::string& home);
  // How many homes are remembered.
  std::size_t kept() const { return in_kubeconfigs_.size(); }

 private:
  struct Account {
    std::string token;
    TokenAge age;
    bool asking = false;
    std::vector<std::function<void(Result<void>)>> waiting;
    std::map<std::string, std::string> in_homes;  // of workers: home -> token
  };
  void ask(const std::string& name);
  void on_answer(const std::string& name, const Result<Json>& answer);
  const client::ClientConfig& now() const;
  bool renew_kubeconfig(const CredentialsRule& rule, const std::string& home);

  client::Client& client_;
  mutable client::ClientConfig now_;  // as its files were when they were read last
  std::map<std::string, Account> accounts_;
  std::map<std::string, std::string> in_kubeconfigs_;  // home -> what may change, as written
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
