#include "hooks/control_args.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

Error invalid_request(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

bool flag_at(const Json& args, std::string_view name) {
  return base::bool_at(args, {name});
}

std::size_t count_at(const Json& args, std::string_view name, std::size_t otherwise,
                     std::size_t most) {
  const auto value = base::int_at(args, {name});
  if (!value || *value <= 0) return otherwise;
  return std::min(static_cast<std::size_t>(*value), most);
}

core::ObjectKey key_at(const Json& args, Driver& driver) {
  if (!driver.rule().has_for) return kNoObject;
  const std::string name = base::string_at(args, {"name"});
  return {driver.owner_type().namespaced ? base::string_at(args, {"namespace"}) : "", name};
}

bool is_chosen(const Json& args, const core::ObjectKey& key) {
  const std::string only = base::string_at(args, {"onlyNamespace"});
  return only.empty() || key.namespace_ == only;
}

std::string object_text(Driver& driver, const core::ObjectKey& key) {
  if (!driver.rule().has_for) return "<none>";
  return driver.rule().for_.gvk.kind + " " + key.str();
}

void keep_named(std::vector<Driver*>& drivers, const std::string& name) {
  std::erase_if(drivers, [&](Driver* one) { return one->rule().name != name; });
}

}  // namespace kubewatch::hooks
