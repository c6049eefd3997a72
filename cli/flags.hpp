// Flags that several commands spell the same way. CLI11 lives in cli/ only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "client/config.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kubewatch::cli {

// A duration in Go's syntax; "0" allowed.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<Duration>& into,
                          const std::string& text);

// -l, --field-selector, -A: what a command selects with.
struct Selection {
  std::string label_selector;
  std::string field_selector;
  bool all_namespaces = false;
};
void bind_selection(CLI::App& app, Selection& selection);
// Whether it has a selector: as in kubectl objects are then not named.
bool has_selector(const Selection& selection);
// Checks both selectors' syntax. Errors: invalid.
Result<void> check_selection(const Selection& selection);

// A file that will be written later and replaced as a whole: that it can be is seen at once. `flag`
// is for the text. Errors: invalid (no such folder, not writable, no plain file).
Result<void> check_output_file(const std::string& flag, const std::string& path);

// The first flag given that says which server to talk to, or as whom; "" when none is.
std::string server_flag_of(const client::ConfigOverrides& config);

// -o with the formats that the command prints.
void bind_output(CLI::App& app, std::string& output, const std::vector<std::string>& formats);

}  // namespace kubewatch::cli
