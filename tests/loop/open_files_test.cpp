// The limit of descriptors goes up for us, and not for what we start.
#include "loop/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "process_fixture.hpp"

namespace kubewatch::loop {
namespace {

// Puts back what was.
class LowLimit {
 public:
  explicit LowLimit(rlim_t soft) {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit lower{soft, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &lower) == 0);
  }
  LowLimit(const LowLimit&) = delete;
  LowLimit& operator=(const LowLimit&) = delete;
  ~LowLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

TEST_CASE("we may open what the hard limit allows, within reason, and children 1024 files") {
  const LowLimit low(256);
  CHECK(open_files() == 256);
  raise_open_files();
  CHECK(open_files() == std::min<rlim_t>(low.hard(), 65536));
  EventLoop loop;
  CHECK(run(loop, shell("ulimit -n")).out ==
        std::to_string(std::min<rlim_t>(low.hard(), 1024)) + "\n");
}

}  // namespace
}  // namespace kubewatch::loop
