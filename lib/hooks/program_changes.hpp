// Whether a changed file of a worker's command line is a reason to start another worker. A program
// that is written anew always is; a file that changes again and again, as one that the worker
// itself writes, only after pauses that grow while it goes on: no process for each run, and no
// change is missed for good where a program was written in many steps. Pure: time comes in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.hpp"

namespace kubewatch::hooks {

class ProgramChanges {
 public:
  struct Judgement {
    bool counts = false;
    // The first pause of a series begins with it, or one that has grown much: worth a warning,
    // which names this.
    std::optional<Duration> pause;
  };
  // A worker was started with another `path` than it is now, by `stamp`. Asked of each worker
  // before each run: a change that counted does for all of them.
  Judgement judge(const std::string& path, const std::string& stamp, TimePoint now);

 private:
  struct File {
    std::string stamp;  // of the change that counted last
    TimePoint at{};     // when it did
    Duration pause{0};  // no other one counts so long after
    std::uint32_t in_a_row = 0;
    Duration told{0};  // the pause that a warning named last, in this series
  };
  std::map<std::string, File> files_;
};

}  // namespace kubewatch::hooks
