// Takes the finalizer of a controller that is gone off the objects that carry it
// (whenControllerRemoved: release): lists them by their metadata, a page at a time, and patches a
// few at once; what fails is tried again, a bounded number of times. What it gives up stays for
// `finalizers --release`. Owned by the engine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"
#include "hooks/finalizer_pages.hpp"

namespace kubewatch::hooks {

// Over all objects, while some cannot be released. With the backoff: about six minutes.
inline constexpr std::size_t kMostReleasePasses = 10;

struct ReleaseTarget {
  std::string controller;
  core::ResourceType type;
  std::vector<std::string> namespaces;  // empty: all, or cluster-scoped
  std::string finalizer;
  std::string field_manager;
};

class FinalizerRelease {
 public:
  // client and random must outlive it.
  FinalizerRelease(client::Client& client, base::Random& random, ReleaseTarget target);

  // `done` comes once, from the loop, unless this is gone; it may destroy this.
  void start(std::function<void()> done);
  const ReleaseTarget& target() const { return target_; }

 private:
  void begin_pass();
  void next_page();
  void on_page(const std::string& place, FinalizerPages::Carrying carrying);
  void patch_some();
  void on_patched(const std::string& object, const Error* refused);
  void end_pass();
  void end();

  client::Client& client_;
  base::Random& random_;
  ReleaseTarget target_;
  std::function<void()> done_;
  base::Backoff backoff_{{Duration{1000}, Duration{60000}, 2.0, 0.2}};
  std::size_t passes_ = 0;
  FinalizerPages pages_;
  std::vector<core::ObjectMeta> to_patch_;
  std::size_t in_flight_ = 0;
  std::size_t released_ = 0;
  std::size_t failed_ = 0;  // in this pass
  std::string failure_;     // the last one
  loop::Timer timer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
