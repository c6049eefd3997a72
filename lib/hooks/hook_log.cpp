// Holding, masking, limiting.
#include "hooks/hook_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/cut_text.hpp"
#include "base/strings.hpp"
#include "loop/lines.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxHeld = 1U << 20U;  // of stderr that waits for its mask
constexpr Duration kOneLinePer{10};
constexpr std::size_t kMaxLastLine = 300;

}  // namespace

std::string masked_line(const SecretMask& mask, std::string_view line, bool cut) {
  const std::size_t words = loop::cut_words_at(line);
  if (words == std::string_view::npos) return cut ? mask.mask_cut(line) : mask.mask(line);
  return mask.mask_cut(line.substr(0, words)) + std::string(line.substr(words));
}

bool LineLimit::admit(TimePoint now) {
  if (bucket_.level(now) < 1) {
    ++dropped_;
    return false;
  }
  bucket_.take(now);
  return true;
}

HookLog::HookLog(base::LogFields fields, SecretMask mask, bool hold, std::string stream,
                 double burst)
    : fields_(std::move(fields)), mask_(std::move(mask)), limit_(burst, kOneLinePer), hold_(hold) {
  // So that a hook cannot pass its lines off as ours.
  fields_.emplace_back("stream", std::move(stream));
}

void HookLog::line(std::string_view text, TimePoint now, bool cut) {
  if (withheld_) return;
  if (!hold_) return log(text, now, cut);
  if (held_bytes_ + text.size() > kMaxHeld) {
    ++too_many_;
    return;
  }
  held_bytes_ += text.size();
  held_.push_back({std::string(text), cut});
}

void HookLog::warn(std::string_view message, std::string_view text) const {
  if (hold_) return;
  base::LogFields fields = fields_;
  fields.back().second = "stdout";
  fields.emplace_back("text", mask_.mask(text));
  base::log_warn(message, fields);
}

void HookLog::release(const SecretMask& mask, TimePoint now) {
  mask_ = mask;
  if (hold_) {
    hold_ = false;
    for (const LineTail::Line& line : held_) log(line.text, now, line.cut);
    held_.clear();
    held_bytes_ = 0;
    tell_left_out(std::exchange(too_many_, 0), "too long together");
  }
  if (ended_) tell_left_out(limit_.take_dropped(), "too many");
}

std::string HookLog::withhold(const SecretMask& mask, const std::string& why) {
  mask_ = mask;
  withheld_ = true;
  const std::size_t lines = std::exchange(held_, {}).size() + std::exchange(too_many_, 0);
  if (lines == 0) return "";
  const std::string said = lines == 1
                               ? "1 line of stderr is withheld: " + why
                               : std::to_string(lines) + " lines of stderr are withheld: " + why;
  base::log_warn(said, fields_);
  tail_.add("(" + said + ")");
  return said;
}

std::string HookLog::last_line() const {
  if (last_line_.text.empty()) return "";
  return base::cut_text(masked_line(mask_, last_line_.text, last_line_.cut), kMaxLastLine);
}

// Line by line where they were cut, and together: a value may have several lines.
std::string HookLog::tail() const {
  std::string out;
  for (const LineTail::Line& line : tail_.lines()) {
    out += (line.cut ? mask_.mask_cut(line.text) : line.text) + "\n";
  }
  return out.empty() ? out : mask_.mask(out);
}

void HookLog::log(std::string_view text, TimePoint now, bool cut) {
  if (!base::trim(text).empty()) last_line_ = {std::string(text), cut};
  tail_.add(std::string(text), cut);
  if (limit_.admit(now)) base::log_info(masked_line(mask_, text, cut), fields_);
}

// What is held goes through the limit only when it is released.
void HookLog::end() {
  ended_ = true;
  if (!hold_) tell_left_out(limit_.take_dropped(), "too many");
}

void HookLog::tell_left_out(std::uint64_t count, const char* why) const {
  if (count == 0) return;
  base::log_warn(fmt::format("{} line{} of {} {} left out: {}", count, count == 1 ? "" : "s",
                             fields_.back().second, count == 1 ? "was" : "were", why),
                 fields_);
}

}  // namespace kubewatch::hooks
