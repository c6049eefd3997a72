#include "base/log_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::base {
namespace {

constexpr std::string_view kController = "controller/";
constexpr std::array<std::string_view, 16> kRooms = {
    "apiserver", "base",  "builtin", "cel", "cli",  "client",    "compat",  "core",
    "crdgen",    "hooks", "http",    "jq",  "loop", "rehearsal", "runtime", "schema"};
constexpr std::size_t kMostEntries = 100;

std::optional<int> level_of(std::string_view text) {
  if (text == "off") return kLogOff;
  if (text == "error") return kLogErrors;
  if (text == "warn") return kLogWarnings;
  if (text == "info") return kLogInfo;
  if (text == "debug") return kLogDebug;
  if (text == "trace") return kLogTrace;
  if (text == "10") return kLogTrace;
  if (text.size() == 1 && is_digit(text[0])) return text[0] - '0';
  return std::nullopt;
}

Error wrong(std::string_view entry, const std::string& problem) {
  return Error(ErrorKind::invalid, fmt::format("log filter \"{}\": {}", entry, problem));
}

Result<int> parse_level(std::string_view entry, std::string_view text) {
  if (const auto level = level_of(text)) return *level;
  return wrong(entry, fmt::format("\"{}\" is no level (known: off, error, warn, info, debug, "
                                  "trace, 0 to 10)",
                                  text));
}

std::string known_rooms() {
  std::string out;
  for (const std::string_view room : kRooms) out += (out.empty() ? "" : ", ") + std::string(room);
  return out;
}

}  // namespace

Result<LogFilter> LogFilter::parse(std::string_view text) {
  LogFilter out;
  for (const std::string& part : split(text, ',')) {
    const std::string_view entry = trim(part);
    if (entry.empty()) continue;
    if (out.entries_.size() >= kMostEntries) return wrong(entry, "too many entries");
    const std::size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos) {
      KW_ASSIGN(out.rest_, parse_level(entry, entry));
      continue;
    }
    Entry one;
    KW_ASSIGN(one.level, parse_level(entry, trim(entry.substr(equals + 1))));
    const std::string_view name = trim(entry.substr(0, equals));
    one.controller = name.substr(0, kController.size()) == kController;
    one.name = one.controller ? name.substr(kController.size()) : name;
    const bool known = std::find(kRooms.begin(), kRooms.end(), one.name) != kRooms.end();
    if (one.controller ? one.name.empty() : !known) {
      return wrong(entry, fmt::format("\"{}\" is no part of the program (known: {}, "
                                      "controller/NAME)",
                                      name, known_rooms()));
    }
    std::erase_if(out.entries_, [&one](const Entry& other) {
      return other.name == one.name && other.controller == one.controller;
    });
    out.entries_.push_back(std::move(one));
  }
  return out;
}

int LogFilter::level(std::string_view room, std::string_view controller, int rest) const {
  std::optional<int> of_room;
  std::optional<int> of_controller;
  for (const Entry& entry : entries_) {
    if (entry.controller && !controller.empty() && entry.name == controller) {
      of_controller = entry.level;
    }
    if (!entry.controller && entry.name == room) of_room = entry.level;
  }
  if (of_controller) return *of_controller;
  return of_room.value_or(rest_.value_or(rest));
}

int LogFilter::highest(int rest) const {
  int out = rest_.value_or(rest);
  for (const Entry& entry : entries_) out = std::max(out, entry.level);
  return out;
}

std::string_view room_of(std::string_view source_file) {
  std::string_view room;
  std::string_view before;
  for (std::size_t at = 0; at < source_file.size();) {
    const std::size_t slash = source_file.find('/', at);
    if (slash == std::string_view::npos) break;  // the file itself
    const std::string_view folder = source_file.substr(at, slash - at);
    const bool known = std::find(kRooms.begin(), kRooms.end(), folder) != kRooms.end();
    if (known && (folder == "cli" || before == "lib")) room = folder;
    before = folder;
    at = slash + 1;
  }
  return room;
}

}  // namespace kubewatch::base
