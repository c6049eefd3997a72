// One validation of one value: walks value and schema together. Private to validator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "schema/ratcheting.hpp"
#include "schema/validator_node.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

// A number that the server holds as a whole one of 64 bits; absent for others, larger whole ones
// too, which are doubles there.
std::optional<std::int64_t> whole_of(const Json& value);

class Validator::Run {
 public:
  using Place = ValuePlace;

  // Of an update; `old` is null where the value has no older self.
  Outcome check_update(const Node& node, const Json& value, const Place& place, const Json* old);

 private:
  // The value itself; with `old`, what did not change below it is passed over.
  Outcome check(const Node& node, const Json& value, const Place& place, const Json* old);
  Outcome check_null(const Node& node, const Place& place);
  // The type alone, of a node that has one.
  static bool fits_type(const Node& node, const Json& value);
  void check_type(const Node& node, const Json& value, const Place& place, Outcome& out);
  // Inside of these the server passes over nothing.
  void check_combined(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_any_of(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_one_of(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_string(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_number(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_multiple(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_bound(const Node& node, const Json& value, const Place& place, bool upper,
                   Outcome& out);
  void check_array(const Node& node, const Json& value, const Place& place, const Json* old,
                   Outcome& out);
  void check_enum(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_object(const Node& node, const Json& value, const Place& place, const Json* old,
                    Outcome& out);
  // Adds the issue that `make` makes of the place's name, which is not written out any more once
  // all that was said in this run is too much.
  template <class Make>
  void tell(Outcome& out, const Place& place, const Make& make);

  RatchetingEquality same_;
  std::size_t told_ = 0;  // bytes, also of what came to nothing
};

}  // namespace kubewatch::schema
