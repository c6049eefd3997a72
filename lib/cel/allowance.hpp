// What one run may make and look at beside what its cost counts. The cost is an API server's, and
// that leaves out much: a list that is shared has paid for its elements once, a text that is put
// in for another has not paid at all. Counted in bytes; a rule that an API server runs in
// reasonable time never uses it up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kubewatch::cel {

class Allowance {
 public:
  static constexpr std::uint64_t kBytes = 256U << 20U;
  explicit Allowance(std::uint64_t bytes = kBytes) : bytes_(bytes) {}

  // All of these are false when too little is left, and from then on.
  bool text(std::size_t bytes) { return spend(bytes); }
  bool items(std::size_t count) { return spend(count < bytes_ ? count * kItem : bytes_ + 1); }
  // Of a value that is walked over, alone or inside another.
  bool look() { return spend(kLook); }

  bool over() const { return used_ > bytes_; }
  std::uint64_t used() const { return used_; }

 private:
  static constexpr std::uint64_t kItem = 32;
  static constexpr std::uint64_t kLook = 16;

  bool spend(std::uint64_t bytes) {
    if (over()) return false;
    used_ += bytes < bytes_ ? bytes : bytes_ + 1;
    return !over();
  }

  std::uint64_t bytes_;
  std::uint64_t used_ = 0;
};

}  // namespace kubewatch::cel
