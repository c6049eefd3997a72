#include "runtime/watcher_answers.hpp"

#include "core/status.hpp"

namespace kubewatch::runtime {

namespace {

// An answer that is none of an API server: a proxy's page, half a list.
bool is_no_answer(const Error& error) {
  return error.kind() == ErrorKind::unavailable && error.status() == nullptr;
}

}  // namespace

bool usable_version(const std::string& resource_version) {
  return !resource_version.empty() && resource_version != "0";
}

bool version_is_useless(const Error& error) {
  return error.is_gone() || core::is_resource_version_too_large(error);
}

bool refuses_request(const Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::unsupported ||
         is_no_answer(error);
}

bool may_be_of_version(const Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::internal ||
         is_no_answer(error) || error.kind() == ErrorKind::too_large ||
         (error.status() != nullptr && error.status()->code == 500);
}

bool is_away(const Error& error) {
  const int code = error.status() == nullptr ? 0 : error.status()->code;
  return error.is_unreachable() || error.kind() == ErrorKind::timeout ||
         (code >= 502 && code <= 504);
}

}  // namespace kubewatch::runtime
