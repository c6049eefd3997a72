// Says the same thing once per window. Pure.
#pragma once

#include <map>
#include <string>

#include "base/time.hpp"

namespace kubewatch::hooks {

class OncePer {
 public:
  explicit OncePer(Duration window) : window_(window) {}
  // Whether `key` may be said now.
  bool admit(const std::string& key, TimePoint now);

 private:
  Duration window_;
  std::map<std::string, TimePoint> last_;
};

}  // namespace kubewatch::hooks
