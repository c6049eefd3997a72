// One validation of one value: walks value and schema together. Private to validator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "schema/validator_node.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

// A number that the server holds as a whole one of 64 bits; absent for others, larger whole ones
// too, which are doubles there.
std::optional<std::int64_t> whole_of(const Json& value);

class Validator::Run {
 public:
  explicit Run(bool ratcheting) : ratcheting_(ratcheting) {}

  using Place = ValuePlace;

  Outcome check(const Node& node, const Json& value, const Place& place, const Json* old);

 private:
  Outcome check_null(const Node& node, const Place& place);
  // The type alone, of a node that has one.
  static bool fits_type(const Node& node, const Json& value);
  void check_type(const Node& node, const Json& value, const Place& place, Outcome& out);
  void check_combined(const Node& node, const Json& value, const Place& place, const Json* old,
                      Outcome& out);
  void check_any_of(const Node& node, const Json& value, const Place& place, const Json* old,
                    Outcome& out);
  void check_one_of(const Node& node, const Json& value, const Place& place, const Json* old,
                    Outcome& out);
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
  Outcome child(const Node& node, const Json& value, const Place& place, const Json* old);
  // Adds the issue that `make` makes of the place's name, which is not written out any more once
  // all that was said in this run is too much.
  template <class Make>
  void tell(Outcome& out, const Place& place, const Make& make);

  bool ratcheting_;
  bool unchanged_ = false;  // inside of a value that is what it was
  std::size_t told_ = 0;    // bytes, also of what came to nothing
};

}  // namespace kubewatch::schema
