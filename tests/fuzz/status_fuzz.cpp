// Any answer of a server as an Error: it names something, its numbers are within bounds, and the
// same body means the same in a stream. The first two bytes choose the HTTP code and the header.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/status.hpp"

namespace {

constexpr int kCodes[] = {400, 401, 403, 404, 405, 406, 408, 409, 410, 413,
                          415, 422, 429, 500, 502, 503, 504, 418, 599};
constexpr const char* kRetryAfter[] = {
    "", "1", "0", "-1", "99999999", "soon", "99999999999999999999", " 7 "};
constexpr int kDay = 24 * 3600;

void check(const kubewatch::base::Error& error) {
  if (error.render().empty()) std::abort();
  if (const auto* status = error.status(); status != nullptr) {
    if (status->code < 0 || status->code > 999) std::abort();
    const auto retry = status->retry_after_seconds;
    if (retry && (*retry < 0 || *retry > kDay)) std::abort();
  }
  for (const auto& cause : kubewatch::core::causes_of(error)) {
    if (cause.reason == "ResourceVersionTooLarge" &&
        !kubewatch::core::is_resource_version_too_large(error)) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int code = kCodes[data[0] % std::size(kCodes)];
  const char* header = kRetryAfter[data[1] % std::size(kRetryAfter)];
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto answered = kubewatch::core::error_from_response(code, body, header);
  if (answered.status() == nullptr || answered.status()->code != code) std::abort();
  check(answered);
  check(kubewatch::core::error_from_status_json(body));
  return 0;
}
