// Objects as -o says: a finished list at once, or a stream of single objects, rows appended. Makes
// text; asks nobody. Owned by the verb.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/printers/columns.hpp"
#include "cli/printers/output_format.hpp"
#include "cli/printers/print_flags.hpp"
#include "cli/terminal.hpp"
#include "core/meta.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

// One object and its kind, for the length of a call: as a value, or as bytes that are only parsed
// where the format needs it.
class PrintedObject {
 public:
  PrintedObject(const core::ResourceType& type, const Json& value) : type_(&type), value_(&value) {}
  PrintedObject(const core::ResourceType& type, std::string_view bytes)
      : type_(&type), bytes_(bytes) {}

  const core::ResourceType& type() const { return *type_; }
  // The bytes that it was made of; empty when it was made of a value.
  std::string_view bytes() const { return bytes_; }
  // Null where the bytes are no JSON.
  const Json& value() const;
  // Without parsing all of it. Empty where the bytes are no object.
  core::ObjectMeta meta() const;

 private:
  const core::ResourceType* type_;
  const Json* value_ = nullptr;
  std::string_view bytes_;
  mutable std::shared_ptr<const Json> parsed_;
};

struct PrinterSetup {
  Terminal terminal;                 // of stdout
  bool with_namespace = false;       // -A, or several namespaces: NAMESPACE first
  bool several_kinds = false;        // TYPE/NAME in tables
  bool common_columns = false;       // tables: NAMESPACE, NAME, AGE alone, one header for all kinds
  std::vector<std::string> leading;  // headers of cells that the verb adds in front, as EVENT
};

class ObjectPrinter {
 public:
  // Errors: invalid, with a caret under the place where a path or program is wrong. `own` formats
  // of the verb are no business of it: format().kind is own, and every call is a bug.
  static Result<std::unique_ptr<ObjectPrinter>> make(const PrintFlags& flags, PrinterSetup setup);
  // The same of a format that was parsed already, whatever flags.output says.
  static Result<std::unique_ptr<ObjectPrinter>> make(OutputFormat format, const PrintFlags& flags,
                                                     PrinterSetup setup);
  ~ObjectPrinter();

  const OutputFormat& format() const;
  bool is_table() const;  // table or wide
  ColumnBook& columns();  // for tables of kinds that are not built in: put them before printing

  // A finished list, sorted by --sort-by. `single`: one object that was named, printed itself and
  // not as a List. Errors: invalid (a path or program that fails on them), too_large.
  Result<void> print_list(std::ostream& out, const std::vector<PrintedObject>& objects, bool single,
                          WallTime now);

  // A stream: header once, JSON as one line each, YAML documents ended by "---". `leading`: as many
  // cells as the setup has headers; only in tables. Errors: as print_list.
  Result<void> print_one(std::ostream& out, const PrintedObject& object, WallTime now,
                         const std::vector<std::string>& leading = {});
  // Before the first print_one: makes columns as wide as these objects need.
  void measure(const PrintedObject& object, WallTime now,
               const std::vector<std::string>& leading = {});

 private:
  struct Impl;
  explicit ObjectPrinter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "deployment.apps/web": as -o name and messages call an object. Of a kind that the server does not
// have the plural that was asked for; without a name the kind alone.
std::string object_name(const core::ResourceType& type, std::string_view name);

// Without metadata.managedFields, as kubectl prints objects unless it is told otherwise.
Json without_managed_fields(Json object);

// Any text that is written as it is: exact into a pipe; on a terminal with what it would interpret
// made visible.
std::string shown_text(std::string_view text, const Terminal& terminal);
// JSON stays JSON with the same values: what a terminal would interpret becomes \uXXXX.
std::string shown_json(std::string_view json);

}  // namespace kubewatch::cli
