// A file of `triggers`, followed as `tail -F` does; inside lib/hooks only.
#pragma once

#include <sys/types.h>

#include <string>

#include "hooks/hook_process.hpp"
#include "hooks/trigger_feed.hpp"
#include "hooks/trigger_place.hpp"
#include "hooks/trigger_sources.hpp"

namespace kubewatch::hooks {

// What is there at the start was there before us: only what comes is read. A file that appears
// later, that is replaced, overwritten or has become shorter is read from its beginning. Looked at
// once a second: that works on every file system, and through links.
class TriggerFile : public TriggerSource {
 public:
  TriggerFile(TriggerSetting setting, std::string path);

 private:
  void look();
  // What stands before the offset, at most so many bytes.
  static std::string before(int fd, off_t offset, std::size_t count);
  Duration read_on(int fd, off_t end);
  void refuse(const Error& error);
  // Why it cannot be followed as it is now; "" = nothing.
  void tell_wrong(std::string why);

  TriggerSetting setting_;
  std::string path_;
  TriggerFeed feed_;
  LineLimit told_{10, Duration{1000}};
  bool first_ = true;
  std::string wrong_;  // that was told
  TriggerPlace place_;
  loop::Timer timer_;
};

}  // namespace kubewatch::hooks
