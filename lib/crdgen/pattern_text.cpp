// A text that a simple regular expression matches: the first alternative of everything, repeated
// as often as a length asks for.
#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "crdgen/sample.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::size_t kMaxRepeat = 4096;

class PatternText {
 public:
  // Optional repetitions are written `extra` times beyond what they must.
  PatternText(const std::string& pattern, std::size_t extra) : pattern_(pattern), extra_(extra) {}

  std::optional<std::string> make() {
    std::string out = alternatives(0);
    if (failed_ || at_ != pattern_.size()) return std::nullopt;
    return out;
  }

 private:
  bool more() const { return at_ < pattern_.size() && !failed_; }

  std::string alternatives(int depth) {
    if (depth > 50) failed_ = true;
    std::string first = sequence(depth);
    while (more() && pattern_[at_] == '|') {
      ++at_;
      const std::string other = sequence(depth);
      if (first.empty()) first = other;
    }
    return first;
  }

  std::string sequence(int depth) {
    std::string out;
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      const std::string one = atom(depth);
      out += repeated(one);
      if (out.size() > kMaxRepeat) failed_ = true;
    }
    return out;
  }

  std::string atom(int depth) {
    const char c = pattern_[at_++];
    if (c == '^' || c == '$') return "";
    if (c == '.') return "a";
    if (c == '[') return set();
    if (c == '\\') return escape();
    if (c != '(') return std::string(1, c);
    if (more() && pattern_[at_] == '?' && !flags()) return "";
    std::string out = alternatives(depth + 1);
    if (!more() || pattern_[at_] != ')') failed_ = true;
    ++at_;
    return out;
  }

  // "?i:" of a group, of which a text that matches as it stands has no need. False: it was "?i)",
  // which is no group, or nothing that is known.
  bool flags() {
    ++at_;
    while (more() && std::string_view("imsU-").find(pattern_[at_]) != std::string_view::npos) ++at_;
    const char end = more() ? pattern_[at_++] : '\0';
    if (end != ':' && end != ')') failed_ = true;
    return end == ':';
  }

  std::string escape() {
    if (!more()) {
      failed_ = true;
      return "";
    }
    const char c = pattern_[at_++];
    if (c == 'd') return "0";
    if (c == 'w') return "a";
    if (c == 's') return " ";
    if (c == 'A' || c == 'z' || c == 'b') return "";
    if (base::is_alphanumeric(c)) failed_ = true;
    return std::string(1, c);
  }

  // One character of a class; letters and digits are preferred.
  std::string set() {
    const bool negated = more() && pattern_[at_] == '^';
    if (negated) ++at_;
    std::string members;
    bool first = true;
    while (more() && (pattern_[at_] != ']' || first)) {
      first = false;
      if (pattern_[at_] == '\\') {
        ++at_;
        members += escape();
        continue;
      }
      const char low = pattern_[at_++];
      if (at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
        const char high = pattern_[at_ + 1];
        at_ += 2;
        for (int c = low; c <= high && negated; ++c) members += static_cast<char>(c);
      }
      members += low;
    }
    ++at_;
    if (!negated) return pick(members);
    for (const char c : std::string("a0b1-_.x ")) {
      if (members.find(c) == std::string::npos) return std::string(1, c);
    }
    failed_ = true;
    return "";
  }

  std::string pick(const std::string& members) {
    for (const char c : members) {
      if (base::is_alphanumeric(c)) {
        return std::string(1, c);
      }
    }
    if (members.empty()) failed_ = true;
    return members.substr(0, 1);
  }

  std::size_t number() {
    std::size_t out = 0;
    while (more() && base::is_digit(pattern_[at_]) && out < kMaxRepeat) {
      out = out * 10 + static_cast<std::size_t>(pattern_[at_++] - '0');
    }
    return out;
  }

  std::string repeated(const std::string& one) {
    if (!more()) return one;
    std::size_t least = 1;
    std::size_t most = 1;
    const char c = pattern_[at_];
    if (c == '*' || c == '+' || c == '?') {
      ++at_;
      least = c == '+' ? 1 : 0;
      most = c == '?' ? 1 : kMaxRepeat;
    } else if (c == '{') {
      ++at_;
      least = most = number();
      if (more() && pattern_[at_] == ',') {
        ++at_;
        most = pattern_[at_] == '}' ? kMaxRepeat : number();
      }
      if (!more() || pattern_[at_++] != '}') failed_ = true;
    }
    if (more() && pattern_[at_] == '?') ++at_;
    std::string out;
    const std::size_t times = std::min(most, least + extra_);
    for (std::size_t i = 0; i < times && out.size() <= kMaxRepeat; ++i) out += one;
    return out;
  }

  const std::string& pattern_;
  std::size_t extra_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::string text_for_pattern(const std::string& pattern, std::size_t min, std::size_t max) {
  std::string best;
  for (std::size_t extra = 0; extra <= 64; extra = extra * 2 + 1) {
    const auto text = PatternText(pattern, extra).make();
    if (!text) return "";
    if (text->size() > max) break;
    best = *text;
    if (best.size() >= min && !best.empty()) return best;
  }
  return best.size() >= min ? best : "";
}

}  // namespace kubewatch::crdgen
