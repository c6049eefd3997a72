// --query: objects out of the cache, chosen by name, namespace, labels and fields, as -o and --jq
// say. What they are chosen from is a live cache or a saved one. Owned by the verb.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/metadata_reads.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/reflect/kinds.hpp"
#include "cli/reflect/saved.hpp"
#include "cli/session.hpp"

namespace kubewatch::cli {

// What is asked of the cache.
struct QueryChoice {
  std::vector<std::string> names;       // empty: all
  std::vector<std::string> namespaces;  // empty: all
  core::LabelSelector labels;
  core::FieldSelector fields;
};

// Keys in the order in which the API lists them; names that are not there have none.
std::vector<core::ObjectKey> choose(const core::ReadBackend& kind, const QueryChoice& choice);
// Names, each once, that nobody had: `found` are the keys of all kinds and namespaces.
std::vector<std::string> missing_names(const QueryChoice& choice,
                                       const std::vector<core::ObjectKey>& found);

class ReflectQuery {
 public:
  void bind(CLI::App& app);
  const std::string& output() const { return print_.output; }
  // Formats, paths and programs, before anything is asked. Errors: invalid.
  Result<void> check(const ReflectFlags& flags);
  // The exit code: kNotFound, and it is said, after the others were printed, for a name of `asked`
  // that nobody had. Errors: internal (a program or path that fails on an object).
  Result<int> from_kinds(Context& context, const ReflectFlags& flags, const CachedKinds& kinds,
                         const std::vector<AskedKind>& asked, Session& session) const;
  // Without a server.
  Result<int> from_saved(Context& context, const ReflectFlags& flags,
                         const std::vector<SavedKind>& saved) const;

 private:
  struct Found {
    const CachedKind* kind;
    core::ObjectKey key;
  };
  Result<void> check_reads(const MetadataReads& kept) const;
  // By what the caches hold: of a file the flags need not say it.
  Result<void> check_kept(const ReflectFlags& flags, const CachedKinds& kinds) const;
  QueryChoice choice_of(const ReflectFlags& flags, bool from_file) const;
  Result<std::unique_ptr<ObjectPrinter>> printer(Context& context, const CachedKinds& kinds) const;
  Result<int> print(Context& context, const CachedKinds& kinds, const std::vector<AskedKind>& asked,
                    QueryChoice choice, ObjectPrinter& printer, WallTime now) const;
  static std::string lacking(const CachedKinds& kinds, const std::vector<Found>& found,
                             const QueryChoice& choice);
  Result<std::vector<Found>> sorted(std::vector<Found> found) const;
  Result<void> print_found(Context& context, const std::vector<Found>& found, bool single,
                           ObjectPrinter& printer, WallTime now) const;

  PrintFlags print_;
  std::string jq_;
};

}  // namespace kubewatch::cli
