// One list answer, item by item, from bytes cut at any place: a list of gigabytes costs the memory
// of its largest item. Items are not looked into. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::core {

// What a list says beside its items, wherever it stands.
struct ListPage {
  std::string resource_version;
  std::string continue_token;
  std::string api_version;  // of the list; items of built-in kinds lack their own
  std::string kind;         // "PodList"
  // How many objects follow on later pages; absent where the server does not count them.
  std::optional<std::uint64_t> remaining;
};

// The same items and the same end for every chunking and every order of members. Items are handed
// out before the answer proved to be a list and to be whole: only after finish() do they count.
class ListSplitter {
 public:
  // `max_item`: bytes of one item, and of all that stands from one item to the next.
  explicit ListSplitter(std::size_t max_item = 64U << 20U) : max_item_(max_item) {}

  // Calls `on_item` for each item that is complete; the view is valid during the call. Errors:
  // invalid (not JSON, with the byte; items that are no list; a continue token above 64 KiB),
  // too_large; nothing can follow one.
  Result<void> feed(std::string_view bytes, const std::function<void(std::string_view)>& on_item);
  // After the last byte. Errors: invalid (cut off, another kind than a list).
  Result<ListPage> finish();

 private:
  enum class State {
    start,
    first_key,
    key,
    colon,
    value,
    after_value,
    first_item,
    item,
    after_item,
    done
  };
  enum class Field { other, api_version, kind, metadata, items };

  Result<void> step(std::string_view& bytes, const std::function<void(std::string_view)>& on_item);
  Result<void> punctuation(char c);
  Result<bool> take_value(std::string_view& bytes, bool keep, std::string_view& whole);
  Result<void> begin_key(std::string_view literal);
  Result<void> end_value(std::string_view value);
  Result<void> pass(std::size_t bytes, bool space = false);
  bool in_item() const { return state_ == State::first_item || state_ == State::item; }
  Error wrong(std::string_view found) const;
  std::string_view expected() const;

  std::size_t max_item_;
  State state_ = State::start;
  Field field_ = Field::other;
  JsonValueEnd end_;
  std::string part_;  // of the value at hand, from earlier pieces
  std::string key_;   // of the member at hand, as far as a message shows it
  std::uint64_t consumed_ = 0;
  std::size_t passed_ = 0;  // since the last item
  bool has_items_ = false;
  bool failed_ = false;
  ListPage page_;
};

}  // namespace kubewatch::core
