// Erasing with a guard: Json::erase() throws at what is no map.
#include "core/server_fields.hpp"

#include "base/json.hpp"

namespace kubewatch::core {

void drop_metadata(Json& object, std::initializer_list<const char*> keys) {
  Json* metadata = base::find(object, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const char* key : keys) metadata->erase(key);
}

}  // namespace kubewatch::core
