// kubewatch crd-gen validate: objects against CRDs, as the API server would take them.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/object_validation.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/manifests.hpp"
#include "cli/printers/object_printer.hpp"

namespace kubewatch::cli {

namespace {

struct Placed {
  std::string place;  // "website.yaml:1"
  Json object;
};

struct Verdict {
  std::string place;
  std::string object;
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};

class Validate : public Command {
 public:
  std::string name() const override { return "validate"; }
  std::string summary() const override { return "objects against a CRD, as the server would"; }

  void bind(CLI::App& app) override {
    app.add_option("CRD", crd_, "FILE, DIR, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
    app.add_option("OBJECT", objects_, "files or folders with objects")->type_name("")->required();
    app.add_option("--old", old_, "what is stored now, by name: an update, with ratcheting")
        ->type_name("FILE");
    app.add_flag("--strict", strict_,
                 "unknown fields are refused too, as with fieldValidation=Strict");
    bind_output(app, output_, {"text", "json"});
  }

  int run(Context& context) override {
    CrdSources sources(context);
    const auto loaded = sources.load(crd_);
    if (!loaded.ok()) return fail(context, loaded.error());
    std::vector<Json> crds;
    for (const LoadedCrd& one : *loaded) crds.push_back(one.crd);
    const ObjectValidation validation(crds);
    if (!validation.broken().empty()) return fail(context, kUsage, validation.broken().front());
    if (auto read = read_old(); !read.ok()) return fail(context, read.error());
    std::vector<Placed> objects;
    for (const std::string& path : objects_) {
      if (auto done = read_path(validation, path, objects); !done.ok()) {
        return fail(context, done.error());
      }
    }
    if (objects.empty()) return fail(context, kNotFound, "there is no object in the files");
    alone_ = objects.size() == 1;
    std::vector<Verdict> verdicts;
    for (const Placed& one : objects) verdicts.push_back(check(validation, one));
    return print(context, verdicts);
  }

 private:
  static std::string name_of(const Json& object) {
    std::string place = base::string_at(object, {"metadata", "namespace"});
    if (!place.empty()) place += "/";
    return base::string_at(object, {"kind"}) + " " + place +
           base::string_at(object, {"metadata", "name"});
  }

  // An object is the same in all versions of its group.
  static std::string group_of(const Json& object) {
    const std::string version = base::string_at(object, {"apiVersion"});
    return version.substr(0, version.find('/'));
  }
  static std::string identity_of(const Json& object) {
    return group_of(object) + " " + name_of(object);
  }

  // kubectl get of several objects is a List.
  static void expand(Placed one, std::vector<Placed>& out) {
    auto items = list_items(one.object);
    if (!items) return out.push_back(std::move(one));
    for (std::size_t i = 0; i < items->size(); ++i) {
      expand({fmt::format("{} (item {})", one.place, i + 1), std::move((*items)[i])}, out);
    }
  }

  Result<void> read_old() {
    if (old_.empty()) return {};
    KW_ASSIGN(const auto text, read_text(old_));
    auto documents = base::parse_yaml_values(text);
    if (!documents.ok()) return wrong_file(documents.error(), old_ + ": ");
    std::vector<Placed> objects;
    for (Json& one : *documents) expand({old_, std::move(one)}, objects);
    for (Placed& one : objects) {
      if (!one.object.is_object()) {
        return Error(ErrorKind::invalid, old_ + ": holds what is no object");
      }
      const std::string name = identity_of(one.object);
      stored_[name] = std::move(one.object);
    }
    if (stored_.empty()) return Error(ErrorKind::invalid, old_ + ": holds no object");
    return {};
  }

  static bool same_kind(const Json& a, const Json& b) {
    return group_of(a) == group_of(b) &&
           base::string_at(a, {"kind"}) == base::string_at(b, {"kind"});
  }

  // Manifests often leave out the namespace that the stored object has. One object against one
  // stored one of its kind is an update of that, whatever it is called now.
  const Json* stored_of(const Json& object) const {
    const auto found = stored_.find(identity_of(object));
    if (found != stored_.end()) return &found->second;
    const Json* by_name = nullptr;
    for (const auto& [identity, one] : stored_) {
      const bool one_without = base::string_at(one, {"metadata", "namespace"}).empty() ||
                               base::string_at(object, {"metadata", "namespace"}).empty();
      if (!one_without || !same_kind(one, object) ||
          base::string_at(one, {"metadata", "name"}) !=
              base::string_at(object, {"metadata", "name"})) {
        continue;
      }
      if (by_name != nullptr) return nullptr;  // which of them is not said
      by_name = &one;
    }
    if (by_name != nullptr) return by_name;
    const bool renamed = alone_ && stored_.size() == 1;
    return renamed && same_kind(stored_.begin()->second, object) ? &stored_.begin()->second
                                                                 : nullptr;
  }

  static Result<void> read_path(const ObjectValidation& validation, const std::string& path,
                                std::vector<Placed>& out) {
    KW_ASSIGN(const auto files, files_of(path));
    for (const std::string& file : files) {
      KW_ASSIGN(const auto text, read_text(file));
      auto documents = base::parse_yaml(text);
      if (!documents.ok()) return wrong_file(documents.error(), file + ":");
      std::vector<Placed> found;
      for (base::YamlDocument& document : *documents) {
        const auto line = document.marks.value_at("").line;
        expand(
            {fmt::format("{}:{}", file == "-" ? "stdin" : file, line), std::move(document.value)},
            found);
      }
      for (Placed& one : found) {
        // In a folder other manifests may lie beside them.
        if (file == path || validation.knows_kind(one.object)) out.push_back(std::move(one));
      }
    }
    return {};
  }

  Verdict check(const ObjectValidation& validation, const Placed& one) const {
    Verdict out;
    out.place = one.place;
    out.object = name_of(one.object);
    const Json* stored = stored_of(one.object);
    if (!old_.empty() && stored == nullptr) {
      out.warnings.push_back(fmt::format("is not in {}: judged as new", old_));
    }
    std::vector<std::string> tolerated;
    out.problems = validation.check(one.object, stored, &tolerated);
    for (const std::string& rule : tolerated) {
      out.warnings.push_back("broken as before, and let be: " + rule);
    }
    for (const std::string& problem : validation.check_status(one.object, stored)) {
      out.warnings.push_back("the status endpoint would refuse " + problem);
    }
    for (const std::string& field : validation.unknown_fields(one.object)) {
      (strict_ ? out.problems : out.warnings).push_back(fmt::format("unknown field \"{}\"", field));
    }
    return out;
  }

  int print(Context& context, const std::vector<Verdict>& verdicts) const {
    bool valid = true;
    Json list = Json::array();
    for (const Verdict& one : verdicts) {
      valid = valid && one.problems.empty();
      list.push_back({{"place", one.place},
                      {"object", one.object},
                      {"valid", one.problems.empty()},
                      {"problems", one.problems},
                      {"warnings", one.warnings}});
      if (output_ == "json") continue;
      for (const auto& [word, lines] :
           {std::pair("", &one.problems), {"warning: ", &one.warnings}}) {
        for (const std::string& line : *lines) {
          context.out << base::escape_for_terminal(
                             fmt::format("{}: {}: {}{}", one.place, one.object, word, line))
                      << "\n";
        }
      }
      if (one.problems.empty())
        context.out << base::escape_for_terminal(
                           fmt::format("{}: {}: valid", one.place, one.object))
                    << "\n";
    }
    if (output_ == "json")
      context.out << shown_json(base::dump_json_pretty({{"objects", list}})) << "\n";
    return valid ? kDone : kFindings;
  }

  std::string crd_;
  std::vector<std::string> objects_;
  std::string old_;
  bool strict_ = false;
  std::string output_ = "text";
  std::map<std::string, Json> stored_;
  bool alone_ = false;  // one object is checked
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_validate() {
  return std::make_unique<Validate>();
}

}  // namespace kubewatch::cli
