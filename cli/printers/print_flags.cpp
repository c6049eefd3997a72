#include "cli/printers/print_flags.hpp"

#include <CLI/CLI.hpp>

#include "cli/printers/label_cells.hpp"
#include "cli/printers/output_format.hpp"

namespace kubewatch::cli {

void bind_label_columns(CLI::App& app, std::vector<std::string>& keys, bool& all,
                        const std::string& group) {
  // Not CLI11's delimiter: of "," nothing would be left, and the next word be taken for the value.
  app.add_option_function<std::vector<std::string>>(
         "-L,--label-columns",
         [&keys](const std::vector<std::string>& given) { keys = label_keys(given); },
         "labels that become columns of a table; a,b or repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--show-labels", all, "all labels as the last column of a table")->group(group);
}

void bind_print(CLI::App& app, PrintFlags& flags, const PrintFlagChoice& choice) {
  const std::string group = "Output";
  flags.own = choice.own;
  flags.output = choice.default_format;
  app.add_option("-o,--output", flags.output, format_words(choice.own))
      ->type_name("FORMAT")
      ->group(group);
  app.add_flag("--no-headers", flags.no_headers, "tables and custom columns without their headers")
      ->group(group);
  bind_label_columns(app, flags.label_columns, flags.show_labels, group);
  app.add_flag("--show-kind", flags.show_kind, "TYPE/NAME in tables")->group(group);
  if (choice.sort_by) {
    app.add_option("--sort-by", flags.sort_by, "JSONPath of the field that orders the list")
        ->type_name("PATH")
        ->group(group);
  }
  if (app.get_option_no_throw("--show-managed-fields") == nullptr) {
    app.add_flag("--show-managed-fields", flags.show_managed_fields,
                 "keep metadata.managedFields in json, yaml, jsonpath and jq")
        ->group(group);
  }
  app.add_flag("--allow-missing-template-keys,!--no-allow-missing-template-keys",
               flags.allow_missing,
               "fields that are missing print nothing in jsonpath (default); =false: they fail")
      ->group(group);
  // kubectl's: said plainly that it is not here, instead of an unknown flag.
  app.add_option("--template", flags.template_, "")->group("");
}

}  // namespace kubewatch::cli
