#include "schema/crd_fields.hpp"

#include "schema/builtin_table.hpp"

namespace kubewatch::schema {

namespace {

constexpr std::size_t kFieldsDepth = 1000;

const MergeNode& schema_props() {
  static const MergeNodePtr node = builtin_definition("apiextensions.v1.JSONSchemaProps");
  return *node;
}

const MergeNode& crd_type() {
  static const MergeNodePtr node = builtin_definition("apiextensions.v1.CustomResourceDefinition");
  return *node;
}

class UnknownFields {
 public:
  explicit UnknownFields(std::size_t most) : most_(most) {}

  std::vector<UnknownField> found;

  // Of what the table calls anything nothing is unknown.
  void look(const MergeNode* node, const Json& value) {
    if (node == nullptr || steps_.size() > kFieldsDepth) return;
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size() && !full(); ++i) {
        step(std::to_string(i), node->element.get(), value[i]);
      }
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      if (full()) return;
      if (node == &crd_type() && key == "status") continue;
      const MergeNode* below = node->child(key);
      if (node->is_struct && below == nullptr) {
        add(*node, key);
      } else if (node == &schema_props()) {
        in_schema(key, below, member);
      } else {
        step(key, below, member);
      }
    }
  }

 private:
  bool full() const { return found.size() >= most_; }

  void step(const std::string& key, const MergeNode* node, const Json& value) {
    steps_.push_back(key);
    look(node, value);
    steps_.pop_back();
  }

  void add(const MergeNode& node, const std::string& key) {
    found.push_back({steps_, &node});
    found.back().steps.push_back(key);
  }

  // Which the table takes for anything, as each may be two things: a schema, or true, or a list.
  void in_schema(const std::string& key, const MergeNode* below, const Json& value) {
    const bool either = key == "items" || key == "additionalProperties" || key == "additionalItems";
    if (either && value.is_object()) {
      step(key, &schema_props(), value);
    } else if (!either) {
      step(key, below, value);
    }
  }

  std::size_t most_;
  std::vector<std::string> steps_;
};

std::vector<UnknownField> found_in(const MergeNode& node, const Json& value, std::size_t most) {
  UnknownFields fields(most);
  fields.look(&node, value);
  return std::move(fields.found);
}

}  // namespace

std::vector<std::string> UnknownField::known() const {
  std::vector<std::string> out;
  for (const auto& [name, below] : in->fields) out.push_back(name);
  return out;
}

std::vector<UnknownField> unknown_crd_fields(const Json& crd, std::size_t most) {
  return found_in(crd_type(), crd, most);
}

std::vector<UnknownField> unknown_schema_fields(const Json& schema, std::size_t most) {
  return found_in(schema_props(), schema, most);
}

}  // namespace kubewatch::schema
