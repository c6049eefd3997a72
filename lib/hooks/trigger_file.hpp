// A file of `triggers`, followed as `tail -F` does; inside lib/hooks only.
#pragma once

#include <sys/types.h>

#include <string>

#include "hooks/hook_process.hpp"
#include "hooks/trigger_feed.hpp"
#include "hooks/trigger_sources.hpp"

namespace kubewatch::hooks {

// What is there at the start was there before us: only what comes is read. A file that appears
// later, that is replaced or that has become shorter is read from its beginning. Looked at once a
// second: that works on every file system, and through links.
class TriggerFile : public TriggerSource {
 public:
  TriggerFile(TriggerSetting setting, std::string path);

 private:
  void look();
  Duration read_on(int fd);
  void refuse(const Error& error);

  TriggerSetting setting_;
  std::string path_;
  TriggerFeed feed_;
  LineLimit told_{10, 1};
  bool first_ = true;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  off_t offset_ = 0;
  loop::Timer timer_;
};

}  // namespace kubewatch::hooks
