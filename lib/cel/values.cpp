#include "cel/values.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/json.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Form = DataType::Form;

// Spreads the bits, so that sums and sequences of hashes stay apart.
std::size_t mixed(std::size_t hash) {
  std::uint64_t bits = hash + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>(bits ^ (bits >> 31U));
}

// Equal numbers hash alike, whatever their type.
std::size_t hash_of(const Value& value) {
  switch (value.kind()) {
    case Kind::integer:
    case Kind::boolean: return std::hash<double>()(static_cast<double>(value.as_int()));
    case Kind::uinteger: return std::hash<double>()(static_cast<double>(value.as_uint()));
    case Kind::real: return std::hash<double>()(value.as_real());
    case Kind::string: return std::hash<std::string_view>()(value.text());
    default: return 0;
  }
}

bool is_number(const Value& value) {
  return value.is(Kind::integer) || value.is(Kind::uinteger) || value.is(Kind::real);
}

template <class T>
int order(const T& left, const T& right) {
  return left < right ? -1 : (right < left ? 1 : 0);
}

// A double against a whole number, which is rounded to a double where it has no exact one: so the
// API server compares.
template <class Whole>
int order_double(double left, Whole right) {
  constexpr double kLimit =
      std::is_signed_v<Whole> ? 9223372036854775808.0 : 18446744073709551616.0;
  if (left >= kLimit) return 1;
  if (std::is_signed_v<Whole> ? left < -kLimit : left < 0) return -1;
  return order(left, static_cast<double>(right));
}

std::optional<int> compare_numbers(const Value& left, const Value& right) {
  if (left.is(Kind::real)) {
    const double number = left.as_real();
    if (std::isnan(number)) return std::nullopt;
    if (right.is(Kind::integer)) return order_double(number, right.as_int());
    if (right.is(Kind::uinteger)) return order_double(number, right.as_uint());
    if (std::isnan(right.as_real())) return std::nullopt;
    return order(number, right.as_real());
  }
  if (right.is(Kind::real)) {
    const auto turned = compare_numbers(right, left);
    return turned ? std::optional(-*turned) : std::nullopt;
  }
  if (left.kind() == right.kind()) {
    return left.is(Kind::integer) ? order(left.as_int(), right.as_int())
                                  : order(left.as_uint(), right.as_uint());
  }
  if (left.is(Kind::integer)) {
    return left.as_int() < 0 ? -1
                             : order(static_cast<std::uint64_t>(left.as_int()), right.as_uint());
  }
  return right.as_int() < 0 ? 1 : order(left.as_uint(), static_cast<std::uint64_t>(right.as_int()));
}

bool keyed_alike(const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) return compare_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  if (left.is(Kind::boolean)) return left.as_bool() == right.as_bool();
  return left.is(Kind::string) && left.text() == right.text();
}

std::optional<Value> json_entry(const Value& map, std::string_view key) {
  const DataType& type = *map.data();
  const DataType* value_type = type.element.get();
  std::string_view name = key;
  if (type.form == Form::object) {
    const auto* field = type.field(key);
    if (field == nullptr) return std::nullopt;
    name = field->json_name;
    value_type = field->type.get();
  }
  const auto at = map.json()->find(name);
  if (at == map.json()->end() || value_type == nullptr) return std::nullopt;
  // In objects a field that is null is as good as absent.
  if (type.form == Form::object && at->is_null()) return std::nullopt;
  return Value::from_json(*at, *value_type);
}

Json identity(const Json& item, const std::vector<std::string>& list_keys) {
  Json out = Json::array();
  for (const auto& key : list_keys) {
    const Json* value = base::find(item, {key});
    out.push_back(value == nullptr ? Json() : *value);
  }
  return out;
}

// What a list is by its schema, also when it was made of such lists; null where order counts.
const DataType* unordered_type(const Value& list) {
  const DataType* type = list.data();
  if (type == nullptr && list.object() != nullptr) type = list.as<ListObject>().type;
  return type == nullptr || type->list_kind == DataType::ListKind::atomic ? nullptr : type;
}

std::size_t hash_of_json(const Json& json) {
  if (json.is_number()) return std::hash<double>()(json.get<double>());
  if (json.is_string()) return std::hash<std::string>()(json.get_ref<const std::string&>());
  if (!json.is_structured())
    return static_cast<std::size_t>(json.type()) + (json == true ? 100 : 0);
  std::size_t hash = json.size();
  for (const auto& item : json) hash = mixed(hash ^ hash_of_json(item));
  return hash;
}

