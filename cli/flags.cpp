#include "cli/flags.hpp"

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

}  // namespace kubewatch::cli
