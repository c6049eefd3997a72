// A program of `triggers`; inside lib/hooks only.
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
  TriggerProgram(TriggerSetting setting, std::vector<std::string> argv, std::size_t index);
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
  LineLimit told_{100, 10};
  base::Backoff backoff_{{Duration{1000}, Duration{300000}, 2.0, 0.2}};
  TimePoint started_{};
  int fd_ = -1;
  std::unique_ptr<loop::Process> process_;
  loop::FdWatch readable_;
  loop::Timer pause_;
  loop::Timer restart_;
};

}  // namespace kubewatch::hooks
