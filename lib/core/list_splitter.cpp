// A state machine over the top level of a list and its items; what is inside of values is
// json_scan's.
#include "core/list_splitter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/cut_text.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "core/kept_buffer.hpp"

namespace kubewatch::core {
namespace {

constexpr std::size_t kShownKey = 60;
// kube-apiserver's is a key of its store and some words. It goes into a URL, which has limits of
// its own.
constexpr std::size_t kMaxContinueToken = 64U << 10U;

Result<void> read_string_or_null(std::string_view value, std::string& out) {
  out.clear();
  if (value == "null") return {};
  KW_ASSIGN(out, decode_json_string(value));
  return {};
}

Result<void> read_continue_token(std::string_view value, std::string& out) {
  KW_TRY(read_string_or_null(value, out));
  if (out.size() <= kMaxContinueToken) return {};
  return Error(ErrorKind::invalid, fmt::format("its continue token has {} bytes, more than {}",
                                               out.size(), kMaxContinueToken));
}

Result<void> read_metadata(std::string_view value, ListPage& page) {
  page.resource_version.clear();
  page.continue_token.clear();
  page.remaining.reset();
  if (value == "null") return {};
  return JsonCursor(value).each_field(
      [&](std::string_view key, std::string_view field) -> Result<void> {
        if (key == "resourceVersion") return read_string_or_null(field, page.resource_version);
        if (key == "continue") return read_continue_token(field, page.continue_token);
        if (key == "remainingItemCount") page.remaining = base::read_number<std::uint64_t>(field);
        return {};
      });
}

}  // namespace

std::string_view ListSplitter::expected() const {
  switch (state_) {
    case State::start: return "{";
    case State::first_key: return "a string or }";
    case State::key: return "a string";
    case State::colon: return ":";
    case State::value: return "a value";
    case State::after_value: return ", or }";
    case State::first_item: return "an item or ]";
    case State::item: return "an item";
    case State::after_item: return ", or ]";
    case State::done: break;
  }
  return "the end";
}

Error ListSplitter::wrong(std::string_view found) const {
  return Error(ErrorKind::invalid, fmt::format("not valid JSON: {} byte {}, where {} is expected",
                                               found, consumed_, expected()));
}

// Passes over what is no item. Nothing of it is seen from outside: a server that sends more and
// more of it would be waited for in silence.
Result<void> ListSplitter::pass(std::size_t bytes, bool space) {
  consumed_ += bytes;
  passed_ += bytes;
  if (passed_ <= max_item_) return {};
  const bool key = state_ == State::first_key || state_ == State::key;
  return Error(
      ErrorKind::too_large,
      fmt::format("the list has more than {} bytes without an item, the last of them {}", max_item_,
                  space ? "white space"
                  : key ? "a key"
                        : fmt::format("in its \"{}\"", key_)));
}

Result<void> ListSplitter::feed(std::string_view bytes,
                                const std::function<void(std::string_view)>& on_item) {
  if (failed_) return Error(ErrorKind::invalid, "the list is already broken");
  while (!bytes.empty()) {
    if (auto stepped = step(bytes, on_item); !stepped.ok()) {
      failed_ = true;
      return stepped;
    }
  }
  return {};
}

Result<void> ListSplitter::step(std::string_view& bytes,
                                const std::function<void(std::string_view)>& on_item) {
  const char c = bytes.front();
  std::string_view whole;
  const auto one_byte = [&] {
    bytes.remove_prefix(1);
    return pass(1);
  };
  if (!end_.begun() && is_json_space(c)) {  // it belongs to no value
    const auto next = std::find_if_not(bytes.begin(), bytes.end(), is_json_space);
    const auto space = static_cast<std::size_t>(next - bytes.begin());
    bytes.remove_prefix(space);
    return pass(space, true);
  }
  switch (state_) {
    case State::first_key:
    case State::key: {
      if (!end_.begun() && c != '"') break;
      KW_ASSIGN(const bool complete, take_value(bytes, true, whole));
      if (!complete) return {};
      auto begun = begin_key(whole);
      part_.clear();
      return begun;
    }
    case State::value: {
      if (field_ == Field::items && !end_.begun() && c == '[') {
        state_ = State::first_item;
        return one_byte();
      }
      KW_ASSIGN(const bool complete, take_value(bytes, field_ != Field::other, whole));
      if (!complete) return {};
      auto ended = end_value(whole);
      part_.clear();
      return ended;
    }
    case State::first_item:
    case State::item: {
      if (state_ == State::first_item && !end_.begun() && c == ']') break;
      KW_ASSIGN(const bool complete, take_value(bytes, true, whole));
      if (!complete) return {};
      on_item(whole);
      passed_ = 0;
      empty_buffer(part_);
      state_ = State::after_item;
      return {};
    }
    default: break;
  }
  KW_TRY(punctuation(c));
  return one_byte();
}

Result<void> ListSplitter::punctuation(char c) {
  if (state_ == State::start && c == '{') {
    state_ = State::first_key;
  } else if (state_ == State::colon && c == ':') {
    state_ = State::value;
  } else if (state_ == State::after_value && c == ',') {
    state_ = State::key;
  } else if ((state_ == State::after_value || state_ == State::first_key) && c == '}') {
    state_ = State::done;
  } else if (state_ == State::after_item && c == ',') {
    state_ = State::item;
  } else if ((state_ == State::after_item || state_ == State::first_item) && c == ']') {
    state_ = State::after_value;
  } else {
    return wrong("wrong character at");
  }
  return {};
}

// True when the value is complete: `whole` is all of it, a slice of `bytes` or of part_. `keep`:
// else its bytes are passed over.
Result<bool> ListSplitter::take_value(std::string_view& bytes, bool keep, std::string_view& whole) {
  const bool first = !end_.begun();
  const std::size_t length = end_.feed(bytes);
  const bool complete = length != JsonValueEnd::kGoesOn;
  if (complete && first && length == 0) return wrong("wrong character at");
  const std::string_view taken = bytes.substr(0, length);
  bytes.remove_prefix(taken.size());
  if (complete) end_.reset();
  if (in_item()) {
    consumed_ += taken.size();
    if (taken.size() > max_item_ - part_.size()) {
      return Error(
          ErrorKind::too_large,
          fmt::format("an item of the list is larger than the limit of {} bytes", max_item_));
    }
  } else {
    KW_TRY(pass(taken.size()));
  }
  if (!keep) return complete;
  if (complete && part_.empty()) {
    whole = taken;
  } else {
    part_.append(taken);
    whole = part_;
  }
  return complete;
}

Result<void> ListSplitter::begin_key(std::string_view literal) {
  KW_ASSIGN(const std::string key, decode_json_string(literal));
  key_ = base::escape_for_terminal(base::cut_text(key, kShownKey));
  field_ = Field::other;
  if (key == "apiVersion") field_ = Field::api_version;
  if (key == "kind") field_ = Field::kind;
  if (key == "metadata") field_ = Field::metadata;
  if (key == "items") {
    if (has_items_) return Error(ErrorKind::invalid, "the list has its items twice");
    has_items_ = true;
    field_ = Field::items;
  }
  state_ = State::colon;
  return {};
}

Result<void> ListSplitter::end_value(std::string_view value) {
  state_ = State::after_value;
  switch (field_) {
    case Field::api_version: return read_string_or_null(value, page_.api_version);
    case Field::kind: return read_string_or_null(value, page_.kind);
    case Field::metadata: return read_metadata(value, page_);
    case Field::items:
      if (value == "null") return {};
      return Error(ErrorKind::invalid, "the items of the list are not a list");
    case Field::other: break;
  }
  return {};
}

Result<ListPage> ListSplitter::finish() {
  if (failed_) return Error(ErrorKind::invalid, "the list is already broken");
  if (state_ != State::done) return wrong("the text ends at");
  if (!has_items_ && !page_.kind.ends_with("List")) {
    return Error(ErrorKind::invalid, "the server answered with " +
                                         (page_.kind.empty() ? "something" : "a " + page_.kind) +
                                         " where a list is expected");
  }
  return std::move(page_);
}

}  // namespace kubewatch::core
