// Formats lines; spdlog only carries them to stderr.
#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>

#include "base/json.hpp"
#include "base/log_level.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"

namespace kubewatch::base {

namespace {

struct LogState {
  LogOptions options;
  std::vector<std::string>* capture = nullptr;
  std::shared_ptr<spdlog::logger> sink;
};

LogState& state() {
  static LogState instance;
  return instance;
}

std::string now() {
  // The clock of a log line is part of writing it; no decision depends on it.
  const auto at = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  std::string text = format_rfc3339_micro(at);
  return text.substr(0, text.size() - 4) + "Z";
}

std::string quoted_value(const std::string& value) {
  const std::string safe = escape_for_terminal(value);
  const bool plain = !safe.empty() && safe.find_first_of(" \t\"=\\") == std::string::npos;
  if (plain) return safe;
  std::string out = "\"";
  for (const char c : safe) {
    if (c == '"') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

std::string text_line(std::string_view name, std::string_view color, std::string_view message,
                      const LogFields& fields) {
  const bool colored = state().options.color && !color.empty();
  std::string out = now();
  out += ' ';
  out += colored ? fmt::format("\x1b[{}m{:<5}\x1b[0m", color, name) : fmt::format("{:<5}", name);
  out += ' ';
  out += escape_for_terminal(message);
  // Appended, not formatted: each run of a hook writes a line of eight fields.
  for (const auto& [key, value] : fields) {
    out += ' ';
    out += escape_for_terminal(key);
    out += '=';
    out += quoted_value(value);
  }
  return out;
}

std::string json_line(std::string_view level, int verbosity, std::string_view message,
                      const LogFields& fields) {
  nlohmann::ordered_json out;
  out["time"] = now();
  out["level"] = level;
  if (verbosity > 0) out["v"] = verbosity;
  out["msg"] = message;
  for (const auto& [key, value] : fields) {
    std::string name(key);
    while (out.contains(name)) name += '_';
    out[name] = value;
  }
  // ASCII only: terminals see no control characters either way.
  return out.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

void write_line(const std::string& line) {
  LogState& log_state = state();
  if (log_state.capture != nullptr) {
    log_state.capture->push_back(line);
    return;
  }
  if (log_state.sink == nullptr) {
    log_state.sink = std::make_shared<spdlog::logger>(
        "kubewatch", std::make_shared<spdlog::sinks::stderr_sink_st>());
    log_state.sink->set_pattern("%v");
    log_state.sink->flush_on(spdlog::level::trace);
  }
  log_state.sink->log(spdlog::level::info, spdlog::string_view_t(line));
}

struct LevelName {
  std::string_view text;
  std::string_view json;
  std::string_view color;
};

LevelName name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error: return {"ERROR", "error", "31"};
    case LogLevel::warn: return {"WARN", "warn", "33"};
    case LogLevel::info: break;
  }
  return {"INFO", "info", ""};
}

int number_of(LogLevel level) {
  switch (level) {
    case LogLevel::error: return kLogErrors;
    case LogLevel::warn: return kLogWarnings;
    case LogLevel::info: break;
  }
  return kLogInfo;
}

bool is_wanted(int level, const LogFields& fields, LogPlace at) {
  const LogOptions& options = state().options;
  if (options.filter.empty()) return level <= options.verbosity;
  std::string_view controller;
  for (const auto& [key, value] : fields) {
    if (key == "controller") controller = value;
  }
  return level <= options.filter.level(room_of(at), controller, options.verbosity);
}

}  // namespace

void configure_log(const LogOptions& options) {
  state().options = options;
}

void set_log_verbosity(int verbosity) {
  state().options.verbosity = verbosity;
  state().options.filter.forget_rest();
}

int general_log_verbosity() {
  return state().options.filter.level("", "", state().options.verbosity);
}

int log_verbosity() {
  return state().options.filter.highest(state().options.verbosity);
}

void log(LogLevel level, std::string_view message, const LogFields& fields, LogPlace at) {
  if (!is_wanted(number_of(level), fields, at)) return;
  const LevelName name = name_of(level);
  write_line(state().options.format == LogFormat::json
                 ? json_line(name.json, 0, message, fields)
                 : text_line(name.text, name.color, message, fields));
}

void vlog(int level, std::string_view message, const LogFields& fields, LogPlace at) {
  if (!is_wanted(level, fields, at)) return;
  write_line(state().options.format == LogFormat::json
                 ? json_line("debug", level, message, fields)
                 : text_line(fmt::format("V{}", level), "2", message, fields));
}

void capture_log(std::vector<std::string>* lines) {
  state().capture = lines;
}

}  // namespace kubewatch::base
