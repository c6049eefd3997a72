// The folder of `--state DIR`: what each controller last handled, kept over restarts so that they
// do not run everything again. An append-only log (state_log) that is rewritten when it has grown,
// a key for hashes, a lock. Where its files go while it is in use nothing more is kept. Private
// (0700, files 0600), bounded. It may forget, never invent: whatever cannot be written or read only
// means that an object runs once more.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.hpp"
#include "base/result.hpp"
#include "hooks/state_log.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::hooks {

struct StateLimits {
  std::size_t objects = 500'000;  // further ones are not recorded
  std::size_t bytes = 512U << 20U;
  std::size_t slack_lines = 10'000;  // replaced lines before it is rewritten
};

// What a state is good for. With another API server, or after a crash of the machine, nothing in
// it is sure: objects that are not there were not deleted.
struct StateScope {
  std::string boot_id;    // tells boots of the machine apart; "" where it cannot be told
  std::string server;     // its URL
  std::string authority;  // who signs its certificate, as PEM; "" = anybody
};

class StateStore {
 public:
  // Starts fresh where the scope is another one. On a disk that is full or read-only it knows and
  // keeps nothing, which it logs. Errors: forbidden (the folder is not private), already_exists
  // (another process uses it), invalid, too_large.
  static Result<std::unique_ptr<StateStore>> open(const std::string& folder,
                                                  const StateScope& scope, StateLimits limits = {});
  ~StateStore();

  // What was dropped when it was opened, for the log; "" = nothing.
  const std::string& notice() const { return notice_; }
  std::string hash(std::string_view value) const { return hash_.hex(value); }

  // Null when it is not known.
  const HandledObject* find(const StateKey& key) const;
  void set(const StateKey& key, HandledObject handled);
  void forget(const StateKey& key);
  std::vector<std::pair<core::ObjectKey, HandledObject>> of_controller(
      const std::string& name) const;
  // Forgets the objects of all other controllers.
  void keep_only(const std::vector<std::string>& controllers);

  std::size_t size() const { return objects_.size(); }

 private:
  StateStore(std::string folder, StateLimits limits, base::KeyedHash hash)
      : folder_(std::move(folder)), limits_(limits), hash_(hash) {}
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  Result<void> begin(const StateScope& scope);
  void go_without(const Error& error);
  Result<void> take_lock();
  Result<void> load(const StateScope& scope);
  std::string why_strange(const StateScope& scope) const;
  Result<void> rewrite();
  // Both for sure: where that cannot be told now, neither.
  bool is_ours() const;
  bool is_lost() const;
  void append(const std::string& line);
  void give_up(const Error& error);
  void close_cleanly();

  std::string folder_;
  StateLimits limits_;
  base::KeyedHash hash_;
  std::string notice_;
  HandledObjects objects_;
  std::size_t lines_ = 0;
  std::size_t bytes_ = 0;
  bool broken_ = false;  // cannot be written any more
  bool full_ = false;    // it was said that there is no room
  loop::Fd lock_;
  loop::Fd log_;
};

// Of this boot of the machine; "" where it cannot be told.
std::string current_boot_id();

}  // namespace kubewatch::hooks
