#include "apiserver/own_pages.hpp"

#include <fmt/format.h>

#include "apiserver/status.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

namespace {

Error fault_of(int status, std::size_t most_body_bytes) {
  switch (status) {
    case 413:
      return api_error(413, "RequestEntityTooLarge",
                       fmt::format("Request entity too large: limit is {}", most_body_bytes),
                       std::nullopt);
    case 417:
      return api_error(417, "", "the server does not know what the request expects", std::nullopt);
    case 501: return method_not_allowed();
    default: return bad_request("the request cannot be read");
  }
}

}  // namespace

std::function<http::OwnPage(int)> own_pages(std::size_t most_body_bytes) {
  return [most_body_bytes](int status) {
    const Error fault = fault_of(status, most_body_bytes);
    return http::OwnPage{status_code(fault), "application/json",
                         base::dump_json(status_json(fault)) + "\n"};
  };
}

}  // namespace kubewatch::apiserver
