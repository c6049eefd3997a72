// Tells when something in a set of folders changes: files written, renamed into place, deleted, or
// a folder that comes or goes. The only user of inotify. It says that something changed, not what:
// whoever watches reads again and compares.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/event_loop.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

class FileWatch {
 public:
  // `on_change` comes once for all events of a turn. Errors: unavailable (no inotify left).
  static Result<std::unique_ptr<FileWatch>> open(EventLoop& loop, std::function<void()> on_change);

  // Watches these files and folders from now on, and nothing else: of a file the folder it is in,
  // so that a replaced or missing file is seen; of a folder its content and the folder around it.
  // What does not exist is watched through the nearest folder that does. Errors: unavailable where
  // no watch is left for a folder (the rest is watched all the same). A folder that may not be read
  // is no error: it is another one's, around ours.
  Result<void> follow(const std::vector<std::string>& paths);

 private:
  FileWatch(Fd fd, std::function<void()> on_change)
      : fd_(std::move(fd)), on_change_(std::move(on_change)) {}
  void read();

  Fd fd_;
  std::function<void()> on_change_;
  std::map<std::string, int> watched_;
  FdWatch watch_;
};

}  // namespace kubewatch::loop
