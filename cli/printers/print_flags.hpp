// -o and the flags around it, the same for all commands that print objects.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kubewatch::cli {

struct PrintFlags {
  std::string output;  // "" = the verb's default
  std::string template_;
  bool no_headers = false;
  bool show_labels = false;
  bool show_kind = false;
  bool show_managed_fields = false;
  bool allow_missing = true;
  std::vector<std::string> label_columns;
  std::string sort_by;
  std::vector<std::string> own;  // formats of this verb alone, set by bind_print
};

struct PrintFlagChoice {
  std::vector<std::string> own;  // further words of -o, handled by the verb
  std::string default_format = "table";
  bool sort_by = true;  // not where objects are streamed
};

// -o, --no-headers, --show-labels, -L, --show-kind, --sort-by, --show-managed-fields (left out when
// bind_content added it: copy it over then), --template (refused when given),
// --allow-missing-template-keys. `flags` must outlive the app.
void bind_print(CLI::App& app, PrintFlags& flags, const PrintFlagChoice& choice = {});

// -L and --show-labels alone, for tables that others make. Both must outlive the app.
void bind_label_columns(CLI::App& app, std::vector<std::string>& keys, bool& all,
                        const std::string& group);

}  // namespace kubewatch::cli
