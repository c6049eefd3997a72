// What rules see of a structural schema: the types of its fields, their names in rules, and the
// bounds that the cost of a rule is estimated with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cel/data_type.hpp"
#include "schema/structural.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

constexpr std::int64_t kMaxRequestBytes = std::int64_t{3} << 20;

// The name of a property in rules: "a-b" is "a__dash__b"; absent when rules cannot name it. Of
// reserved words it is one of two names (cel::DataType::field).
std::optional<std::string> escape_name(std::string_view name);

struct DeclaredType {
  std::shared_ptr<const cel::DataType> type;
  std::int64_t min_size = 0;  // bytes of the smallest JSON of it
  bool declared() const { return type->type != nullptr; }
};

// By schema; the schemas must outlive it.
class DeclaredTypes {
 public:
  // `resource_root`: the root has kind, apiVersion and metadata.name whatever the schema says.
  DeclaredTypes(const Structural& root, bool resource_root);
  const DeclaredType* find(const Structural& schema) const;

 private:
  DeclaredType declare(const Structural& schema, bool resource_root, const ValuePlace& name);
  DeclaredType declare_list(const Structural& schema, const ValuePlace& name);
  DeclaredType declare_object(const Structural& schema, bool resource_root, const ValuePlace& name);
  std::string name_of(const ValuePlace& place) const;
  DeclaredType declare_string(const Structural& schema);

  std::map<const Structural*, DeclaredType> types_;
};

}  // namespace kubewatch::schema
