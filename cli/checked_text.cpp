// FNV-1a, as everywhere in saved files: it finds what a disk broke, and is no defence.
#include "cli/checked_text.hpp"

#include <fmt/format.h>

#include "base/fnv.hpp"

namespace kubewatch::cli {

namespace {

std::string mark_of(std::string_view json) {
  return fmt::format("#{:016x}", base::fnv1a64(json));
}

}  // namespace

std::string with_checksum(std::string json) {
  json += mark_of(json);
  return json;
}

std::optional<std::string_view> checked_text(std::string_view text) {
  if (text.size() < kChecksumSize) return std::nullopt;
  const std::string_view json = text.substr(0, text.size() - kChecksumSize);
  if (text.substr(json.size()) != mark_of(json)) return std::nullopt;
  return json;
}

}  // namespace kubewatch::cli
