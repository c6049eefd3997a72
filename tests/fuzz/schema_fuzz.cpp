// An openAPIV3Schema and an object, two lines of JSON: the schema is checked as a CRD's is; an
// object that was pruned and has its defaults changes no more by either, and is validated the same
// twice. An update that changes nothing is refused for no more.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/crd_check.hpp"
#include "schema/rule_checker.hpp"

namespace {

using namespace kubewatch;

Json crd_of(const Json& schema) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "things.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"scope", "Namespaced"},
            {"names",
             {{"plural", "things"},
              {"singular", "thing"},
              {"kind", "Thing"},
              {"listKind", "ThingList"}}},
            {"versions", Json::array({{{"name", "v1"},
                                       {"served", true},
                                       {"storage", true},
                                       {"schema", {{"openAPIV3Schema", schema}}}}})}}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  const auto schema = base::parse_json(text.substr(0, end));
  if (!schema.ok()) return 0;
  const auto compiled = schema::CompiledSchema::of(*schema, &schema::rule_checker(), {});
  if (!compiled.ok()) {
    if (compiled.error().message().empty()) std::abort();
    return 0;
  }
  const schema::CrdCheckOptions options{nullptr, &schema::rule_checker()};
  const bool sound = schema::errors_of(schema::check_crd(crd_of(*schema), options)).empty();
  if (end == std::string_view::npos) return 0;
  auto object = base::parse_json(text.substr(end + 1));
  if (!object.ok() || !object->is_object()) return 0;
  (*compiled)->prune(*object);
  if (!(*compiled)->prune(*object).empty()) std::abort();
  (*compiled)->apply_defaults(*object);
  const Json filled = *object;
  // Of a schema that the server takes, defaults are pruned and complete.
  (*compiled)->apply_defaults(*object);
  if (sound && *object != filled) std::abort();
  schema::FieldErrors first, second;
  (*compiled)->validate(*object, nullptr, first);
  (*compiled)->validate(*object, nullptr, second);
  if (first.size() != second.size()) std::abort();
  // Rules apart, an update that changes nothing is refused for no more than a create.
  const auto plain = schema::CompiledSchema::of(*schema, nullptr, {});
  if (!plain.ok()) std::abort();
  schema::FieldErrors created, unchanged;
  (*plain)->validate(*object, nullptr, created);
  (*plain)->validate(*object, &*object, unchanged);
  if (unchanged.size() > created.size()) std::abort();
  // Rules that do not ask for the value before are broken by both, refused or tolerated. Of what is
  // wrong besides, a create does not get to them.
  if (!created.empty() || base::dump_json(*schema).find("oldSelf") != std::string::npos) return 0;
  schema::FieldErrors refused, tolerated;
  (*compiled)->validate(*object, &*object, refused, &tolerated);
  const bool full = first.full() || refused.full() || tolerated.full();
  if (!full && refused.size() + tolerated.size() != first.size()) std::abort();
  return 0;
}
