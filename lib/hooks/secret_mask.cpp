// Replaces known secret values by ***. A value is looked for where its first bytes stand, and told
// from the text by a hash: a text may repeat what all values begin with, and must not be compared
// with each of them at each place.
#include "hooks/secret_mask.hpp"

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/object_rules.hpp"
#include "core/server_fields.hpp"
#include "hooks/secret_parts.hpp"
#include "hooks/unquoted.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kShortest = 6;
constexpr std::size_t kMostValues = 20000;  // as they were given: some have another form or two
constexpr std::uint64_t kHeadBits = (std::uint64_t{1} << (8 * kShortest)) - 1;
constexpr unsigned kFilterBits = 16;
constexpr std::size_t kMostLooks = 1U << 16U;  // and two per byte: a value's beginning is rare
constexpr std::size_t kMostAlike = 64;  // values, and bytes of one, that a cut end is held to
constexpr std::string_view kDots = "...";
constexpr std::size_t kTelling = 4;  // fewer bytes before these may as well be a word's own
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();
// Of a polynomial modulo 2^64. Who finds two texts of one hash has a text hidden that need not be.
constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15U;

std::uint64_t byte_of(char c) {
  return static_cast<unsigned char>(c);
}

// In the order of the texts.
std::uint64_t head_of(std::string_view text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < kShortest; ++i) {
    out = (out << 8U) | (i < text.size() ? byte_of(text[i]) : 0);
  }
  return out;
}

std::uint64_t step(std::uint64_t hash, char c) {
  return hash * kBase + byte_of(c) + 1;
}

std::size_t filter_bit(std::uint64_t head) {
  return (head * kBase) >> (64 - kFilterBits);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// As it stands in a string of JSON.
std::string in_json(std::string text) {
  return replaced(replaced(std::move(text), "\\", "\\\\"), "\"", "\\\"");
}

// Of a value that is hardly more than what quoting takes away: what is left of it would be found
// in every text. In a string of JSON, in one of a shell, and one of a shell in one of JSON.
std::vector<std::string> forms_of_marks(std::string_view value) {
  const std::string text(value);
  const std::string json = in_json(text);
  const std::string shell = replaced(text, "'", R"('\'')");
  return {json, in_json(json), replaced(json, "'", "\\'"), shell, in_json(shell)};
}

// Ranges are hidden in the order of their beginnings.
class Cover {
 public:
  explicit Cover(std::string_view text) : text_(text) {}
  void hide(std::size_t begin, std::size_t end) {
    if (begin >= end_) {
      out_ += text_.substr(end_, begin - end_);
      out_ += "***";
    }
    end_ = std::max(end_, end);
  }
  std::size_t end() const { return end_; }
  std::string take() {
    out_ += text_.substr(end_);
    return std::move(out_);
  }

 private:
  std::string_view text_;
  std::string out_;
  std::size_t end_ = 0;
};

}  // namespace

// One text, and what has been looked at in it.
class SecretMask::Text {
 public:
  explicit Text(std::string_view text) : text_(text), looks_(kMostLooks + 2 * text.size()) {}

  // Where the longest value ends that begins at `at`; no further than `covered`: none that matters.
  std::size_t end_of_value(const SecretMask& mask, std::uint64_t head, std::size_t at,
                           std::size_t covered) {
    auto it = mask.values_.lower_bound({head, text_.size() - at, 0});
    while (it != mask.values_.end() && it->first.head == head && at + it->first.size > covered) {
      if (looks_ == 0) return text_.size();
      --looks_;
      const std::size_t size = it->first.size;
      const Place place{head, size, window(at, size, it->second.power)};
      if (it->first.hash == place.hash || mask.values_.contains(place)) return at + size;
      it = mask.values_.upper_bound({head, size, std::numeric_limits<std::uint64_t>::max()});
    }
    return covered;
  }

 private:
  // The hash of a part; those of all beginnings are made when the first is asked for.
  std::uint64_t window(std::size_t at, std::size_t size, std::uint64_t power) {
    if (hashes_.empty()) {
      hashes_.reserve(text_.size() + 1);
      hashes_.push_back(0);
      for (const char c : text_) hashes_.push_back(step(hashes_.back(), c));
    }
    return hashes_[at + size] - hashes_[at] * power;
  }

