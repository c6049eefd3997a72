// Two tables are made of the same types: how fields merge (schema/, from OpenAPI) and what Go
// writes (builtin/wire_types, from struct tags). Where they say otherwise of what is always there,
// somebody would own what nobody wrote, or nobody what somebody did.
#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "builtin/typed_form.hpp"
#include "builtin/wire_types.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using builtin::WireField;
using builtin::WireType;
using schema::MergeNode;

class Comparison {
 public:
  void of(const MergeNode& node, const WireType& type, const std::string& path) {
    // Of what has several forms the other table says nothing.
    if (type.is_choice() || !around_.insert({&node, &type}).second) return;
    for (const WireField& field : type.fields) {
      if (field.name.empty()) {
        inlined(node, *field.type, path);
      } else {
        member(node, field, path + "." + field.name);
      }
    }
  }
  const std::set<std::string>& misfits() const { return misfits_; }
  std::size_t seen() const { return seen_; }

 private:
  void inlined(const MergeNode& node, const WireType& type, const std::string& path) {
    for (const WireField& field : type.fields) member(node, field, path + "." + field.name);
  }

  void member(const MergeNode& node, const WireField& field, const std::string& path) {
    const MergeNode* below = node.child(field.name);
    if (below == nullptr || field.name == "metadata") return;
    ++seen_;
    const auto implied = node.implied.find(field.name);
    const bool written = builtin::is_always_written(field);
    if ((implied != node.implied.end()) != written) {
      misfits_.insert(path + (written ? ": Go writes it" : ": Go leaves it out"));
    }
    if (field.type == nullptr) return;
    if (field.repeated || builtin::is_map(field)) {
      if (below->element) of(*below->element, *field.type, path + "[]");
    } else {
      of(*below, *field.type, path);
    }
  }

  std::set<std::pair<const MergeNode*, const WireType*>> around_;
  std::set<std::string> misfits_;
  std::size_t seen_ = 0;
};

}  // namespace

TEST_CASE("what schemas imply is what the types of Go always write") {
  Comparison comparison;
  const Registry registry;
  for (const ResourcePtr& resource : registry.all()) {
    const core::Gvk& gvk = resource->type.gvk;
    const WireType* type = builtin::wire_type_of(gvk.api_version(), gvk.kind);
    CAPTURE(gvk.str());
    REQUIRE(type != nullptr);
    comparison.of(*resource->merge, *type, gvk.kind);
  }
  CHECK(comparison.misfits() == std::set<std::string>{});
  CHECK(comparison.seen() > 1000);
}

}  // namespace kubewatch::apiserver
