// What the subcommands that ask a running controller share: KIND/NAME, -o and --socket, one
// question and its answer. Owned by the subcommand; what goes over the socket is control_client's.
#pragma once

#include <functional>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"

namespace kubewatch::cli {

class ControlFlags {
 public:
  enum class Names { object, object_or_kind };

  // -o text|json and --socket.
  void bind(CLI::App& app);
  // KIND/NAME, which may be left out.
  void bind_target(CLI::App& app, const std::string& text);

  bool json() const { return output_ == "json"; }
  const std::string& socket() const { return socket_; }
  // "" = not given.
  const std::string& target() const { return target_; }
  bool names_object() const { return target_.find('/') != std::string::npos; }

  // The target as arguments of a request, with the namespace of the flags, else of the kubeconfig's
  // context, and chosen_namespace(). Errors: invalid.
  Result<Json> target_args(const Context& context, Names names = Names::object_or_kind) const;
  // Of many objects those in the namespace of -n; without it in all, whatever the context says: a
  // controller's objects are in the namespaces of its rules.
  static Json chosen_namespace(const Context& context);

  // Asks for one answer, which is printed as JSON or by `print`. The exit code: that of the error,
  // else what `code` makes of the answer, else 0.
  int ask(Context& context, const std::string& request, const Json& args,
          const std::function<void(const Json&)>& print,
          const std::function<int(const Json&)>& code = {}) const;

 private:
  std::string target_;
  std::string output_ = "text";
  std::string socket_;
};

}  // namespace kubewatch::cli
