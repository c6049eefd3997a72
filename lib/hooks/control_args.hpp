// What requests on the control socket ask for, read out of their members, and how answers name what
// they mean. Looks at the rules and kinds of drivers; starts and changes nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/object_ref.hpp"

namespace kubewatch::hooks {

class Driver;

Error invalid_request(std::string message);
bool flag_at(const Json& args, std::string_view name);
// `otherwise` where it is absent or not above 0; never more than `most`.
std::size_t count_at(const Json& args, std::string_view name, std::size_t otherwise,
                     std::size_t most);
// The object that is named, in no namespace where its kind is in none.
core::ObjectKey key_at(const Json& args, Driver& driver);
// What is in no namespace is not chosen with one.
bool is_chosen(const Json& args, const core::ObjectKey& key);
// "Website shop/a", "<none>".
std::string object_text(Driver& driver, const core::ObjectKey& key);
// Leaves those of the rule of that name.
void keep_named(std::vector<Driver*>& drivers, const std::string& name);

}  // namespace kubewatch::hooks
