#include "client/exec_plugin.hpp"

#include <algorithm>
#include <filesystem>

#include "base/ascii.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/find_program.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"

namespace kubewatch::client {
namespace {

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
constexpr const char* kHiddenLine = "(a line that may hold a credential is not shown)";
constexpr std::size_t kMaxHint = 4096;
constexpr std::size_t kMaxPolicyBytes = 1U << 20U;
constexpr std::size_t kMaxDepth = 32;
// What a plugin in Go prints of a time that it has not: client-go takes it for none as well.
constexpr WallTime kGoZeroTime = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);

Error wrong(const ExecPlugin& plugin, const std::string& what) {
  return Error(ErrorKind::invalid, "exec: executable " + plugin.command + ": " + what);
}

// "" where it is not given. `what`: how errors call it.
Result<std::string> text_at(const KubeconfigEntry& user, const Json& object, const char* key,
                            const std::string& what) {
  const Json* value = base::find(object, {key});
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return user.error(what + " is not a string");
  return value->get<std::string>();
}

Result<std::string> text_of(const KubeconfigEntry& user, const Json& exec, const char* key) {
  return text_at(user, exec, key, std::string("exec.") + key);
}

Result<void> read_arguments(const KubeconfigEntry& user, const Json& exec, ExecPlugin& out) {
  const Json* arguments = base::find(exec, {"args"});
  if (arguments == nullptr || arguments->is_null()) return {};
  if (!arguments->is_array()) return user.error("exec.args is not a list");
  for (const Json& argument : *arguments) {
    if (!argument.is_string()) return user.error("exec.args is not a list of strings");
    out.arguments.push_back(argument.get<std::string>());
  }
  return {};
}

Result<void> read_environment(const KubeconfigEntry& user, const Json& exec, ExecPlugin& out) {
  const Json* environment = base::find(exec, {"env"});
  if (environment == nullptr || environment->is_null()) return {};
  if (!environment->is_array()) return user.error("exec.env is not a list");
  for (const Json& entry : *environment) {
    const std::string name = base::string_at(entry, {"name"});
    if (name.empty() || name.find('=') != std::string::npos) {
      return user.error("exec.env has an entry without a name");
    }
    KW_ASSIGN(std::string value, text_at(user, entry, "value", "exec.env " + name + ": value"));
    out.environment.emplace_back(name, std::move(value));
  }
  return {};
}

Result<void> read_interactive(const KubeconfigEntry& user, const Json& exec, ExecPlugin& out) {
  KW_ASSIGN(const std::string mode, text_of(user, exec, "interactiveMode"));
  if (mode.empty() && out.api_version.ends_with("/v1")) {
    return user.error("exec.interactiveMode must be given for " + out.api_version);
  }
  if (mode.empty() || mode == "IfAvailable") return {};
  if (mode == "Never") {
    out.interactive = ExecPlugin::Interactive::never;
  } else if (mode == "Always") {
    out.interactive = ExecPlugin::Interactive::always;
  } else {
    return user.error("exec.interactiveMode is none of Never, IfAvailable, Always");
  }
  return {};
}

// What the cluster's extension of that name holds.
std::string extension_of(const KubeconfigEntry& cluster) {
  const Json* extensions = cluster.value("extensions");
  if (extensions == nullptr || !extensions->is_array()) return "";
  for (const Json& extension : *extensions) {
    const Json* value = base::find(extension, {"extension"});
    if (base::string_at(extension, {"name"}) == kExecExtension && value != nullptr) {
      return base::dump_json(*value);
    }
  }
  return "";
}

bool has_separator(std::string_view command) {
  return command.find('/') != std::string_view::npos;
}

}  // namespace

