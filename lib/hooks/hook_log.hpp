// Standard error of one run, or its standard output where that is for the log alone, as log lines:
// with the fields of the run, secrets masked, floods cut, held back where the run may yet tell
// secrets. Writes to the log, nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "hooks/line_tail.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

// Lets through a burst and then a rate; counts the rest. Pure.
class LineLimit {
 public:
  // As a base::TokenBucket.
  LineLimit(double burst, Duration per) : bucket_(burst, per) {}
  bool admit(TimePoint now);
  std::uint64_t dropped() const { return dropped_; }
  // As dropped(), since the last time.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }

 private:
  base::TokenBucket bucket_;
  std::uint64_t dropped_ = 0;
};

// A line as a LineSplitter gave it: where it was cut, or its writer was ended in it (`cut`), what
// may be the beginning of a secret goes with the secrets.
std::string masked_line(const SecretMask& mask, std::string_view line, bool cut = false);

class HookLog {
 public:
  // With `hold` lines wait until release() brings a mask that knows what the run printed. `stream`
  // is what the lines say they come from; so many of them may come at once.
  HookLog(base::LogFields fields, SecretMask mask, bool hold, std::string stream = "stderr",
          double burst = 500);
  // `cut`: its writer was ended in it.
  void line(std::string_view text, TimePoint now, bool cut = false);
  // A warning with what the hook said on stdout, masked; nothing while lines are held.
  void warn(std::string_view message, std::string_view text) const;
  void release(const SecretMask& mask, TimePoint now);
  // Instead of release(): drops the lines that wait, and those that come yet. Gives what it said of
  // it in the log, "" where no line waits.
  std::string withhold(const SecretMask& mask, const std::string& why);
  // The run is over: tells how much was left out, where lines are held once they are released.
  void end();
  // Masked by the newest mask, as the tail is: for messages.
  std::string last_line() const;
  // Its last lines, masked: for the list of runs.
  std::string tail() const;
  const base::LogFields& fields() const { return fields_; }

 private:
  void log(std::string_view text, TimePoint now, bool cut);
  void tell_left_out(std::uint64_t count, const char* why) const;

  base::LogFields fields_;
  SecretMask mask_;
  LineLimit limit_;
  LineTail::Line last_line_;  // as it came: most are never shown, and masks learn
  LineTail tail_;             // as they came
  bool hold_;
  bool withheld_ = false;
  bool ended_ = false;
  std::vector<LineTail::Line> held_;
  std::size_t held_bytes_ = 0;
  std::size_t too_many_ = 0;
};

}  // namespace kubewatch::hooks
