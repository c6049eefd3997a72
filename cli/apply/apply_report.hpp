// What apply-ssa says of each object: a line with the changed paths, a diff, JSON; conflicts and
// warnings on stderr; and the exit code of all of it together. Owned by the verb.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/apply/object_apply.hpp"
#include "cli/apply/prune.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/terminal.hpp"
#include "hooks/secret_hash.hpp"

namespace kubewatch::cli {

// The two states as a unified diff of YAML, "" when they are equal, with the server's book-keeping
// left out and secrets hidden. `before` null: everything is added.
std::string diff_of(Json before, Json after, const hooks::SecretHash& secrets);

// "configmap/a created" and the rest, a unified diff: escaped, ended, coloured where there is
// colour.
std::string outcome_line(const std::string& name, std::string_view word, const std::string& rest,
                         const Terminal& terminal);
std::string shown_diff(const std::string& diff, const Terminal& terminal);

struct ReportStyle {
  std::string output = "text";  // text, name, json; anything else is `printer`'s
  ObjectPrinter* printer = nullptr;
  WallTime now{};     // for ages in its tables
  Terminal terminal;  // of stdout
  bool dry_run = false;
  bool diff = false;            // only what differs (in json all), and exit code 9
  bool with_namespace = false;  // objects of several namespaces
  std::string subresource;
  bool show_managed_fields = false;  // in json
};

class ApplyReport {
 public:
  // All must outlive it.
  ApplyReport(Context& context, const ReportStyle& style, const hooks::SecretHash& secrets)
      : context_(context), style_(style), secrets_(secrets) {}

  // Each counts into exit_code().
  void add(ObjectApply& apply, const std::vector<std::string>& warnings);
  // A refused request is sent again after `pause`: told now and then, however many objects wait.
  void note_pause(const ObjectApply& apply, const Error& why, Duration pause, TimePoint now);
  void note_pause(const std::string& what, const std::string& why, Duration pause, TimePoint now);
  // These were not begun, for the server was lost.
  void note_left(const std::vector<const Manifest*>& manifests);
  // An object that got no further than its manifest.
  void add_failed(const Manifest& manifest, const Error& error);
  void add_pruned(const Pruned& member);
  // What was told is out then, whatever ends us. Once per turn of the loop, not at each line: there
  // may be thousands.
  void flush();

  int exit_code() const { return code_; }
  void count(int code) { code_ = more_telling(code_, code); }

 private:
  void add_done(ObjectApply& apply, const std::vector<std::string>& warnings);
  void add_error(const Manifest& manifest, const Error& error, const std::string& name,
                 const std::vector<FieldConflict>& conflicts, bool of_other_set);
  void print_object(ObjectApply& apply);
  void say(const std::string& line);
  void warn(const std::string& name, const std::string& what);
  void print_json(Json line);

  Context& context_;
  const ReportStyle& style_;
  const hooks::SecretHash& secrets_;
  int code_ = 0;
  std::optional<TimePoint> told_pause_;
};

}  // namespace kubewatch::cli