Result<ExecPlugin> read_exec_plugin(const KubeconfigEntry& user, const KubeconfigEntry* cluster) {
  const Json& exec = *user.value("exec");
  if (!exec.is_object()) return user.error("exec is not an object");
  ExecPlugin out;
  KW_ASSIGN(out.api_version, text_of(user, exec, "apiVersion"));
  if (out.api_version != std::string(kGroup) + "v1" &&
      out.api_version != std::string(kGroup) + "v1beta1") {
    return user.error("exec.apiVersion is neither " + std::string(kGroup) + "v1 nor v1beta1");
  }
  KW_ASSIGN(out.command, text_of(user, exec, "command"));
  if (out.command.empty()) return user.error("exec.command is missing");
  // Absolute: "./plug.sh" beside a kubeconfig that is named without a folder is no word for $PATH.
  if (has_separator(out.command)) {
    out.command = std::filesystem::absolute(user.resolve(out.command)).lexically_normal().string();
  }
  KW_TRY(read_arguments(user, exec, out));
  KW_TRY(read_environment(user, exec, out));
  KW_ASSIGN(const std::string hint, text_of(user, exec, "installHint"));
  out.install_hint = hint.substr(0, kMaxHint);
  KW_TRY(read_interactive(user, exec, out));
  const Json* provide = base::present_at(exec, {"provideClusterInfo"});
  if (provide != nullptr && !provide->is_boolean()) {
    return user.error("exec.provideClusterInfo is not true or false");
  }
  out.provide_cluster_info = base::bool_at(exec, {"provideClusterInfo"});
  if (cluster != nullptr) out.cluster_config = extension_of(*cluster);
  Json entry = exec;
  entry["command"] = out.command;
  out.entry = base::dump_json(entry);
  return out;
}

