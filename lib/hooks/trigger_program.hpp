// A program of `triggers`: started, read line by line, and started again after it ended, for as
// long as this is there. Its lines become requests (trigger_feed); what they mean is the
// receiver's. Owned by trigger_hub; inside lib/hooks only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/trigger_feed.hpp"
#include "hooks/trigger_sources.hpp"

namespace kubewatch::hooks {

class TriggerProgram : public TriggerSource {
 public:
  // `argv`: not empty. `index`: its own among those that share setting.folder, where its pipe is
  // made. Never fails: what keeps it from starting is logged, and tried again after a pause.
  TriggerProgram(TriggerSetting setting, std::vector<std::string> argv, std::size_t index);
  // Kills the program, and removes the pipe.
  ~TriggerProgram() override;

 private:
  base::LogFields fields() const;
  void refuse(const Error& error);
  bool has_pipe() const;
  bool open_pipe();
  void start();
  void listen();
  void read();
  void restart();
  void again(const std::string& why);

  TriggerSetting setting_;
  std::vector<std::string> argv_;
  std::string pipe_;
  TriggerFeed feed_;
  LineLimit told_{100, Duration{100}};
  base::Backoff backoff_{{Duration{1000}, Duration{300000}, 2.0, 0.2}};
  TimePoint started_{};
  int fd_ = -1;  // the pipe, for reading and writing
  std::unique_ptr<loop::Process> process_;
  loop::FdWatch readable_;
  loop::Timer pause_;
  loop::Timer restart_;
};

}  // namespace kubewatch::hooks
