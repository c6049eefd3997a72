// A child's input without a writer and without a file: memory that nobody can change any more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::loop {

// An open descriptor or -1; closes it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// Close-on-exec, at offset 0. Errors: unavailable (no descriptors, no memory).
Result<Fd> sealed_input(std::string_view content);

// By which all that our children start may open it, as the same user and as long as it is open
// here. Absent where the kernel guards our memory, and with it what is open here: our binary has
// capabilities of its own.
std::optional<std::string> path_for_children(const Fd& open);

}  // namespace kubewatch::loop
