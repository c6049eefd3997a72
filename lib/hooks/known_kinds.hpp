// What kinds the server has, as an engine knows it: asked at the start and again, patiently, and by
// whoever finds that one is missing. Not what a rule makes of them (KindFamilies, Driver), nor when
// a definition changed (DefinitionWatch).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/backoff.hpp"
#include "base/result.hpp"
#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/once_per.hpp"
#include "hooks/start_patience.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class KnownKinds {
 public:
  struct Callbacks {
    std::function<void()> on_known;  // with each answer that could be read
    // The first answer did not come in time, or never will. This asks no more; it may be destroyed.
    std::function<void(const Error&)> on_given_up;
  };
  struct Options {
    std::optional<Duration> give_up_start{};  // absent: never
    // The first pause before the server is asked again for kinds that it does not have. refresh()
    // asks nothing that was asked in the time `fresh` before.
    Duration missing{1000};
    Duration fresh{0};
  };

  // `loop`, `client` and `random` must outlive it.
  KnownKinds(loop::EventLoop& loop, client::Client& client, base::Random& random, Options options,
             Callbacks callbacks);

  // Null before the first answer.
  const std::shared_ptr<const client::ResourceMap>& resources() const { return resources_; }
  void ask();
  // Kinds are missing: asked again after a pause that grows, until they are all there.
  void ask_again();
  void none_missing() { missing_backoff_.succeed(); }
  // `done` follows when it was asked anew, whatever came of it; at once when it knows as much as it
  // ever will, or has only just asked.
  void refresh(std::function<void()> done);
  // It asks no more; who waits is still told when the answer that is on its way is there.
  void stop();
  // Who waits in refresh() is not told any more.
  void forget_waiting() { waiting_.clear(); }

 private:
  using Answer = Result<std::shared_ptr<const client::ResourceMap>>;
  void on_answer(Answer answer);
  bool gives_up(const Error& error);

  loop::EventLoop& loop_;
  client::Client& client_;
  base::Random& random_;
  Options options_;
  Callbacks callbacks_;
  std::shared_ptr<const client::ResourceMap> resources_;
  StartPatience patience_;
  base::Backoff unreachable_backoff_{{Duration{1000}, Duration{30000}, 2.0, 0.2}};
  base::Backoff missing_backoff_;
  OncePer told_{Duration{60000}};
  std::optional<TimePoint> answered_;
  bool asking_ = false;
  bool stopped_ = false;
  std::vector<std::function<void()>> waiting_;
  loop::Timer timer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
