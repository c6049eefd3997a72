// What the JSON behind a variable is, as whoever binds the language to a schema declares it: the
// type that rules see, how JSON becomes a value of it, and the bounds that costs are estimated
// with. Owned by the binding; types, programs and values borrow it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "cel/type.hpp"

namespace kubewatch::cel {

struct DataType {
  enum class Form {
    boolean,
    integer,
    number,
    string,
    bytes,      // base64
    duration,   // text
    date,       // text
    date_time,  // text
    int_or_string,
    list,
    map,
    object,
    undeclared,  // rules cannot name it; it only takes part in comparisons
  };
  enum class ListKind { atomic, set, map };

  struct Field {
    std::string json_name;
    std::shared_ptr<const DataType> type;
  };

  Form form = Form::undeclared;
  bool nullable = false;
  TypePtr type;                             // null when undeclared
  std::shared_ptr<const DataType> element;  // of lists and maps
  // By the name that rules use; a field whose name cannot be written in a rule is not here.
  std::map<std::string, Field, std::less<>> fields;
  // The same and all the others by the name in JSON; empty text: no name in rules.
  std::map<std::string, std::string, std::less<>> names;
  ListKind list_kind = ListKind::atomic;
  std::vector<std::string> list_keys;   // of ListKind::map, names in JSON
  std::uint64_t max_elements = 0;       // bytes, characters, elements, entries; 0 for fixed sizes
  std::shared_ptr<const DataType> key;  // of maps; null: texts without a bound of their own
  bool entries_are_fields = false;      // of maps: an entry that is selected has its bound, too

  // By the name in `fields`, as sizes are declared.
  const Field* declared_field(std::string_view name) const {
    const auto at = fields.find(name);
    return at == fields.end() ? nullptr : &at->second;
  }
  // As rules find it: a reserved word may be written as it is too, "namespace" for "__namespace__".
  const Field* field(std::string_view name) const {
    if (const auto* found = declared_field(name)) return found;
    const std::string reserved = "__" + std::string(name) + "__";
    const auto known = names.find(name);
    return known != names.end() && known->second == reserved ? declared_field(reserved) : nullptr;
  }
};

}  // namespace kubewatch::cel
