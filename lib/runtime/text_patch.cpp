#include "runtime/text_patch.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/json_scan.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kMeet = 12;         // bytes that must agree where two texts meet again
constexpr std::size_t kPlaces = 24;       // punctuation looked at on each side
constexpr std::size_t kMostSteps = 1000;  // more: the texts are not alike, and looking costs time
constexpr std::size_t kMostFar = 16;      // of these
constexpr std::size_t kUsualPatch = 512;  // bytes: of two Pods of a Deployment

void put(std::string& out, std::size_t number) {
  for (; number >= 0x80; number >>= 7U) out.push_back(static_cast<char>(number | 0x80U));
  out.push_back(static_cast<char>(number));
}

class PatchReader {
 public:
  explicit PatchReader(std::string_view bytes) : left_(bytes) {}
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
    if (x == y) continue;
    if constexpr (std::endian::native != std::endian::little) break;
    return at + static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

// The places of punctuation in a text, found as they are asked for: mostly the first will do.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}
  // False: there are not so many.
  bool has(std::size_t index) {
    while (found_ <= index) {
      const std::size_t at = core::find_json_punctuation(text_, next_);
      if (at == text_.size()) return false;
      at_[found_] = at;
      begins_[found_++] = begin(text_.substr(at));
      next_ = at + 1;
    }
    return true;
  }
  std::size_t at(std::size_t index) const { return at_[index]; }
  // The first bytes there: what differs mostly does so in them.
  std::uint64_t begins(std::size_t index) const { return begins_[index]; }

 private:
  static std::uint64_t begin(std::string_view bytes) {
    std::uint64_t out = 0;
    if (bytes.size() < sizeof out) {
      std::memcpy(&out, bytes.data(), bytes.size());
    } else {
      std::memcpy(&out, bytes.data(), sizeof out);  // a size that is known is no call
    }
    return out;
  }

  std::string_view text_;
  std::size_t next_ = 0;
  std::size_t found_ = 0;
  // Not set to anything: made for each difference, and mostly one entry is used.
  std::size_t at_[kPlaces];
  std::uint64_t begins_[kPlaces];
};

// Where base and text agree again, in bytes from where they are.
struct Meeting {
  std::size_t base, text;
};

// Among the next few places of punctuation.
std::optional<Meeting> near_meeting(std::string_view base, std::string_view text) {
  Places in_base(base), in_text(text);
  std::size_t base_places = kPlaces, text_places = kPlaces;
  for (std::size_t sum = 0; sum + 1 < base_places + text_places; ++sum) {
    const std::size_t first = sum < base_places ? 0 : sum - base_places + 1;
    for (std::size_t t = first; t <= sum && t < text_places; ++t) {
      const std::size_t b = sum - t;
      if (!in_base.has(b)) base_places = b;
      if (!in_text.has(t)) text_places = t;
      if (b >= base_places || t >= text_places || in_base.begins(b) != in_text.begins(t)) continue;
      const std::size_t base_at = in_base.at(b), text_at = in_text.at(t);
      if (base.substr(base_at, kMeet) == text.substr(text_at, kMeet)) {
        return Meeting{base_at, text_at};
      }
    }
  }
  return std::nullopt;
}

// Every comma of a base by the bytes that follow, for texts that meet it again only behind a whole
// value that one of them lacks.
class FarCommas {
 public:
  explicit FarCommas(std::string_view base) : base_(base) {}

  // As near as can be found from `base_from` on, which never goes back. `text` begins where the two
  // differ.
  std::optional<Meeting> meeting(std::size_t base_from, std::string_view text) {
    if (heads_.empty()) fill();
    std::optional<Meeting> best;
    for (std::size_t at = text.find(','); at < text.size() && text.size() - at >= kFarMeet;
         at = text.find(',', at + 1)) {
      if (best && at >= best->base + best->text) break;
      const std::string_view wanted = text.substr(at, kFarMeet);
      std::uint32_t& head = heads_[slot_of(wanted)];
      while (head != 0 && commas_[head - 1].at < base_from) head = commas_[head - 1].next;
      for (std::uint32_t entry = head; entry != 0; entry = commas_[entry - 1].next) {
        if (looks_left_ == 0) return best;
        --looks_left_;
        const Comma& comma = commas_[entry - 1];
        if (base_.substr(comma.at, kFarMeet) != wanted) continue;
        const Meeting found{comma.at - base_from, at};
        if (!best || found.base + found.text < best->base + best->text) best = found;
        break;  // the others stand behind it
      }
      if (looks_left_ == 0) return best;
      --looks_left_;
    }
    return best;
  }

 private:
  static constexpr std::size_t kFarMeet = 24;  // a chance meeting far away costs more than none
  static constexpr std::size_t kMostLooks =
      20000;  // a millisecond: hostile texts must not take more
  struct Comma {
    std::uint32_t at, next;  // next: its number and one; 0 for none
  };

  std::size_t slot_of(std::string_view bytes) const {
    std::uint64_t parts[kFarMeet / 8];
    std::memcpy(parts, bytes.data(), sizeof parts);
    std::uint64_t hash = 0;
    for (const std::uint64_t part : parts) hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
    return hash >> shift_;
  }
  // From the end, so that the first place of the same bytes is the first one found.
  void fill() {
    const std::size_t about = base_.size() / 16;  // of JSON's bytes that many are commas
    while (shift_ > 50 && (std::size_t{1} << (64U - shift_)) < about) --shift_;
    heads_.assign(std::size_t{1} << (64U - shift_), 0);
    commas_.reserve(about);
    for (std::size_t at = base_.size(); at-- > 0;) {
      if (base_[at] != ',' || at + kFarMeet > base_.size()) continue;
      std::uint32_t& head = heads_[slot_of(base_.substr(at, kFarMeet))];
      commas_.push_back({static_cast<std::uint32_t>(at), head});
      head = static_cast<std::uint32_t>(commas_.size());
    }
  }

  std::string_view base_;
  std::size_t looks_left_ = kMostLooks;
  unsigned shift_ = 56;  // of a hash, so that its upper bits are the slot
  std::vector<std::uint32_t> heads_;
  std::vector<Comma> commas_;
};

}  // namespace

std::string make_patch(std::string_view base, std::string_view text) {
  std::string steps, inserted;
  steps.reserve(kUsualPatch);
  inserted.reserve(kUsualPatch);
  std::size_t count = 0, far = 0;
  FarCommas far_commas(base);
  const std::size_t whole = base.size();
  while (true) {
    const std::size_t copy = common_prefix(base, text);
    base.remove_prefix(copy);
    text.remove_prefix(copy);
    if (base.empty() && text.empty()) break;
    Meeting meeting{base.size(), text.size()};
    if (count < kMostSteps) {
      auto found = near_meeting(base, text);
      if (!found && far++ < kMostFar) found = far_commas.meeting(whole - base.size(), text);
      if (found) meeting = *found;
    }
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
  out.reserve(steps.size() + inserted.size() + 8);
  put(out, count);
  return out.append(steps).append(inserted);
}

bool apply_patch(std::string_view base, std::string_view patch, std::size_t size,
                 std::string& out) {
  out.clear();
  out.reserve(size);
  PatchReader head(patch);
  const auto count = head.number();
  if (!count) return false;
  // The inserted bytes stand behind the steps: found by reading over them.
  PatchReader steps = head;
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
