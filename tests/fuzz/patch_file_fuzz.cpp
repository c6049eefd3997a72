// Whatever a shell-operator hook leaves as its patches: refused with a message, or operations that
// have all that carrying them out needs, of which a failed hook gets its status and nothing else.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "compat/patch_file.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void check(const Operation& operation) {
  must(!operation.kind.empty() && !operation.str().empty());
  switch (operation.type) {
    case OperationType::create:
    case OperationType::create_or_update:
    case OperationType::create_if_not_exists:
      must(operation.object.is_object() && !operation.api_version.empty());
      must(!operation.name.empty() || operation.type == OperationType::create);
      // It can be sent as it is: no server says that it exists already in another version.
      must(!operation.object.at("metadata").contains("resourceVersion"));
      return static_cast<void>(base::dump_json(operation.object));
    case OperationType::remove:
    case OperationType::remove_in_background:
    case OperationType::remove_non_cascading: must(operation.subresource.empty()); break;
    case OperationType::jq_patch: must(operation.filter.has_value()); break;
    case OperationType::merge_patch: must(operation.patch.is_object()); break;
    case OperationType::json_patch: must(operation.patch.is_array()); break;
  }
  must(!operation.name.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::set<std::string> unknown;
  const auto operations = parse_patch_file(text, unknown);
  if (!operations.ok()) {
    must(!operations.error().render().empty());
    return 0;
  }
  for (const Operation& operation : *operations) check(operation);
  for (const Operation& operation : despite_failure(*operations)) {
    must(operation.subresource == "status" && operation.ignore_hook_error);
  }
  return 0;
}
