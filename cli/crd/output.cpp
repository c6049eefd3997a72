#include "cli/crd/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "crdgen/cpp_structs.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"
#include "crdgen/json_schema.hpp"
#include "crdgen/markdown.hpp"
#include "hooks/text_diff.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostCrdOutput = 64U << 20U;

// What is missing, cannot be read or is no file is not the same: what writes it says why.
bool stands_in(const std::string& path, const std::string& text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const auto there = base::read_file(path, kMostCrdOutput);
  return there.ok() && *there == text;
}

std::string path_in(const std::string& folder, const OutputFile& file) {
  return (std::filesystem::path(folder) / file.name).lexically_normal();
}

// Descriptions and the like come from whoever wrote the CRD. A file of it is exact.
std::string shown(const OutputFile& file, const Terminal& terminal) {
  if (terminal.tty && file.name.ends_with(".json")) return shown_json(file.text);
  return shown_text(file.text, terminal);
}

}  // namespace

void CrdOutput::bind(CLI::App& app, const std::vector<std::string>& languages) {
  language_ = languages.front();
  app.add_option("-o,--output", where_, "folder to write one file per kind into; - is stdout")
      ->type_name("DIR");
  app.add_flag("--check", check_,
               "write nothing; exit 9 with a diff when a file of -o DIR is stale or missing");
  app.add_option("--lang", language_, "what to write: " + base::join(languages, ", "))
      ->type_name("LANGUAGE")
      ->check(CLI::IsMember(languages));
  app.add_option("--for-version", version_,
                 "version for --lang cpp (default: the stored one) and jsonschema (default: all)")
      ->type_name("VERSION");
  app.add_option("--cpp-namespace", name_space_,
                 "namespace of the C++ structs; default KIND_VERSION")
      ->type_name("NAME");
}

std::string CrdOutput::wrong_flags() const {
  if (check_ && where_ == "-") return "--check compares with files: name their folder with -o DIR";
  if (!version_.empty() && language_ != "cpp" && language_ != "jsonschema") {
    return "--for-version goes with --lang cpp and jsonschema";
  }
  if (!name_space_.empty() && language_ != "cpp") return "--cpp-namespace goes with --lang cpp";
  return "";
}

Result<void> check_file_names(const std::vector<OutputFile>& files) {
  std::set<std::string> known;
  for (const auto& [name, text] : files) {
    const bool control = std::any_of(name.begin(), name.end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos || control) {
      return Error(ErrorKind::invalid,
                   fmt::format("\"{}\" is no name for a file: correct spec.group and "
                               "spec.names.plural of its CRD",
                               name));
    }
    if (!known.insert(name).second) {
      return Error(ErrorKind::invalid,
                   fmt::format("two kinds would be written to {}: they have the same group and "
                               "plural; leave one out, or merge them with crd-gen merge",
                               name));
    }
  }
  return {};
}

Result<OutputFile> CrdOutput::render(const Json& given) const {
  const std::string file = crdgen::crd_file_name(given);
  if (language_ != "cpp" && language_ != "jsonschema" && language_ != "markdown") {
    return OutputFile{file, crdgen::crd_yaml({given})};
  }
  KW_ASSIGN(const Json crd, crdgen::readable_crd(given));
  const std::string stem = file.substr(0, file.rfind('.'));
  if (language_ == "cpp") {
    crdgen::CppOptions options;
    options.name_space = name_space_;
    options.version = version_;
    KW_ASSIGN(auto text, crdgen::cpp_of_crd(crd, options));
    return OutputFile{stem + ".hpp", std::move(text)};
  }
  if (language_ == "jsonschema") {
    const Json schema = crdgen::json_schema_of(crd, version_);
    if (!version_.empty() && schema.contains("oneOf") && schema["oneOf"].empty()) {
      return Error(ErrorKind::not_found, fmt::format("{}: no version {}", stem, version_));
    }
    return OutputFile{stem + ".json", base::dump_json_pretty(schema) + "\n"};
  }
  return OutputFile{stem + ".md", crdgen::markdown_of(crd)};
}

int CrdOutput::write(Context& context, const std::vector<OutputFile>& files) const {
  if (auto ok = check_file_names(files); where_ != "-" && !ok.ok()) {
    return fail(context, ok.error());
  }
  if (check_) return check(context, files);
  if (where_ == "-") {
    const Terminal terminal = terminal_of(context.global.color, STDOUT_FILENO);
    for (const OutputFile& file : files) {
      const bool yaml = file.name.ends_with(".yaml");
      if (files.size() > 1 && yaml) context.out << "---\n";
      context.out << shown(file, terminal);
    }
    return kDone;
  }
  std::error_code error;
  std::filesystem::create_directories(where_, error);
  if (error) return fail(context, kFailed, fmt::format("{}: {}", where_, error.message()));
  for (const OutputFile& file : files) {
    const std::string path = path_in(where_, file);
    // Its time stays, so that make and the like see no change.
    if (stands_in(path, file.text)) {
      context.err << base::escape_for_terminal(path) << " unchanged\n";
      continue;
    }
    if (auto done = base::write_generated_file(path, file.text, 0644); !done.ok()) {
      return fail(context, kFailed, done.error().render());
    }
    context.err << base::escape_for_terminal(path) << " written\n";
  }
  return kDone;
}

int CrdOutput::check(Context& context, const std::vector<OutputFile>& files) const {
  std::size_t stale = 0;
  for (const OutputFile& file : files) {
    const std::string path = path_in(where_, file);
    const auto there = base::read_file(path, kMostCrdOutput);
    if (!there.ok() && !there.error().is_not_found()) return fail(context, there.error());
    if (there.ok() && *there == file.text) continue;
    ++stale;
    context.out << base::escape_for_terminal(fmt::format("--- {}{}\n+++ as crd-gen writes it now\n",
                                                         path, there.ok() ? "" : " (missing)"),
                                             true);
    context.out << base::escape_for_terminal(
        hooks::unified_diff(there.ok() ? *there : std::string(), file.text), true);
  }
  if (stale == 0) return kDone;
  return fail(context, kFindings,
              fmt::format("{} file{} stale; run crd-gen without --check", stale,
                          stale == 1 ? " is" : "s are"));
}

}  // namespace kubewatch::cli
