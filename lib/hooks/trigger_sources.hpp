// The programs and files that `triggers` of one rule document name, at work: started, followed,
// restarted with backoff; their requests go to a sink. HTTP is trigger_server's. Owned by the
// engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "hooks/rule.hpp"
#include "hooks/trigger_request.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

// One program or file. Destroying it ends it; a program's process group is killed.
class TriggerSource {
 public:
  virtual ~TriggerSource() = default;
};

struct TriggerSetting {
  loop::EventLoop& loop;
  base::Random& random;
  std::string controller;
  std::string directory;  // of the rule file: where programs run
  std::string folder;     // private, exists: for pipes and as HOME
  std::function<void(const TriggerRequest&)> on_request;
};

// Null for an HTTP trigger. A failure is logged and tried again.
std::unique_ptr<TriggerSource> open_trigger(const TriggerSetting& setting, const TriggerRule& rule,
                                            std::size_t index);

}  // namespace kubewatch::hooks
