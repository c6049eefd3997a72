// Why stdout could not be written: a stream alone tells that it could not, and errno is another
// one's by the time somebody asks.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace kubewatch::cli {

// Passes on what is written to `out` while it lives, and remembers why that failed first.
class WatchedOutput : public std::streambuf {
 public:
  explicit WatchedOutput(std::ostream& out);
  ~WatchedOutput() override;
  WatchedOutput(const WatchedOutput&) = delete;
  WatchedOutput& operator=(const WatchedOutput&) = delete;
  // cannot_write() was asked for the words.
  bool told() const { return told_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

 private:
  friend std::string cannot_write(std::ostream& out, int number);
  void note(bool failed);

  std::ostream& out_;
  std::streambuf* inner_;
  int number_ = 0;
  bool told_ = false;
};

// "cannot write to stdout: No space left on device". `number`: errno of who wrote past the stream,
// 0: what the stream met.
std::string cannot_write(std::ostream& out, int number = 0);

}  // namespace kubewatch::cli
