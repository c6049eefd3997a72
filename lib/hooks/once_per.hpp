// Says the same thing once per window. Pure.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include "base/time.hpp"

namespace kubewatch::hooks {

// Remembers hashes of the latest `max_keys` keys that it admitted; one that was pushed out of that
// is admitted again.
class OncePer {
 public:
  explicit OncePer(Duration window, std::size_t max_keys = 10000)
      : window_(window), max_keys_(max_keys) {}
  // Whether `key` may be said now.
  bool admit(const std::string& key, TimePoint now);
  std::size_t remembered() const { return admitted_.size(); }

 private:
  struct Admitted {
    std::size_t key;  // a hash
    TimePoint at;
  };
  Duration window_;
  std::size_t max_keys_;
  std::list<Admitted> admitted_;  // in the order of time
  std::unordered_map<std::size_t, std::list<Admitted>::iterator> by_key_;
};

}  // namespace kubewatch::hooks
