// The types that the checker knows. Immutable and shared; equal when kind, name and parameters
// are. An object type borrows the DataType that declares its fields.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::cel {

struct DataType;
struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Type {
  enum class Kind {
    error,
    dyn,
    null,
    boolean,
    integer,
    uinteger,
    real,
    string,
    bytes,
    timestamp,
    duration,
    list,    // params: element
    map,     // params: key, value
    object,  // named, with fields when `data` is set
    type,    // params: the type it names, or none
    opaque,  // named, with params: optional_type(T), net.IP
    param,   // a type variable
  };
  Kind kind = Kind::error;
  std::string name;
  std::vector<TypePtr> params;
  const DataType* data = nullptr;
  // Of the tree that it is: types share their parts, so that one can be larger than any memory.
  std::size_t parts = 1;

  bool is(Kind wanted) const { return kind == wanted; }
  bool is_optional() const { return kind == Kind::opaque && name == "optional_type"; }
};

// Beyond it nothing walks a type: no expression of anybody has one of a tenth of it.
inline constexpr std::size_t kMostTypeParts = 1000;
// One and those of its parameters; no more than it takes to be too many.
std::size_t parts_of(const std::vector<TypePtr>& params);

bool same(const Type& left, const Type& right);

// As in messages: "int", "list(string)", "optional_type(int)", "null".
std::string to_string(const Type& type);
// "(int, string)" or, for a call on a value, "string.(int)".
std::string signature(const std::vector<TypePtr>& arguments, bool on_value);

// The simple types, one instance each.
const TypePtr& simple(Type::Kind kind);
TypePtr list_of(TypePtr element);
TypePtr map_of(TypePtr key, TypePtr value);
TypePtr type_of(TypePtr named);
TypePtr optional_of(TypePtr value);
TypePtr object(std::string name, const DataType* data = nullptr);
TypePtr opaque(std::string name);
TypePtr param(std::string name);

}  // namespace kubewatch::cel
