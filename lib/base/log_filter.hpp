// What --log-filter says: how much is logged of each room of the program and of each controller.
// "warn,runtime=debug,http=off,controller/website=6": later entries win, a controller's over its
// room's, a level alone is for the rest. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::base {

// Lines up to this level appear: 1 to 10 are -v's.
inline constexpr int kLogOff = -3;
inline constexpr int kLogErrors = -2;
inline constexpr int kLogWarnings = -1;
inline constexpr int kLogInfo = 0;
inline constexpr int kLogDebug = 6;
inline constexpr int kLogTrace = 10;

class LogFilter {
 public:
  // Errors: invalid, naming the entry and what is known.
  static Result<LogFilter> parse(std::string_view text);

  bool empty() const { return !rest_ && entries_.empty(); }
  // The highest level of a line that appears; `rest`: what holds without a filter.
  int level(std::string_view room, std::string_view controller, int rest) const;
  // The highest level that any line may have.
  int highest(int rest) const;
  // What holds without a filter holds for the rest from now on; rooms and controllers stay.
  void forget_rest() { rest_.reset(); }

 private:
  struct Entry {
    std::string name;
    bool controller = false;
    int level = kLogInfo;
  };
  std::optional<int> rest_;
  std::vector<Entry> entries_;
};

// The folder of a source file: ".../lib/runtime/store.cpp" -> "runtime", ".../cli/app.cpp" ->
// "cli", "" for others.
std::string_view room_of(std::string_view source_file);

}  // namespace kubewatch::base