// Of what is in a value, however deep: equal values hash alike. Lists whose order does not count
// do so in any order.
std::size_t deep_hash_of(const Value& value, Allowance& allowance) {
  if (!allowance.look()) return 0;
  if (value.is(Kind::undeclared)) return hash_of_json(*value.json());
  if (value.is(Kind::list)) {
    const bool any_order = unordered_type(value) != nullptr;
    const std::size_t size = *size_of(value);
    std::size_t hash = size;
    // What was joined lazily may be far longer than what is paid for.
    for (std::size_t i = 0; i < size && !allowance.over(); ++i) {
      const std::size_t one = mixed(deep_hash_of(element(value, i), allowance));
      hash = any_order ? hash + one : mixed(hash ^ one);
    }
    return hash;
  }
  if (!value.is(Kind::map)) return hash_of(value);
  std::size_t hash = *size_of(value);
  for (const auto& key : keys(value)) {
    if (const auto found = entry(value, key)) {
      hash += mixed(mixed(hash_of(key)) ^ deep_hash_of(*found, allowance));
    }
  }
  return hash;
}

// Where values are that equal a wanted one.
class Places {
 public:
  explicit Places(Allowance& allowance) : allowance_(allowance) {}
  void add(const Value& value) {
    places_.emplace(deep_hash_of(value, allowance_), values_.size());
    values_.push_back(value);
  }
  bool has(const Value& wanted) const {
    const auto [begin, end] = places_.equal_range(deep_hash_of(wanted, allowance_));
    return std::any_of(begin, end, [&](const auto& place) {
      return equals(values_[place.second], wanted, allowance_).is_true();
    });
  }

 private:
  Allowance& allowance_;
  std::vector<Value> values_;
  std::unordered_multimap<std::size_t, std::size_t> places_;
};

// Lists of objects that are told apart by keys; of items with the same keys the last counts.
Value equals_keyed(const Value& left, const Value& right, const std::vector<std::string>& list_keys,
                   std::size_t size, Allowance& allowance) {
  std::map<Json, std::size_t> places;
  for (std::size_t i = 0; i < size; ++i) places[identity(*element(left, i).json(), list_keys)] = i;
  for (std::size_t i = 0; i < size; ++i) {
    const Value wanted = element(right, i);
    const auto at = places.find(identity(*wanted.json(), list_keys));
    if (at == places.end()) return Value::boolean(false);
    const Value verdict = equals(element(left, at->second), wanted, allowance);
    if (!verdict.is_true()) return verdict;
  }
  return Value::boolean(true);
}