  std::string_view text_;
  std::vector<std::uint64_t> hashes_;
  std::size_t looks_;
};

void SecretMask::insert(std::string_view value, bool given) {
  if (value.size() < kShortest || overflowed_) return;
  std::uint64_t hash = 0;
  std::uint64_t power = 1;
  for (const char c : value) {
    hash = step(hash, c);
    power *= kBase;
  }
  const std::uint64_t head = head_of(value);
  const Place place{head, value.size(), hash};
  const auto known = values_.find(place);
  const bool counts = given && (known == values_.end() || !known->second.given);
  if (counts && given_ >= kMostValues) {
    overflowed_ = true;
    return;
  }
  if (counts) ++given_;
  if (known != values_.end()) {
    known->second.given = known->second.given || given;
    return;
  }
  values_.emplace(place, Value{power, std::string(value), given});
  note_head(head);
}

void SecretMask::note_head(std::uint64_t head) {
  heads_.resize((std::size_t{1} << kFilterBits) / 64);
  const std::size_t bit = filter_bit(head);
  heads_[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

bool SecretMask::may_begin(std::uint64_t head) const {
  const std::size_t bit = filter_bit(head);
  return ((heads_[bit / 64] >> (bit % 64)) & 1U) != 0;
}

// A value that is too short is no rarer for being quoted.
void SecretMask::insert_with_forms(std::string_view value) {
  if (value.size() < kShortest) return;
  insert(value, true);
  if (!Unquoted::may_differ(value)) return;
  const Unquoted plain(value);
  if (plain.text().size() < kShortest) {
    for (const std::string& form : forms_of_marks(value)) insert(form, false);
    return;
  }
  insert(plain.text(), false);
  // As it stands in JSON, too: what is in front of it may be read as an escape together with it.
  insert(in_json(std::string(value)), false);
}

void SecretMask::add_value(std::string_view value) {
  value = base::trim(value);
  insert_with_forms(value);
  if (value.find('\n') == std::string_view::npos) return;
  for (const std::string& line : base::split(value, '\n')) insert_with_forms(base::trim(line));
}

// Of all that stands there, also where the API wants a map of texts: whoever refuses it quotes it.
void SecretMask::add_scalars(const Json& value, bool encoded) {
  if (value.is_structured()) {
    for (const Json& inner : value) add_scalars(inner, encoded);
    return;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : base::dump_json(value);
  add_value(text);
  if (!encoded) return add_value(base::base64_encode(text));
  if (const auto plain = core::decoded_bytes(text)) add_value(*plain);
}

// A misspelt `stringData` of a Secret holds what that would hold; other kinds have fields of their
// own.
void SecretMask::add_data(const Json& secret) {
  if (!secret.is_object()) return;
  const std::string api_version = base::string_at(secret, {"apiVersion"});
  const bool core =
      base::string_at(secret, {"kind"}) == "Secret" && (api_version.empty() || api_version == "v1");
  for (const auto& item : secret.items()) {
    const std::string& key = item.key();
    const auto map = std::find_if(kSecretMaps.begin(), kSecretMaps.end(),
                                  [&](const SecretMap& one) { return one.key == key; });
    const bool holds = map != kSecretMaps.end();
    const bool known = key == "apiVersion" || key == "kind" || key == "metadata" || key == "type" ||
                       key == "immutable";
    if (holds || (core && !known)) add_scalars(item.value(), holds && map->encoded);
  }
}

void SecretMask::add_object(const Json& object) {
  if (base::string_at(object, {"kind"}) != "Secret") return;
  add_data(object);
  const std::string applied =
      base::string_at(object, {"metadata", "annotations", core::kLastAppliedAnnotation});
  if (applied.empty()) return;
  if (const auto before = base::parse_json(applied); before.ok()) add_data(*before);
}

void SecretMask::add_json(std::string_view object_json) {
  if (object_json.find("\"Secret\"") == std::string_view::npos) return;
  if (auto object = base::parse_json(object_json); object.ok()) add_object(*object);
}

void SecretMask::merge(const SecretMask& other) {
  for (const auto& [place, value] : other.values_) insert(value.text, value.given);
  overflowed_ = overflowed_ || other.overflowed_;
}

bool SecretMask::nearly_full() const {
  return overflowed_ || given_ > kMostValues / 2;
}

// Whether a value begins with all of `end`, and is longer. It may say so of what only looks alike.
bool SecretMask::may_go_on(std::string_view end) const {
  const std::uint64_t head = head_of(end);
  auto it = values_.lower_bound({head, kAnySize, 0});
  if (end.size() < kShortest) {
    const std::size_t behind = 8 * (kShortest - end.size());
    return it != values_.end() && it->first.head >> behind == head >> behind;
  }
  const std::string_view shown = end.substr(0, kMostAlike);
  for (std::size_t tried = 0; it != values_.end() && it->first.head == head; ++it, ++tried) {
    if (it->first.size <= end.size()) return false;
    if (tried == kMostAlike || it->second.text.starts_with(shown)) return true;
  }
  return false;
}

// Where a value may begin that went on behind the text, as it stands; the text's size: nowhere.
std::size_t SecretMask::begun_as_it_stands(std::string_view text) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view end = text.substr(at);
    if (end.size() >= kShortest && !may_begin(head_of(end))) continue;
    if (may_go_on(end)) return at;
  }
  return text.size();
}

// Also where it is quoted, and the cut is within an escape.
std::size_t SecretMask::begun_at(std::string_view text) const {
  std::size_t out = begun_as_it_stands(text);
  if (!Unquoted::may_differ(text)) return out;
  const std::string_view whole = without_begun_escape(text);
  for (const std::string_view shown : {text, whole}) {
    const Unquoted plain(shown);
    const std::size_t at = begun_as_it_stands(plain.text());
    if (at < plain.text().size()) out = std::min(out, plain.begin(at));
    if (whole.size() == text.size()) break;
  }
  return out;
}

// In the order of their beginnings; none lies within another.
std::vector<SecretMask::Range> SecretMask::ranges(std::string_view text) const {
  std::vector<Range> out;
  Text looked_at(text);
  std::size_t covered = 0;
  std::uint64_t head = head_of(text.substr(0, kShortest - 1)) >> 8U;
  for (std::size_t at = 0; at + kShortest <= text.size(); ++at) {
    head = ((head << 8U) | byte_of(text[at + kShortest - 1])) & kHeadBits;
    if (!may_begin(head)) continue;
    const std::size_t end = looked_at.end_of_value(*this, head, at, covered);
    if (end <= covered) continue;
    out.push_back({at, end});
    covered = end;
  }
  return out;
}

std::string SecretMask::without_values(std::string_view text, std::size_t hidden_from) const {
  std::vector<Range> hidden = ranges(text);
  if (Unquoted::may_differ(text)) {
    const Unquoted plain(text);
    const auto as_it_stands = static_cast<std::ptrdiff_t>(hidden.size());
    for (const Range& range : ranges(plain.text())) {
      hidden.push_back({plain.begin(range.begin), plain.end(range.end - 1)});
    }
    std::inplace_merge(hidden.begin(), hidden.begin() + as_it_stands, hidden.end(),
                       [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }
  Cover cover(text);
  for (const Range& range : hidden) {
    if (range.begin < hidden_from) cover.hide(range.begin, range.end);
  }
  if (hidden_from < text.size()) cover.hide(hidden_from, text.size());
  return cover.take();
}

std::string SecretMask::mask(std::string_view text) const {
  if (overflowed_) return "(left out: more secrets than can be masked)";
  return values_.empty() ? std::string(text) : without_values(text, text.size());
}

std::string SecretMask::mask_message(std::string_view text) const {
  const std::string masked = mask(text);
  if (overflowed_ || values_.empty()) return masked;
  Cover cover(masked);
  std::size_t begin = 0;
  for (std::size_t dots; (dots = masked.find(kDots, begin)) != std::string::npos;) {
    const std::size_t at = begin + begun_at(std::string_view(masked).substr(begin, dots - begin));
    if (at + kTelling <= dots) cover.hide(at, dots);
    begin = dots + kDots.size();
  }
  return cover.take();
}

std::string SecretMask::mask_cut(std::string_view text) const {
  return overflowed_ || values_.empty() ? mask(text) : without_values(text, begun_at(text));
}

}  // namespace kubewatch::hooks
