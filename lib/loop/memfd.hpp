// A child's input without a writer and without a file: memory that nobody can change any more.
#pragma once

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

}  // namespace kubewatch::loop
