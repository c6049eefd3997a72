#include "cli/flags.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "core/selector.hpp"

namespace kubewatch::cli {

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<Duration>& into,
                          const std::string& text) {
  const auto set = [&into, name](const std::string& value) {
    auto parsed = base::parse_duration(value);
    if (!parsed.ok()) throw CLI::ValidationError(name, parsed.error().render());
    into = *parsed;
  };
  return app.add_option_function<std::string>(name, set, text)->type_name("DURATION");
}

void bind_selection(CLI::App& app, Selection& selection) {
  app.add_option("-l,--selector", selection.label_selector, "label selector, sent to the server")
      ->type_name("SELECTOR");
  app.add_option("--field-selector", selection.field_selector, "field selector, sent to the server")
      ->type_name("SELECTOR");
  app.add_flag("-A,--all-namespaces", selection.all_namespaces, "all namespaces");
}

bool has_selector(const Selection& selection) {
  return !selection.label_selector.empty() || !selection.field_selector.empty();
}

Result<void> check_selection(const Selection& selection) {
  if (auto labels = core::LabelSelector::parse(selection.label_selector); !labels.ok()) {
    return std::move(labels).error().with_context("--selector");
  }
  if (auto fields = core::FieldSelector::parse(selection.field_selector); !fields.ok()) {
    return std::move(fields).error().with_context("--field-selector");
  }
  return {};
}

void bind_output(CLI::App& app, std::string& output, const std::vector<std::string>& formats) {
  app.add_option("-o,--output", output, base::join(formats, ", "))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats));
}

Result<void> check_output_file(const std::string& flag, const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return Error(ErrorKind::invalid, flag + " " + path + ": " + why);
  };
  if (path == "-") return wrong("a file is needed; stdout has the data");
  // It will be replaced by renaming: a link would be lost, and a device cannot be.
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return wrong(std::filesystem::is_directory(status) ? "is a folder"
                 : std::filesystem::is_symlink(status)
                     ? "is a link, which would be replaced: name the file itself"
                     : "is no plain file");
  }
  std::string probe = path + ".XXXXXX";
  const int fd = ::mkstemp(probe.data());
  if (fd < 0) {
    return wrong("no file can be made there: " + std::generic_category().message(errno));
  }
  ::close(fd);
  ::unlink(probe.c_str());
  return {};
}

std::string server_flag_of(const client::ConfigOverrides& config) {
  const std::pair<const char*, bool> flags[] = {
      {"--kubeconfig", !config.kubeconfig.empty()},
      {"--context", !config.context.empty()},
      {"--cluster", !config.cluster.empty()},
      {"--user", !config.user.empty()},
      {"--server", !config.server.empty()},
      {"--token", !config.token.empty()},
      {"--as", !config.as.empty()},
      {"--as-uid", !config.as_uid.empty()},
      {"--as-group", !config.as_groups.empty()},
      {"--as-user-extra", !config.as_user_extra.empty()},
      {"--certificate-authority", !config.certificate_authority.empty()},
      {"--client-certificate", !config.client_certificate.empty()},
      {"--client-key", !config.client_key.empty()},
      {"--insecure-skip-tls-verify", config.insecure_skip_tls_verify},
      {"--tls-server-name", !config.tls_server_name.empty()},
      {"--proxy-url", !config.proxy_url.empty()},
      {"--disable-compression", config.disable_compression},
  };
  for (const auto& [name, given] : flags) {
    if (given) return name;
  }
  return "";
}

}  // namespace kubewatch::cli
