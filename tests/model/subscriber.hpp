// One reflector under test and everything its subscriber may expect of it. The expectations come
// from the truth of the Cluster and from what the Link delivered, never from the reflector itself.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "client/rewinds.hpp"
#include "model/network.hpp"
#include "model/twin.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::model {

struct SubscriberOptions {
  View view;
  runtime::WatcherOptions watcher;  // selectors are filled in
  std::string token_file;           // "" = no credentials
  // Of all twins of the server; null: this schedule has no twins.
  std::shared_ptr<client::Rewinds> twin_rewinds;
};

class Subscriber final : public LinkObserver {
 public:
  // All subscribers of a server share `rewinds`.
  Subscriber(std::string name, SubscriberOptions options, loop::EventLoop& loop, ApiServer& server,
             std::shared_ptr<client::Rewinds> rewinds, base::Random& random, Verdict& verdict);

  void start();
  // Cheap; called after every step.
  void check();
  // Once per step: the twin may be a callback behind in the middle of one.
  void compare_twin();
  // The server was restored: versions after `to` are of a past that never was.
  void on_restore(std::uint64_t to);

  Link link;
  const View view;
  const std::string name;
  // After each told change and each sync.
  std::function<void(const runtime::StoreChange&)> on_change;
  std::function<void()> on_synced;

  bool synced() const { return syncs_ > 0; }
  // It stands at a version that a restore undid and cannot know that yet.
  bool lost() const { return lost_; }
  std::uint64_t position() const { return position_; }
  // Watches, all is told, and the cache is the server's newest state.
  bool converged() const;
  std::string describe() const;
  const runtime::Store& store() const { return reflector_->store(); }
  std::uint64_t failures() const { return failures_; }

  void on_request(const RequestSeen& request) override;
  void before_delivery(const std::vector<Frame>& frames) override;
  void on_list(const Reply& reply) override;
  void on_frames(const Delivered& delivered) override;
  void on_refused(const RequestSeen& request, int status, int retry_after) override;
  void on_dropped(Duration open, Duration quiet) override;
  void on_ended(Duration open) override;

 private:
  struct Known {
    std::string uid;
    std::string json;
    bool compared = false;  // with the server's own text
  };

  std::unique_ptr<Twin> make_twin(const SubscriberOptions& options);
  TimePoint now() const { return loop_.now(); }
  void told(const runtime::StoreChange& change);
  void check_live(const runtime::StoreChange& change);
  void check_net(const runtime::StoreChange& change);
  void check_said(const runtime::StoreChange& change, const Known* before);
  void told_synced(bool gap);
  void told_bookmark(const std::string& version);
  void told_failure(runtime::WatcherFailure where, const Error& error, Duration retry_in);
  void check_delay(runtime::WatcherFailure where, const Error& error, Duration delay);
  void check_store(Guarantee as);
  // "" when the store and what was told are this state.
  std::string difference(const SimState& wanted) const;
  std::string index_difference(const SimState& wanted) const;
  void check_text(const SimState& wanted);
  void reset_backoff();
  void maybe_reset_backoff();

  loop::EventLoop& loop_;
  ApiServer& server_;
  Verdict& verdict_;
  const runtime::WatcherOptions options_;
  const std::uint64_t seed_;
  base::Random random_;  // its own: a twin waits as long after the same failure
  std::unique_ptr<Twin> twin_;
  client::Client client_;
  std::unique_ptr<runtime::Reflector> reflector_;

  std::map<SimKey, Known> known_;  // what was told
  std::uint64_t position_ = 0;     // up to which version it was told
  std::uint64_t syncs_ = 0;
  bool lost_ = false;
  bool checked_batch_ = false;  // the changes of one relist are checked once
  std::uint64_t last_list_ = 0;
  std::uint64_t asked_at_ = 0;  // revision when the first request of this round was sent
  std::uint64_t asked_epoch_ = 0;
  std::optional<std::uint64_t> gone_;  // a version that the server called too old

  // Failures told in a row, at least and at most: some resets cannot be seen from outside.
  struct Failed {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
  };
  Failed failed_;
  Failed gone_failed_;
  Failed page_failed_;
  bool page_asked_ = false;  // the last request was of a page that is not the first
  std::uint64_t failures_then_ = 0;
  std::uint64_t failures_ = 0;
  std::array<std::uint64_t, runtime::kWatcherFailures> failures_by_{};
  std::uint32_t detours_ = 0;  // failures with another way out, since the last sync
  std::uint64_t failures_before_ = 0;
  bool must_tell_ = false;
  bool may_try_again_ = false;
  bool second_try_ = false;
  std::optional<Duration> asked_wait_;
  bool waits_as_asked_ = false;
  TimePoint not_before_{};
  std::deque<TimePoint> requests_;
};

}  // namespace kubewatch::model
