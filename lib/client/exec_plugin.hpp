// The contract with a program that logs in (client.authentication.k8s.io/v1 and v1beta1, as
// client-go follows it): how a kubeconfig names it, what it is told, what it must answer, and
// whether the user's policy lets it run. Runs nothing: exec_source.hpp does. Internal to
// lib/client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "client/config.hpp"
#include "client/kubeconfig.hpp"
#include "client/login.hpp"

namespace kubewatch::client {

inline constexpr std::size_t kMostPluginOutput = 1U << 20U;  // bytes

// The name under which a cluster's extensions hold what its plugins are told.
inline constexpr const char* kExecExtension = "client.authentication.k8s.io/exec";

// `user` has a key exec; `cluster` may be null. Errors: invalid, naming file, entry and key.
Result<ExecPlugin> read_exec_plugin(const KubeconfigEntry& user, const KubeconfigEntry* cluster);

// The value of KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const ClientConfig& config, bool interactive);

// Whether the plugin gets the terminal. Errors: invalid (it insists, and there is none).
Result<bool> is_interactive(const ExecPlugin& plugin, bool stdin_is_terminal);

// What it printed. Errors: invalid, naming the program and what is wrong, never what it printed.
Result<Login> parse_exec_credential(const ExecPlugin& plugin, std::string_view output);

// A line of its stderr as it may be shown: one that looks as if it held a credential (a plugin that
// traces itself, or prints its answer to the wrong stream) is replaced by a note.
std::string shown_plugin_line(std::string_view line);
// The same, with what the kubeconfig put into its environment hidden as well.
std::string shown_plugin_line(const ExecPlugin& plugin, std::string_view line);

// The file to execute. `path` is PATH. Errors: not_found, with the user's install hint.
Result<std::string> find_plugin(const ExecPlugin& plugin, std::string_view path);

// credentialPluginPolicy of kubectl's kuberc file: which programs may run at all.
struct PluginPolicy {
  enum class Kind { allow_all, deny_all, allow_list };
  Kind kind = Kind::allow_all;
  std::vector<std::string> allowed;  // names, or absolute paths
  std::string file;                  // for messages
};
// The first document that says anything of it decides. Errors: invalid (a policy that cannot be
// read must not be taken for none, nor a list of programs that it does not ask for be passed over).
Result<PluginPolicy> parse_plugin_policy(const std::string& file, std::string_view content);
// $KUBERC, else ~/.kube/kuberc; KUBECTL_KUBERC=false reads none. Errors: as above.
Result<PluginPolicy> load_plugin_policy();
// Errors: forbidden, naming program, policy and file. `executable` is what find_plugin gave, `path`
// is PATH: an entry without a folder allows what it stands for there.
Result<void> check_policy(const PluginPolicy& policy, const ExecPlugin& plugin,
                          const std::string& executable, std::string_view path);

}  // namespace kubewatch::client
