// YAML from anywhere: it is read or refused, what was read is the same after being written and read
// again, and text that is JSON as well is the same by both readers.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "base/yaml_document.hpp"

namespace {

using namespace kubewatch;

// In a string of JSON they are characters, in one of YAML they end a line.
bool has_line_ends_of_yaml(std::string_view text) {
  for (const std::string_view end : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    if (text.find(end) != std::string_view::npos) return true;
  }
  return false;
}

// With positions the YAML reader comes first, without them that of JSON.
void check_both_readers(std::string_view text, const Result<std::vector<Json>>& values) {
  if (has_line_ends_of_yaml(text)) return;
  const auto documents = base::parse_yaml(text);
  if (documents.ok() != values.ok()) std::abort();
  if (!values.ok()) return;
  if (documents->size() != values->size()) std::abort();
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Json& one = (*values)[i];
    const Json& other = (*documents)[i].value;
    if (one != other || base::dump_json(one) != base::dump_json(other)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto values = base::parse_yaml_values(text);
  check_both_readers(text, values);
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
