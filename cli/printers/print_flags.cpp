#include "cli/printers/print_flags.hpp"

#include "cli/printers/output_format.hpp"

namespace kubewatch::cli {

void bind_print(CLI::App& app, PrintFlags& flags, const PrintFlagChoice& choice) {
  const std::string group = "Output";
  flags.own = choice.own;
  flags.output = choice.default_format;
  app.add_option("-o,--output", flags.output, format_words(choice.own))
      ->type_name("FORMAT")
      ->group(group);
  app.add_flag("--no-headers", flags.no_headers, "tables and custom columns without their headers")
      ->group(group);
  app.add_flag("--show-labels", flags.show_labels, "all labels as the last column of a table")
      ->group(group);
  app.add_option("-L,--label-columns", flags.label_columns,
                 "labels that become columns of a table; a,b or repeated")
      ->type_name("LABEL")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
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
