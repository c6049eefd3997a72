// --record of run-controller: its flags, and the recording of one run of the command. Owned by the
// verb; what writes it is hooks/recorder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "hooks/engine.hpp"

namespace CLI {
class App;
}

namespace kubewatch::hooks {
class Recorder;
}

namespace kubewatch::cli {

class Recording {
 public:
  void bind(CLI::App& app);
  bool wanted() const { return !file_.empty(); }

  // Before anything else of the session is used. `complete`: these rules run all that they watch
  // from the start. Errors: of the file.
  Result<void> open(Session& session, const std::vector<hooks::Rule>& rules, bool complete);
  // What the engine has to tell, beside what its callbacks do already.
  void follow(hooks::EngineCallbacks& callbacks);
  // After a graceful end; idle: nothing was left to do when it began. As SessionRecording::end.
  std::string end(bool idle);

 private:
  std::string file_;
  std::size_t megabytes_ = 64;
  std::weak_ptr<hooks::Recorder> recorder_;  // the session's: it must not outlive its loop
};

}  // namespace kubewatch::cli
