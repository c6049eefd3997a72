#include "base/error.hpp"

#include <cerrno>
#include <utility>

namespace kubewatch::base {

Error::Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

Error::Error(ErrorKind kind, std::string message, ApiStatus status)
    : kind_(kind),
      message_(std::move(message)),
      status_(std::make_shared<const ApiStatus>(std::move(status))) {}

Error& Error::add_context(std::string what) {
  context_.push_back(std::move(what));
  return *this;
}

Error Error::with_context(std::string what) && {
  context_.push_back(std::move(what));
  return std::move(*this);
}

Error Error::as_disconnect() && {
  disconnect_ = true;
  return std::move(*this);
}

Error Error::as_unresolved() && {
  unresolved_ = true;
  return std::move(*this);
}

Error Error::as_no_room(int code) && {
  no_room_ = code == ENOSPC || code == EDQUOT || code == EFBIG || code == EROFS;
  return std::move(*this);
}

std::string Error::render() const {
  std::string out;
  for (auto it = context_.rbegin(); it != context_.rend(); ++it) {
    out += *it;
    out += ": ";
  }
  out += message_;
  return out;
}

bool Error::is_retryable() const {
  switch (kind_) {
    case ErrorKind::conflict:
    case ErrorKind::rate_limited:
    case ErrorKind::timeout:
    case ErrorKind::unavailable:
    case ErrorKind::unreachable: return true;
    default: return false;
  }
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal: return "internal";
    case ErrorKind::invalid: return "invalid";
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::conflict: return "conflict";
    case ErrorKind::already_exists: return "already_exists";
    case ErrorKind::gone: return "gone";
    case ErrorKind::unauthorized: return "unauthorized";
    case ErrorKind::forbidden: return "forbidden";
    case ErrorKind::rate_limited: return "rate_limited";
    case ErrorKind::too_large: return "too_large";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::unreachable: return "unreachable";
    case ErrorKind::canceled: return "canceled";
  }
  return "unknown";
}

}  // namespace kubewatch::base
