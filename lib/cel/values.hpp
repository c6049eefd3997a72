// What one may ask of values: sizes, elements, entries, equality, order. Lists and maps are either
// JSON that is read when asked or an Object that a rule has built; nobody else needs to know.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cel/allowance.hpp"
#include "cel/data_type.hpp"
#include "cel/value.hpp"

namespace kubewatch::cel {

struct TextObject : Object {
  explicit TextObject(std::string value) : text(std::move(value)) {}
  std::string text;
};

// A list and another behind it, both as they are: see concatenated().
struct JoinedLists {
  Value front;
  Value back;
  std::size_t front_size = 0;
  std::size_t size = 0;
  std::size_t depth = 1;  // of lists that are joined in turn
};

struct ListObject : Object {
  std::vector<Value> items;
  std::unique_ptr<const JoinedLists> joined;  // instead of items
  const DataType* type = nullptr;  // of the sets or keyed lists that it was made of; borrowed
};

// Entries in the order in which they came; found by key whatever its numeric type.
class MapObject : public Object {
 public:
  // False when the key is there already.
  bool insert(const Value& key, Value value);
  const Value* find(const Value& key) const;
  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_multimap<std::size_t, std::size_t> index_;
};

struct OptionalObject : Object {
  Value value;
};

Value list(std::vector<Value> items);
Value map(MapObject* object);
// Strings out of texts.
Value string_list(const std::vector<std::string>& texts);

// The value in an optional; null pointer when there is none. Precondition: an optional.
const Value* held(const Value& optional);

// As size() says: code points, bytes, elements, entries. Absent for kinds without a size.
std::optional<std::uint64_t> size_of(const Value& value);
std::uint64_t code_points(std::string_view text);

// Preconditions: a list, index < size.
Value element(const Value& list, std::size_t index);
// Absent when there is no such key; an error value when the key is not of the map's kind.
std::optional<Value> entry(const Value& map, const Value& key);
std::vector<Value> keys(const Value& map);

// true, false, or an error (values that cannot be compared at all, nothing left of the allowance).
Value equals(const Value& left, const Value& right, Allowance& allowance);
// -1, 0, 1; absent when the kinds have no order between them (NaN included).
std::optional<int> compare(const Value& left, const Value& right);

// The list with another at its end; merges as the list's kind demands (sets, maps). Otherwise long
// lists are not copied, so that the sum of two costs as little as an API server charges for it.
// An error when nothing is left of the allowance.
Value concatenated(Value left, const Value& right, Allowance& allowance);

bool is_zero(const Value& value);

// RFC 3339 with as many digits of seconds as needed; "90s", "1.5s".
std::string format_timestamp(std::int64_t seconds, std::uint32_t nanos);
std::string format_seconds(std::int64_t nanos);
// Absent when it is no such text.
struct Instant {
  std::int64_t seconds = 0;
  std::uint32_t nanos = 0;
};
std::optional<Instant> parse_timestamp(std::string_view text, bool zone_needed);
// Go's durations: "1h30m", "-1.5s"; `words` also takes "3 days" as schemas of format duration do.
std::optional<std::int64_t> parse_nanos(std::string_view text, bool words);
// The shortest text that reads back as the same number, as Go's %v writes it.
std::string format_double(double value);

constexpr std::int64_t kMinSeconds = -62135596800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kMaxSeconds = 253402300799;  // 9999-12-31T23:59:59Z

}  // namespace kubewatch::cel
