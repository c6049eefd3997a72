// Objects outside `for.namespaces` that carry the rule's finalizer, left there by a rule that
// watched more. Looked for once after a start, by lists of their metadata, as far as rights allow.
// In namespaces that the rule is known to have watched they are ours, and whenNoLongerMatched
// decides about them; anywhere else they may be another instance's: they are told of and let be.
// Owned by driver.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"
#include "hooks/finalizer_release.hpp"

namespace kubewatch::hooks {

// Where the rule put its finalizer before its namespaces were what they are.
struct WatchedBefore {
  std::set<std::string> namespaces;
  bool all = false;
  bool known() const { return all || !namespaces.empty(); }
  void merge(const WatchedBefore& other) {
    namespaces.insert(other.namespaces.begin(), other.namespaces.end());
    all = all || other.all;
  }
};

class FinalizersOutside {
 public:
  struct Found {
    std::set<std::string> namespaces;  // watched before; objects there carry the finalizer
    std::set<std::string> unseen;      // watched before, and may not be listed
  };

  // client and random must outlive it. rule.namespaces: those of the rule now, not empty.
  FinalizersOutside(client::Client& client, base::Random& random, ReleaseTarget rule,
                    WatchedBefore before);

  // `done` comes once, from the loop, unless this is gone; it may destroy this.
  void start(std::function<void(Found)> done);

 private:
  void begin();
  void ask_for_right();
  void begin_pass();
  void next_page();
  void on_page(const std::string& place, const FinalizerPages::Carrying& carrying);
  void note(const core::ObjectMeta& meta);
  void again_or_end(const Error& error);
  void end();

  client::Client& client_;
  base::Random& random_;
  ReleaseTarget rule_;
  WatchedBefore before_;
  std::function<void(Found)> done_;
  base::Backoff backoff_{{Duration{1000}, Duration{60000}, 2.0, 0.2}};
  std::size_t passes_ = 0;
  std::vector<std::string> places_;  // to list; "": all namespaces
  FinalizerPages pages_;
  Found found_;
  bool blind_ = false;            // all namespaces were watched before, and may not be listed
  std::set<std::string> others_;  // objects that nobody knows to be ours
  loop::Timer timer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