// Lists whose order does not count: each element of one has its equal in the other.
Value equals_unordered(const Value& left, const Value& right, const DataType& type,
                       std::size_t size, Allowance& allowance) {
  bool keyed = type.list_kind == DataType::ListKind::map;
  for (std::size_t i = 0; i < size && keyed; ++i) {
    keyed = element(left, i).json() != nullptr && element(right, i).json() != nullptr;
  }
  if (keyed) return equals_keyed(left, right, type.list_keys, size, allowance);
  std::size_t same = 0;  // mostly all of them stand where they stood
  while (same < size && equals(element(left, same), element(right, same), allowance).is_true()) {
    ++same;
  }
  if (same == size) return Value::boolean(true);
  Places places(allowance);
  for (std::size_t i = 0; i < size; ++i) places.add(element(left, i));
  for (std::size_t i = same; i < size; ++i) {
    if (!places.has(element(right, i))) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value equals_lists(const Value& left, const Value& right, Allowance& allowance) {
  const auto size = *size_of(left);
  if (size != *size_of(right)) return Value::boolean(false);
  if (const DataType* type = unordered_type(left)) {
    return equals_unordered(left, right, *type, size, allowance);
  }
  Value verdict = Value::boolean(true);
  for (std::size_t i = 0; i < size && !allowance.over(); ++i) {
    Value one = equals(element(left, i), element(right, i), allowance);
    if (one.is_false()) return one;
    if (one.is_error()) verdict = std::move(one);
  }
  return verdict;
}

Value equals_maps(const Value& left, const Value& right, Allowance& allowance) {
  if (*size_of(left) != *size_of(right)) return Value::boolean(false);
  for (const auto& key : keys(left)) {
    const auto mine = entry(left, key);
    const auto other = entry(right, key);
    if (mine.has_value() != other.has_value()) return Value::boolean(false);
    if (!mine) continue;
    Value verdict = equals(*mine, *other, allowance);
    if (!verdict.is_true()) return verdict;
  }
  if (left.data() == nullptr || left.data()->form != Form::object || right.json() == nullptr) {
    return Value::boolean(true);
  }
  for (const auto& [name, value] : left.json()->items()) {  // what rules cannot name counts too
    const auto known = left.data()->names.find(name);
    if (known != left.data()->names.end() && !known->second.empty()) continue;
    const auto other = right.json()->find(name);
    if (other != right.json()->end() && *other != value) return Value::boolean(false);
  }
  return Value::boolean(true);
}

}  // namespace

bool MapObject::insert(const Value& key, Value value) {
  if (find(key) != nullptr) return false;
  index_.emplace(hash_of(key), entries_.size());
  entries_.emplace_back(key, std::move(value));
  return true;
}

const Value* MapObject::find(const Value& key) const {
  const auto [begin, end] = index_.equal_range(hash_of(key));
  for (auto at = begin; at != end; ++at) {
    if (keyed_alike(entries_[at->second].first, key)) return &entries_[at->second].second;
  }
  return nullptr;
}

Value list(std::vector<Value> items) {
  auto* object = new ListObject;
  object->items = std::move(items);
  return Value::with(Kind::list, object);
}

Value map(MapObject* object) {
  return Value::with(Kind::map, object);
}

Value string_list(const std::vector<std::string>& texts) {
  std::vector<Value> items;
  items.reserve(texts.size());
  for (const auto& text : texts) items.push_back(Value::string(text));
  return list(std::move(items));
}

const Value* held(const Value& optional) {
  return optional.object() == nullptr ? nullptr : &optional.as<OptionalObject>().value;
}

std::uint64_t code_points(std::string_view text) {
  std::uint64_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return count;
}

std::optional<std::uint64_t> size_of(const Value& value) {
  switch (value.kind()) {
    case Kind::string: return code_points(value.text());
    case Kind::bytes: return value.text().size();
    case Kind::list: {
      if (value.json() != nullptr) return value.json()->size();
      const auto& list = value.as<ListObject>();
      return list.joined != nullptr ? list.joined->size : list.items.size();
    }
    case Kind::map:
      return value.json() != nullptr ? value.json()->size()
                                     : value.as<MapObject>().entries().size();
    default: return std::nullopt;
  }
}

Value element(const Value& list, std::size_t index) {
  const Value* at = &list;
  while (at->json() == nullptr) {
    const auto& object = at->as<ListObject>();
    if (object.joined == nullptr) return object.items[index];
    const bool in_front = index < object.joined->front_size;
    if (!in_front) index -= object.joined->front_size;
    at = in_front ? &object.joined->front : &object.joined->back;
  }
  return Value::from_json((*at->json())[index], *at->data()->element);
}

std::optional<Value> entry(const Value& map, const Value& key) {
  if (map.json() == nullptr) {
    const Value* found = map.as<MapObject>().find(key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (!key.is(Kind::string)) return Value::no_such_overload();
  return json_entry(map, key.text());
}

std::vector<Value> keys(const Value& map) {
  std::vector<Value> out;
  if (map.json() == nullptr) {
    for (const auto& [key, value] : map.as<MapObject>().entries()) out.push_back(key);
    return out;
  }
  const DataType& type = *map.data();
  for (const auto& [name, value] : map.json()->items()) {
    if (type.form != Form::object) {
      out.push_back(Value::borrowed_string(name));
      continue;
    }
    const auto known = type.names.find(name);
    if (known == type.names.end() || known->second.empty()) continue;
    out.push_back(Value::borrowed_string(known->second));
  }
  return out;
}

Value equals(const Value& left, const Value& right, Allowance& allowance) {
  if (!allowance.look()) return Value::cancelled();
  if (left.is_error()) return left;
  if (right.is_error()) return right;
  if (is_number(left) && is_number(right)) {
    return Value::boolean(compare_numbers(left, right) == 0);
  }
  if (left.is(Kind::undeclared) && right.is(Kind::undeclared)) {
    return Value::boolean(*left.json() == *right.json());
  }
  if (left.kind() != right.kind()) return Value::boolean(false);
  switch (left.kind()) {
    case Kind::null: return Value::boolean(true);
    case Kind::boolean:
    case Kind::duration: return Value::boolean(left.as_int() == right.as_int());
    case Kind::timestamp:
      return Value::boolean(left.as_int() == right.as_int() && left.nanos() == right.nanos());
    case Kind::string:
    case Kind::bytes:
    case Kind::type: return Value::boolean(left.text() == right.text());
    case Kind::list: return equals_lists(left, right, allowance);
    case Kind::map: return equals_maps(left, right, allowance);
    case Kind::optional: {
      const Value *mine = held(left), *other = held(right);
      if (mine == nullptr || other == nullptr) return Value::boolean(mine == other);
      return equals(*mine, *other, allowance);
    }
    case Kind::quantity:
      return Value::boolean(left.as<Quantity>().compare(right.as<Quantity>()) == 0);
    case Kind::ip: return Value::boolean(left.as<Address>() == right.as<Address>());
    case Kind::cidr:
      return Value::boolean(left.as<Network>().address == right.as<Network>().address &&
                            left.as<Network>().prefix == right.as<Network>().prefix);
    case Kind::url: return Value::boolean(left.as<Url>().text == right.as<Url>().text);
    case Kind::semver: return Value::boolean(left.as<Semver>().compare(right.as<Semver>()) == 0);
    case Kind::format: return Value::boolean(left.as<Format>().name == right.as<Format>().name);
    default: return Value::no_such_overload();
  }
}

std::optional<int> compare(const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) return compare_numbers(left, right);
  if (left.kind() != right.kind()) return std::nullopt;
  switch (left.kind()) {
    case Kind::boolean:
    case Kind::duration: return order(left.as_int(), right.as_int());
    case Kind::string:
    case Kind::bytes: return order(left.text(), right.text());
    case Kind::timestamp: {
      const int by_seconds = order(left.as_int(), right.as_int());
      return by_seconds != 0 ? by_seconds : order(left.nanos(), right.nanos());
    }
    default: return std::nullopt;
  }
}

namespace {

// A set takes what it does not have yet.
void add_to_set(std::vector<Value>& out, const Value& right, Allowance& allowance) {
  Places there(allowance);
  for (const Value& one : out) there.add(one);
  for (std::size_t i = 0, size = *size_of(right); i < size && !allowance.over(); ++i) {
    Value added = element(right, i);
    if (there.has(added)) continue;
    there.add(added);
    out.push_back(std::move(added));
  }
}

// What has the keys of an element on the left takes its place; of those the last one's.
void add_keyed(std::vector<Value>& out, const Value& right,
               const std::vector<std::string>& list_keys) {
  std::map<Json, std::size_t> places;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].json() != nullptr) places[identity(*out[i].json(), list_keys)] = i;
  }
  for (std::size_t i = 0, size = *size_of(right); i < size; ++i) {
    Value added = element(right, i);
    const auto at =
        added.json() == nullptr ? places.end() : places.find(identity(*added.json(), list_keys));
    if (at == places.end()) {
      out.push_back(std::move(added));
    } else {
      out[at->second] = std::move(added);
    }
  }
}