std::string exec_info(const ExecPlugin& plugin, const ClientConfig& config, bool interactive) {
  Json spec{{"interactive", interactive}};
  if (plugin.provide_cluster_info) {
    Json cluster{{"server", config.server}};
    if (!config.tls_server_name.empty()) cluster["tls-server-name"] = config.tls_server_name;
    if (config.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
    if (!config.ca_pem.empty()) {
      cluster["certificate-authority-data"] = base::base64_encode(config.ca_pem);
    }
    if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
    if (config.disable_compression) cluster["disable-compression"] = true;
    if (auto extension = base::parse_json(plugin.cluster_config); extension.ok()) {
      cluster["config"] = std::move(extension).value();
    }
    spec["cluster"] = std::move(cluster);
  }
  return base::dump_json(
      Json{{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", spec}});
}

Result<bool> is_interactive(const ExecPlugin& plugin, bool stdin_is_terminal) {
  switch (plugin.interactive) {
    case ExecPlugin::Interactive::never: return false;
    case ExecPlugin::Interactive::if_available: return stdin_is_terminal;
    case ExecPlugin::Interactive::always: break;
  }
  if (!stdin_is_terminal) {
    return wrong(plugin, "it must talk with a person, and standard input is no terminal");
  }
  return true;
}

namespace {

// JSON, and YAML as client-go's decoder takes it too. Null: not one object.
Json object_of(std::string_view output) {
  auto parsed = base::parse_json(output, {kMostPluginOutput, kMaxDepth});
  if (!parsed.ok()) {
    base::YamlLimits limits;
    limits.max_bytes = kMostPluginOutput;
    limits.max_depth = kMaxDepth;
    auto documents = base::parse_yaml_values(output, limits);
    if (!documents.ok() || documents->size() != 1) return {};
    parsed = std::move(documents->front());
  }
  return parsed->is_object() ? std::move(*parsed) : Json();
}

}  // namespace

Result<Login> parse_exec_credential(const ExecPlugin& plugin, std::string_view output) {
  const Json parsed = object_of(output);
  if (parsed.is_null()) {
    return wrong(plugin,
                 "its output is neither JSON nor YAML of one object of kind ExecCredential");
  }
  if (base::string_at(parsed, {"kind"}) != "ExecCredential" ||
      base::string_at(parsed, {"apiVersion"}) != plugin.api_version) {
    return wrong(plugin, "its output is no ExecCredential of " + plugin.api_version);
  }
  Login out;
  out.token = base::string_at(parsed, {"status", "token"});
  out.client_cert_pem = base::string_at(parsed, {"status", "clientCertificateData"});
  out.client_key_pem = base::string_at(parsed, {"status", "clientKeyData"});
  if (out.client_cert_pem.empty() != out.client_key_pem.empty()) {
    return wrong(plugin,
                 "it gave one of clientCertificateData and clientKeyData without the other");
  }
  if (out.token.empty() && out.client_cert_pem.empty()) {
    return wrong(plugin, "it gave neither a token nor a client certificate");
  }
  if (std::any_of(out.token.begin(), out.token.end(),
                  [](char c) { return c <= 0x20 || c >= 0x7f; })) {
    return wrong(plugin, "its token holds spaces, control or non-ASCII characters");
  }
  if (const auto text = base::string_at(parsed, {"status", "expirationTimestamp"}); !text.empty()) {
    auto expires = base::parse_rfc3339(text);
    if (!expires.ok()) return wrong(plugin, "its expirationTimestamp is no time");
    if (*expires != kGoZeroTime) out.expires = *expires;
  }
  return out;
}

std::string shown_plugin_line(const ExecPlugin& plugin, std::string_view line) {
  // Shorter values are words that would hide half of what is said.
  constexpr std::size_t kLeast = 8;
  for (const auto& [name, value] : plugin.environment) {
    if (value.size() >= kLeast && line.find(value) != std::string_view::npos) return kHiddenLine;
  }
  return shown_plugin_line(line);
}

std::string shown_plugin_line(std::string_view line) {
  const std::string low = base::to_lower(std::string(line));
  const auto has = [&](std::string_view word) { return low.find(word) != std::string::npos; };
  // "token": ..., TOKEN = ..., AWS_SECRET_ACCESS_KEY=..., --token ..., but not a prompt, which has
  // nothing behind it, nor prose: "to get a token: open https://..."
  const auto given = [&](std::string_view word) {
    for (std::size_t at = low.find(word); at != std::string::npos; at = low.find(word, at + 1)) {
      std::string_view rest = std::string_view(low).substr(at + word.size());
      const auto skip = [&](auto keep) {
        while (!rest.empty() && keep(rest.front())) rest.remove_prefix(1);
      };
      skip([](char c) { return base::is_alphanumeric(c) || c == '_' || c == '-'; });
      const bool flag = at >= 2 && low.compare(at - 2, 2, "--") == 0 && rest.starts_with(' ');
      skip([](char c) { return c == ' ' || c == '"' || c == '\'' || c == '\\'; });
      if (flag && !rest.empty()) return true;
      if (!rest.starts_with('=') && !rest.starts_with(':')) continue;
      const std::string value(base::trim(rest.substr(1)));
      if (value.empty()) continue;
      const bool quoted = value.find_first_of("\"'\\") == 0;
      if (rest.front() == '=' || quoted || value.find(' ') == std::string::npos) return true;
    }
    return false;
  };
  const bool assigned = given("token") || given("password") || given("passwd") || given("secret") ||
                        given("api_key") || given("apikey") || given("access_key");
  // curl's and others' "-u user:password", and "https://user:password@host".
  const auto pair_behind = [&](std::string_view mark, char end) {
    const auto at = low.find(mark);
    if (at == std::string::npos) return false;
    const auto word = std::string_view(low).substr(at + mark.size());
    const auto stop = word.find_first_of(end == ' ' ? " " : " @/");
    const bool ends = end == ' ' || (stop != std::string_view::npos && word[stop] == end);
    return ends && word.substr(0, stop).find(':') != std::string_view::npos;
  };
  if (pair_behind("-u ", ' ') || pair_behind("://", '@')) return kHiddenLine;
  const bool known = has("execcredential") || has("clientkeydata") || has("bearer ") ||
                     has("authorization:") || has("private key") ||
                     has("eyj");  // what a JWT begins with
  const auto in_base64 = [](char c) {
    return base::is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
  };
  constexpr std::size_t kPemLine = 64;
  const bool of_a_key = line.size() >= kPemLine && std::all_of(line.begin(), line.end(), in_base64);
  if (!assigned && !known && !of_a_key) return std::string(line);
  return kHiddenLine;
}

Result<std::string> find_plugin(const ExecPlugin& plugin, std::string_view path) {
  if (has_separator(plugin.command)) return plugin.command;
  if (auto found = base::find_program(plugin.command, path); !found.empty()) return found;
  const std::string hint =
      plugin.install_hint.empty() ? "" : "\n  " + base::one_line(plugin.install_hint);
  return Error(ErrorKind::not_found, "exec: executable " + plugin.command + " not found" + hint);
}

namespace {

// Absent: the document says nothing of it.
Result<std::optional<PluginPolicy>> policy_of(const std::string& file, const Json& document) {
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorKind::invalid, file + ": " + what);
  };
  const Json* policy = base::present_at(document, {"credentialPluginPolicy"});
  const Json* list = base::present_at(document, {"credentialPluginAllowlist"});
  if (policy == nullptr && list == nullptr) return std::optional<PluginPolicy>();
  PluginPolicy out;
  out.file = file;
  if (policy != nullptr && *policy == "DenyAll") {
    out.kind = PluginPolicy::Kind::deny_all;
  } else if (policy != nullptr && *policy == "Allowlist") {
    out.kind = PluginPolicy::Kind::allow_list;
  } else if (policy != nullptr && *policy != "AllowAll" && *policy != "") {
    return wrong("credentialPluginPolicy is none of AllowAll, DenyAll, Allowlist");
  }
  if (list == nullptr) return std::optional(std::move(out));
  // Whoever wrote it wanted no others to run.
  if (out.kind != PluginPolicy::Kind::allow_list) {
    return wrong("credentialPluginAllowlist is given, and credentialPluginPolicy is not Allowlist");
  }
  if (!list->is_array()) return wrong("credentialPluginAllowlist is no list");
  for (const Json& entry : *list) {
    // "command" since 1.36, "name" before.
    auto name = base::string_at(entry, {"command"});
    if (name.empty()) name = base::string_at(entry, {"name"});
    if (!name.empty()) out.allowed.push_back(std::move(name));
  }
  return std::optional(std::move(out));
}

}  // namespace

Result<PluginPolicy> parse_plugin_policy(const std::string& file, std::string_view content) {
  KW_ASSIGN(const auto documents, base::parse_yaml_values(content).with_context(file));
  std::optional<PluginPolicy> out;
  for (const Json& document : documents) {
    KW_ASSIGN(auto said, policy_of(file, document));
    if (!out) out = std::move(said);
  }
  return out.value_or(PluginPolicy{});
}

Result<PluginPolicy> load_plugin_policy() {
  if (base::from_environment("KUBECTL_KUBERC") == "false" ||
      base::from_environment("KUBERC") == "off")
    return PluginPolicy{};
  std::string file = base::from_environment("KUBERC");
  const bool named = !file.empty();
  if (!named && !base::from_environment("HOME").empty())
    file = base::from_environment("HOME") + "/.kube/kuberc";
  // kubectl reads /dev/null as well; other devices and pipes could hold up the loop.
  if (file.empty() || file == "/dev/null") return PluginPolicy{};
  auto content = base::read_regular_file(file, kMaxPolicyBytes);
  if (!content.ok() && content.error().is_not_found() && !named) return PluginPolicy{};
  if (!content.ok()) return std::move(content).error().with_context("kuberc");
  return parse_plugin_policy(file, *content);
}

Result<void> check_policy(const PluginPolicy& policy, const ExecPlugin& plugin,
                          const std::string& executable, std::string_view path) {
  if (policy.kind == PluginPolicy::Kind::allow_all) return {};
  const auto names_it = [&](const std::string& allowed) {
    if (has_separator(allowed)) return allowed == executable;
    return allowed == plugin.command || base::find_program(allowed, path) == executable;
  };
  if (policy.kind == PluginPolicy::Kind::allow_list &&
      std::any_of(policy.allowed.begin(), policy.allowed.end(), names_it)) {
    return {};
  }
  const char* name = policy.kind == PluginPolicy::Kind::deny_all ? "DenyAll" : "Allowlist";
  return Error(ErrorKind::forbidden, "exec: executable " + plugin.command +
                                         " may not run: credentialPluginPolicy " + name + " of " +
                                         policy.file);
}

}  // namespace kubewatch::client
