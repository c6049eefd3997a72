// --record and --from-recording of watch, reflect, wait-condition and apply-ssa (--record alone):
// the flags, and a session that is recorded or answered out of a recording. Owned by the verb.
// run-controller has its own --record (cli/recording), whose replay writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"

namespace CLI {
class App;
}

namespace kubewatch::hooks {
class Recorder;
}

namespace kubewatch::cli {

class SessionRecording {
 public:
  // writes: of a command that does; nothing can be written to a recording, so that --from-recording
  // is refused, and said why. What single objects were before and after is recorded as well.
  enum class Use { reads, writes };
  void bind(CLI::App& app, Use use = Use::reads);
  // Before a server is asked. Errors: invalid (nothing can be written there).
  Result<void> check() const;
  bool records() const { return !record_.empty(); }
  bool replays() const { return !from_.empty(); }

  // As Session::open, but for a recording where --from-recording names one (`on_end` comes once all
  // of it was told); recorded from here on where --record says so. Errors: as Session::open; of the
  // file.
  Result<std::unique_ptr<Session>> open(const client::ConfigOverrides& overrides,
                                        std::function<void()> on_end,
                                        loop::EventLoop* shared = nullptr);
  // What was resolved, so that the recording answers for it.
  void note(const std::vector<core::ResourceType>& types);
  // What goes on in another version. What to tell the user of it; "": nothing is recorded.
  std::string note_version(const core::ResourceType& now);
  // What will be written: values of Secrets are hidden from the beginning.
  void learn(const Json& object);
  // At a graceful end. Why the recording is not whole, and the command failed; "" = it is, or it
  // says itself that it has reached its limit.
  std::string end();

 private:
  Use use_ = Use::reads;
  std::string record_;
  std::string from_;
  std::weak_ptr<hooks::Recorder> recorder_;  // the session's
};

}  // namespace kubewatch::cli