constexpr std::size_t kFew = 16;  // cheaper to copy than to join
constexpr std::size_t kMostElements = std::size_t{1} << 30U;
constexpr std::size_t kDeepest = 64;

std::size_t depth_of(const Value& list) {
  if (list.json() != nullptr) return 0;
  const auto& joined = list.as<ListObject>().joined;
  return joined == nullptr ? 0 : joined->depth;
}

Value join_lists(Value front, const Value& back) {
  auto joined = std::make_unique<JoinedLists>();
  joined->front_size = *size_of(front);
  joined->size = joined->front_size + *size_of(back);
  joined->depth = 1 + std::max(depth_of(front), depth_of(back));
  joined->front = std::move(front);
  joined->back = back;
  auto* object = new ListObject;
  object->joined = std::move(joined);
  return Value::with(Kind::list, object);
}

// The elements of a list that nobody else has, to be changed.
ListObject* own_elements(Value& list) {
  ListObject* own = list.owned<ListObject>();
  return own != nullptr && own->joined == nullptr ? own : nullptr;
}

}  // namespace

Value concatenated(Value left, const Value& right, Allowance& allowance) {
  const DataType* type = unordered_type(left);
  const std::size_t size = *size_of(left), added = *size_of(right);
  if (size + added > kMostElements) {
    allowance.items(size + added);
    return Value::cancelled();
  }
  const bool has_own = own_elements(left) != nullptr;
  const bool small = added <= kFew && (has_own || size <= kFew);
  if (type == nullptr && !small && std::max(depth_of(left), depth_of(right)) < kDeepest) {
    return join_lists(std::move(left), right);
  }
  if (!small && !allowance.items(has_own ? added : size + added)) return Value::cancelled();
  if (!has_own) {
    auto* copy = new ListObject;
    copy->type = type;
    for (std::size_t i = 0; i < size; ++i) copy->items.push_back(element(left, i));
    left = Value::with(Kind::list, copy);
  }
  std::vector<Value>& out = own_elements(left)->items;
  if (type == nullptr) {
    for (std::size_t i = 0; i < added; ++i) out.push_back(element(right, i));
  } else if (type->list_kind == DataType::ListKind::set) {
    add_to_set(out, right, allowance);
  } else {
    add_keyed(out, right, type->list_keys);
  }
  return left;
}

bool is_zero(const Value& value) {
  switch (value.kind()) {
    case Kind::null: return true;
    case Kind::boolean:
    case Kind::integer:
    case Kind::uinteger:
    case Kind::duration: return value.as_int() == 0;
    case Kind::real: return value.as_real() == 0;
    case Kind::timestamp: return value.as_int() == kMinSeconds && value.nanos() == 0;
    case Kind::string:
    case Kind::bytes: return value.text().empty();
    case Kind::list:
    case Kind::map: return *size_of(value) == 0;
    case Kind::optional: return held(value) == nullptr || is_zero(*held(value));
    default: return false;
  }
}

}  // namespace kubewatch::cel
