// A connection to one API server for the length of a command: loop, configuration, transport,
// client, and discovery on demand. Owned by the verb.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/sandbox.hpp"
#include "base/backoff.hpp"
#include "base/random.hpp"
#include "cli/manifests.hpp"
#include "client/client.hpp"
#include "client/discovery.hpp"
#include "client/discovery_file.hpp"
#include "client/retry.hpp"
#include "hooks/dry_run.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli {

class Session {
 public:
  // From the global flags. Errors: as client::load_config.
  // `shared`: the loop of several sessions, which must outlive them; null: one of its own.
  static Result<std::unique_ptr<Session>> open(const client::ConfigOverrides& overrides,
                                               loop::EventLoop* shared = nullptr);
  // Answered out of a recording (--from-recording); `namespace_` as -n has it. `on_end` comes once,
  // when all was told. Errors: of the file.
  static Result<std::unique_ptr<Session>> open_recording(const std::string& file,
                                                         const std::string& namespace_,
                                                         std::function<void()> on_end,
                                                         loop::EventLoop* shared = nullptr);
  // With an embedded API server in this process that starts with these objects.
  static Result<std::unique_ptr<Session>> open_sandbox(std::vector<Manifest> manifests);

  loop::EventLoop& loop() { return loop_; }
  client::Client& client() { return *client_; }
  // Below all that wraps it: what is asked here is neither recorded nor made dry.
  http::Transport& wire() { return wires_.empty() ? *transport_ : *wires_.back(); }
  // From now on nothing is written; before anything else of the session is used.
  void make_dry(hooks::DryRunTransport::OnWrite on_write);
  // The same for what all requests go through from now on; it must not be used after `inner`.
  using Wrap = std::function<std::unique_ptr<http::Transport>(http::Transport& inner)>;
  void wrap_transport(const Wrap& wrap);
  base::Random& random() { return random_; }

  // What a GET of `path` is answered with. Errors: of the request; of any answer but 200, beginning
  // with `what`.
  Result<std::string> read(const std::string& path, const std::string& what);

  using Resources = std::shared_ptr<const client::ResourceMap>;
  // Asks the server once. Errors: of the request.
  Result<Resources> resources();
  // For commands that go on until they are stopped: from now on a server that is away is asked
  // again until it answers or the bound ends that. `told` hears of it once.
  void await_server(base::BackoffPolicy backoff, std::function<void(const Error&)> told);
  // The two halves of resources_with(), for callers that ask by themselves: what needs no request
  // (null: the server must be asked), and what came of one.
  Resources known(const std::vector<std::string>& words);
  void keep(Resources found);
  // The server has answered, as it is configured: what fails from now on may mend.
  void note_answered() { answered_ = true; }
  // Nothing was answered yet, and no other try can mend this.
  bool is_hopeless(const Error& error) const;
  // Where finding kinds is all that is wanted, what an earlier command found will do: the kept
  // discovery if it knows all of these TYPE words, else resources(). Errors: of the request.
  Result<Resources> resources_with(const std::vector<std::string>& words);
  // The same for one kind; absent when the server does not have it.
  Result<std::optional<core::ResourceType>> type_of(const core::Gvk& gvk);
  // Also what is kept: the next of these asks the server.
  void forget_resources();
  // Whether this command has asked: what these tell is of now, not of ten minutes ago.
  bool has_asked() const { return resources_ != nullptr; }
  // The kinds that one TYPE word stands for. Errors: those of missing_type; of discovery.
  Result<std::vector<core::ResourceType>> resolve(const std::string& word);
  // That `map` has none for a TYPE word, with near words: not_found in kubectl's words; invalid
  // where a damaged recording is asked, which may just not have kept it.
  Error missing_type(const client::ResourceMap& map, const std::string& word) const;

  // The time that the command has, for the waits below: they end by then, in the middle of a
  // request too. `time` is how long it was ("3s").
  struct Bound {
    TimePoint until;
    std::string time;
    std::function<bool()> interrupted;  // asked in each turn; null: never
  };
  // Absent: no bound but those of the requests.
  void bound_waits(std::optional<Bound> bound) { bound_ = std::move(bound); }
  // The time is up, or it was interrupted.
  bool over() const;

  // Turns the loop until the one callback came. Errors: of the request; timeout and canceled by the
  // bound.
  template <class T>
  Result<T> wait(const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start) {
    std::optional<Result<T>> answer;
    const auto pending = start([&](Result<T> result) { answer.emplace(std::move(result)); });
    turn_until([&] { return answer.has_value(); }, Duration{1LL << 50});
    if (!answer) return out_of_bounds();
    return std::move(*answer);
  }

  // How long what may be sent twice is sent again.
  struct Patience {
    Duration budget{10000};
    std::function<bool()> stopped;  // asked between two tries and in each pause; null: never
    // Told what is sent again, and when.
    std::function<void(const Error&, Duration pause)> on_pause;
    // Whether the server has answered anything. Null: what a connection that broke off left open is
    // not sent again.
    bool* answered = nullptr;
  };
  // The same for a read, and what may be sent twice: a server that is busy is asked again.
  template <class T>
  Result<T> wait_patiently(
      const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start,
      const Patience& patience) {
    const auto ends = [&] { return over() || (patience.stopped && patience.stopped()); };
    Duration spent{0};
    for (int attempt = 0;; ++attempt) {
      Result<T> answer = wait<T>(start);
      const bool told = answer.ok() || answer.error().status() != nullptr;
      if (patience.answered != nullptr && told) *patience.answered = true;
      if (answer.ok()) return answer;
      auto pause = client::retry_delay(answer.error(), attempt, spent, patience.budget);
      if (!pause && patience.answered != nullptr && *patience.answered) {
        pause = client::reconnect_delay(answer.error(), attempt, spent, patience.budget);
      }
      if (!pause || ends()) return answer;
      if (patience.on_pause) patience.on_pause(answer.error(), *pause);
      turn_until(ends, *pause);
      if (ends()) return answer;
      spent += *pause;
    }
  }
  template <class T>
  Result<T> wait_patiently(
      const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start) {
    return wait_patiently<T>(start, Patience());
  }

 private:
  explicit Session(loop::EventLoop* shared = nullptr)
      : own_loop_(shared == nullptr ? std::make_unique<loop::EventLoop>() : nullptr),
        loop_(shared == nullptr ? *own_loop_ : *shared),
        random_(base::Random::from_system()) {}
  Result<void> connect(client::ClientConfig config);
  const Resources& kept();
  // At most so long, and not beyond the bound.
  void turn_until(const std::function<bool()>& holds, Duration most);
  Error out_of_bounds() const;

  std::unique_ptr<loop::EventLoop> own_loop_;
  loop::EventLoop& loop_;
  std::unique_ptr<apiserver::Sandbox> sandbox_;
  base::Random random_;
  std::vector<std::unique_ptr<http::Transport>> wires_;  // below transport_, the lowest last
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  Resources resources_;
  std::optional<client::DiscoveryFile> discovery_file_;
  Resources kept_resources_;  // an earlier command's
  bool looked_for_kept_ = false;
  bool answered_ = false;
  std::optional<Bound> bound_;
  base::BackoffPolicy await_backoff_;
  std::function<void(const Error&)> await_told_;  // null: nobody waits for a server
  std::string recording_;                         // the file that answers; "" = a server
  bool damaged_ = false;                          // of that
};

// " (discovery failed for ...)" behind what was not found; "" when nothing failed.
std::string failed_groups(const client::ResourceMap& map);

}  // namespace kubewatch::cli
