#include "runtime/text_patch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kMeet = 12;         // bytes that must agree where two texts meet again
constexpr std::size_t kPlaces = 24;       // punctuation looked at on each side
constexpr std::size_t kMostSteps = 1000;  // more: the texts are not alike, and looking costs time

void put(std::string& out, std::size_t number) {
  for (; number >= 0x80; number >>= 7U) out.push_back(static_cast<char>(number | 0x80U));
  out.push_back(static_cast<char>(number));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  // Absent at the end, or when the number has no end.
  std::optional<std::size_t> number() {
    std::size_t out = 0;
    for (unsigned shift = 0; shift < 35 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      out |= static_cast<std::size_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return out;
    }
    return std::nullopt;
  }
  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + 8 <= most; at += 8) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, 8);
    std::memcpy(&y, b.data() + at, 8);
    if (x != y) break;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

constexpr auto kPunctuation = [] {
  std::array<bool, 256> out{};
  for (const char c : {'"', ',', '}', ']', '{', '[', ':'})
    out[static_cast<unsigned char>(c)] = true;
  return out;
}();

// The places of punctuation in a text, found as they are asked for: mostly the first will do.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}
  // npos when there are not so many.
  std::size_t operator[](std::size_t index) {
    while (found_ <= index) {
      while (at_ < text_.size() && !kPunctuation[static_cast<unsigned char>(text_[at_])]) ++at_;
      if (at_ == text_.size()) return std::string_view::npos;
      places_[found_++] = at_++;
    }
    return places_[index];
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t found_ = 0;
  std::size_t places_[kPlaces];
};

// Where base and text agree again, as near as can be found; the ends when nowhere.
struct Meeting {
  std::size_t base, text;
};

Meeting next_meeting(std::string_view base, std::string_view text) {
  Places in_base(base), in_text(text);
  std::size_t base_places = kPlaces, text_places = kPlaces;
  for (std::size_t sum = 0; sum + 1 < base_places + text_places; ++sum) {
    const std::size_t first = sum < base_places ? 0 : sum - base_places + 1;
    for (std::size_t t = first; t <= sum && t < text_places; ++t) {
      const std::size_t b = sum - t;
      const std::size_t text_at = in_text[t], base_at = in_base[b];
      if (text_at == std::string_view::npos) text_places = t;
      if (base_at == std::string_view::npos) base_places = b;
      if (text_at == std::string_view::npos || base_at == std::string_view::npos) continue;
      if (base.substr(base_at, kMeet) == text.substr(text_at, kMeet)) return {base_at, text_at};
    }
  }
  return {base.size(), text.size()};
}

}  // namespace

std::string make_patch(std::string_view base, std::string_view text) {
  std::string steps, inserted;
  std::size_t count = 0;
  while (true) {
    const std::size_t copy = common_prefix(base, text);
    base.remove_prefix(copy);
    text.remove_prefix(copy);
    if (base.empty() && text.empty()) break;
    Meeting meeting{base.size(), text.size()};
    if (count < kMostSteps) meeting = next_meeting(base, text);
    // What agrees before the place they meet at was no difference.
    while (meeting.base > 0 && meeting.text > 0 &&
           base[meeting.base - 1] == text[meeting.text - 1]) {
      --meeting.base;
      --meeting.text;
    }
    put(steps, copy);
    put(steps, meeting.base);
    put(steps, meeting.text);
    inserted.append(text.substr(0, meeting.text));
    base.remove_prefix(meeting.base);
    text.remove_prefix(meeting.text);
    ++count;
  }
  std::string out;
  put(out, count);
  return out.append(steps).append(inserted);
}

bool apply_patch(std::string_view base, std::string_view patch, std::size_t size,
                 std::string& out) {
  out.clear();
  out.reserve(size);
  Reader head(patch);
  const auto count = head.number();
  if (!count) return false;
  // The inserted bytes stand behind the steps: found by reading over them.
  Reader steps = head;
  for (std::size_t i = 0; i < *count; ++i) {
    for (int part = 0; part < 3; ++part) {
      if (!head.number()) return false;
    }
  }
  std::string_view inserted = head.rest();
  for (std::size_t i = 0; i < *count; ++i) {
    const std::size_t copy = *steps.number(), skip = *steps.number(), insert = *steps.number();
    if (copy > base.size() || skip > base.size() - copy || insert > inserted.size()) return false;
    if (copy + insert > size - out.size()) return false;
    out.append(base.substr(0, copy)).append(inserted.substr(0, insert));
    base.remove_prefix(copy + skip);
    inserted.remove_prefix(insert);
  }
  if (!inserted.empty() || base.size() != size - out.size()) return false;
  out.append(base);
  return true;
}

}  // namespace kubewatch::runtime
