#include "cli/watched_output.hpp"

#include <cerrno>
#include <cstring>

namespace kubewatch::cli {

WatchedOutput::WatchedOutput(std::ostream& out) : out_(out), inner_(out.rdbuf()) {
  const auto state = out_.rdstate();
  out_.rdbuf(this);
  out_.clear(state);
}

WatchedOutput::~WatchedOutput() {
  const auto state = out_.rdstate();
  out_.rdbuf(inner_);
  out_.clear(state);
}

void WatchedOutput::note(bool failed) {
  if (failed && number_ == 0) number_ = errno;
}

WatchedOutput::int_type WatchedOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  errno = 0;
  const int_type put = inner_->sputc(traits_type::to_char_type(character));
  note(traits_type::eq_int_type(put, traits_type::eof()));
  return put;
}

std::streamsize WatchedOutput::xsputn(const char* bytes, std::streamsize count) {
  errno = 0;
  const std::streamsize put = inner_->sputn(bytes, count);
  note(put < count);
  return put;
}

int WatchedOutput::sync() {
  errno = 0;
  const int synced = inner_->pubsync();
  note(synced != 0);
  return synced;
}

std::string cannot_write(std::ostream& out, int number) {
  if (auto* watched = dynamic_cast<WatchedOutput*>(out.rdbuf())) {
    watched->told_ = true;
    if (number == 0) number = watched->number_;
  }
  const std::string what = "cannot write to stdout";
  return number == 0 ? what : what + ": " + std::strerror(number);
}

}  // namespace kubewatch::cli
