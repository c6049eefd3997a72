// YAML from anywhere: it is read or refused, and what was read is the same after being written and
// read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.hpp"
#include "base/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kubewatch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto values = base::parse_yaml_values(text);
  if (!values.ok()) {
    if (values.error().message().empty()) std::abort();
    return 0;
  }
  for (const Json& value : *values) {
    const auto again = base::parse_yaml_values(base::dump_yaml(value));
    // What is written is larger than what was read, and there are limits.
    if (!again.ok()) {
      if (again.error().kind() == ErrorKind::too_large) continue;
      std::abort();
    }
    // 70.0 of JSON and 70 of YAML are one number; what JSON cannot hold is written as null.
    const bool same =
        again->size() == 1 &&
        (again->front() == value || base::dump_json(again->front()) == base::dump_json(value));
    if (!same) std::abort();
  }
  return 0;
}
