// The asking side of a controller's control socket: finds the socket, sends one request, hands on
// the answers. What requests mean is in hooks/control_requests.
#pragma once

#include <functional>
#include <string>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::cli {

// `flag` when it is given, else the only controller of this user that answers. Errors: unreachable
// (none runs), invalid (several do: it names them).
Result<std::string> find_socket(const std::string& flag);

// Each result goes to `on_result`, which returns false to stop. Errors: the controller's;
// unreachable (it ended meanwhile); timeout (no first answer within 30 s).
Result<void> ask(const std::string& socket, const std::string& request, const Json& args,
                 const std::function<bool(const Json&)>& on_result);

}  // namespace kubewatch::cli
