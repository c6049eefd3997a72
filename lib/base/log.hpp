// Structured log lines on stderr, text or JSON. The only user of spdlog. Verbosity is kubectl's -v:
// info lines always, vlog(N) lines when -v >= N. Secrets are masked by whoever builds the line
// (P6).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log_filter.hpp"

namespace kubewatch::base {

enum class LogFormat { text, json };
enum class LogLevel { error, warn, info };

struct LogOptions {
  LogFormat format = LogFormat::text;
  int verbosity = 0;
  bool color = false;
  LogFilter filter{};  // by the room that logs, and by the field "controller"
};

using LogField = std::pair<std::string_view, std::string>;
using LogFields = std::vector<LogField>;

// Once, before the first line; without it: text, verbosity 0, no colour.
void configure_log(const LogOptions& options);
// The highest that any line may have.
int log_verbosity();

// Text: "2026-01-02T03:04:05.006Z INFO  message key=value key="two words"", escaped for terminals.
// JSON: {"time","level","msg", fields...}. `at` tells the filter which room it is.
using LogPlace = const char*;  // a source file; clang 14 has no std::source_location
void log(LogLevel level, std::string_view message, const LogFields& fields = {},
         LogPlace at = __builtin_FILE());
// When verbosity >= level; "V6" in place of INFO.
void vlog(int level, std::string_view message, const LogFields& fields = {},
          LogPlace at = __builtin_FILE());

inline void log_info(std::string_view m, const LogFields& f = {}, LogPlace at = __builtin_FILE()) {
  log(LogLevel::info, m, f, at);
}
inline void log_warn(std::string_view m, const LogFields& f = {}, LogPlace at = __builtin_FILE()) {
  log(LogLevel::warn, m, f, at);
}
inline void log_error(std::string_view m, const LogFields& f = {}, LogPlace at = __builtin_FILE()) {
  log(LogLevel::error, m, f, at);
}

// For tests: every line goes there instead of stderr until reset with nullptr.
void capture_log(std::vector<std::string>* lines);

}  // namespace kubewatch::base
