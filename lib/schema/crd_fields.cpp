#include "schema/crd_fields.hpp"

#include "schema/builtin_table.hpp"

namespace kubewatch::schema {

namespace {

constexpr std::size_t kMostUnknown = 100;
constexpr std::size_t kFieldsDepth = 1000;

const MergeNode& schema_props() {
  static const MergeNodePtr node = builtin_definition("apiextensions.v1.JSONSchemaProps");
  return *node;
}

class UnknownFields {
 public:
  std::vector<UnknownField> found;

  // Of what the table calls anything nothing is unknown.
  void look(const MergeNode* node, const Json& value) {
    if (node == nullptr || steps_.size() > kFieldsDepth || found.size() >= kMostUnknown) return;
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        step(std::to_string(i), node->element.get(), value[i]);
      }
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
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
  void step(const std::string& key, const MergeNode* node, const Json& value) {
    steps_.push_back(key);
    look(node, value);
    steps_.pop_back();
  }

  void add(const MergeNode& node, const std::string& key) {
    UnknownField out{steps_, {}};
    out.steps.push_back(key);
    for (const auto& [name, below] : node.fields) out.known.push_back(name);
    found.push_back(std::move(out));
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

  std::vector<std::string> steps_;
};

std::vector<UnknownField> found_in(const MergeNode* node, const Json& value) {
  UnknownFields fields;
  fields.look(node, value);
  return std::move(fields.found);
}

}  // namespace

std::vector<UnknownField> unknown_crd_fields(const Json& crd) {
  static const MergeNodePtr node = builtin_definition("apiextensions.v1.CustomResourceDefinition");
  auto out = found_in(node.get(), crd);
  std::erase_if(out, [](const UnknownField& one) { return one.steps.front() == "status"; });
  return out;
}

std::vector<UnknownField> unknown_schema_fields(const Json& schema) {
  return found_in(&schema_props(), schema);
}

}  // namespace kubewatch::schema
