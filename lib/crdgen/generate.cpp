#include "crdgen/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "core/resource.hpp"
#include "crdgen/schema_walk.hpp"
#include "crdgen/server_check.hpp"
#include "crdgen/version_reader.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr const char* kApiVersion = "kubewatch.dev/v1";

// A document that stays alive as long as its nodes.
struct Document {
  Document(std::string file, std::string_view text, base::YamlDocument document, Generated& out)
      : value(std::move(document.value)),
        source{std::move(file), text, std::move(document.marks), out.problems, out.notes} {}
  Json value;
  Source source;
};

// One CRD while the documents of its kind are read.
struct Definition {
  Json crd;
  std::vector<Node> version_nodes;
  std::vector<std::optional<bool>> storage;
  Node first;
  bool repeated = false;  // a version is said twice, and read once
};

std::string plural_of(const std::string& kind) {
  std::string word = base::to_lower(kind);
  const auto ends = [&word](std::string_view end) { return word.ends_with(end); };
  if (ends("s") || ends("x") || ends("z") || ends("ch") || ends("sh")) return word + "es";
  const bool vowel_y = ends("ay") || ends("ey") || ends("iy") || ends("oy") || ends("uy");
  if (ends("y") && !vowel_y) return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

void copy_texts(const Node& spec, const char* key, Json& into) {
  if (!spec.has(key)) return;
  const Node map = spec.child(key);
  if (!map.value().is_object()) {
    map.problem("must be a mapping of texts");
    return;
  }
  for (const auto& [name, value] : map.value().items()) {
    if (!value.is_string()) map.child(name).problem("must be text: quote it");
  }
  if (!map.value().empty()) into[key] = map.value();
}

Json read_names(const Node& spec, const std::string& kind) {
  Json names = {{"kind", kind},
                {"plural", spec.text("plural").value_or(plural_of(kind))},
                {"singular", spec.text("singular").value_or(base::to_lower(kind))},
                {"listKind", spec.text("listKind").value_or(kind + "List")}};
  for (const char* key : {"shortNames", "categories"}) {
    const auto list = spec.texts(key);
    if (list && !list->empty()) names[key] = *list;
  }
  return names;
}

Json read_conversion(const Node& spec) {
  if (!spec.has("conversion")) return {{"strategy", "None"}};
  const Node conversion = spec.child("conversion");
  if (conversion.value() == "none") return {{"strategy", "None"}};
  if (!conversion.value().is_object()) {
    conversion.problem("must be \"none\" or a mapping with `service` or `url`");
    return {{"strategy", "None"}};
  }
  conversion.only_keys({"service", "url", "caBundle", "reviewVersions"});
  Json client = Json::object();
  if (conversion.has("service") == conversion.has("url")) {
    conversion.problem("names either `service` or `url`: where the webhook is");
  }
  if (conversion.has("service")) {
    const Node service = conversion.child("service");
    service.only_keys({"name", "namespace", "path", "port"});
    for (const char* key : {"name", "namespace"}) {
      if (!service.text(key)) service.problem(fmt::format("`{}` is missing", key));
    }
    client["service"] = service.value();
    if (service.value().is_object() && !service.has("port")) client["service"]["port"] = 443;
  }
  for (const char* key : {"url", "caBundle"}) {
    if (const auto text = conversion.text(key)) client[key] = *text;
  }
  return {{"strategy", "Webhook"},
          {"webhook",
           {{"clientConfig", client},
            {"conversionReviewVersions",
             conversion.texts("reviewVersions").value_or(std::vector<std::string>{"v1"})}}}};
}

// "3:5: what", as the YAML reader says it, with the file.
Remark remark_of(const std::string& file, const std::string& message) {
  std::size_t numbers[2] = {0, 0};
  std::size_t at = 0;
  for (std::size_t& number : numbers) {
    const std::size_t end = message.find(':', at);
    const std::string digits = message.substr(at, end == std::string::npos ? end : end - at);
    const bool whole = end != std::string::npos && !digits.empty() && digits.size() < 10 &&
                       digits.find_first_not_of("0123456789") == std::string::npos;
    if (!whole) return {file, 0, 0, message};
    number = std::stoul(digits);
    at = end + 1;
  }
  return {file, numbers[0], numbers[1], std::string(base::trim(message.substr(at)))};
}

class Generator {
 public:
  Generator(Generated& out, ServerCheck check) : out_(out), check_(check) {}

  void add(const Node& document) {
    const Json& value = document.value();
    if (!value.is_object() || value.value("kind", Json()) != "TypeDefinitions") return;
    ++documents_;
    document.only_keys({"apiVersion", "kind", "metadata", "spec"});
    if (document.text("apiVersion").value_or("") != kApiVersion) {
      const Node at = document.has("apiVersion") ? document.child("apiVersion") : document;
      at.problem(fmt::format("must be {}", kApiVersion));
    }
    if (!document.has("spec")) {
      document.problem("`spec` is missing");
      return;
    }
    read_spec(document.child("spec"));
  }

  void finish(const std::string& file) {
    const bool sound = out_.problems.empty();
    for (const std::string& id : order_) settle(definitions_.at(id), sound);
    if (documents_ == 0 && out_.problems.empty()) {
      out_.problems.push_back({file, 0, 0, "holds no document of kind TypeDefinitions"});
    }
    const auto place = [](const Remark& one) { return std::tie(one.file, one.line, one.column); };
    const auto before = [&place](const Remark& a, const Remark& b) { return place(a) < place(b); };
    std::stable_sort(out_.problems.begin(), out_.problems.end(), before);
    std::stable_sort(out_.notes.begin(), out_.notes.end(), before);
  }

 private:
  void read_spec(const Node& spec) {
    std::vector<std::string> known = {"group",       "kind",       "plural",     "singular",
                                      "listKind",    "shortNames", "categories", "scope",
                                      "annotations", "labels",     "conversion", "descriptions",
                                      "types",       "versions",   "version"};
    known.insert(known.end(), version_keys().begin(), version_keys().end());
    if (!spec.only_keys(known)) return;
    const std::string group = needed(spec, "group");
    const std::string kind = needed(spec, "kind");
    if (!group.empty() &&
        (group.find('.') == std::string::npos || !core::check_dns_subdomain(group).empty())) {
      spec.child("group").problem(fmt::format(
          "{} is no group: it needs a domain, like apps.example.com", in_quotes(group)));
    }
    Definition& definition = definition_of(spec, group, kind);
    TypeExpander types;
    define_types(spec, types);
    const VersionDefaults defaults{description_limit(spec)};
    if (spec.has("versions")) {
      read_versions(spec, definition, types, defaults);
    } else {
      add_version(definition, spec, "version", types, defaults);
    }
    types.expand_all();
  }

  static std::string needed(const Node& spec, const char* key) {
    if (!spec.has(key)) spec.problem(fmt::format("`{}` is missing", key));
    return spec.text(key).value_or("");
  }

  static std::optional<std::size_t> description_limit(const Node& spec) {
    if (!spec.has("descriptions")) return std::nullopt;
    const Node node = spec.child("descriptions");
    node.only_keys({"maxLength"});
    const Json* limit = base::find(node.value(), {"maxLength"});
    if (limit != nullptr && limit->is_number_integer() && limit->get<std::int64_t>() >= 0) {
      return limit->get<std::size_t>();
    }
    node.problem("needs `maxLength`, a whole number of bytes; 0 leaves descriptions out");
    return std::nullopt;
  }

  static void define_types(const Node& holder, TypeExpander& types) {
    if (!holder.has("types")) return;
    const Node all = holder.child("types");
    if (!all.value().is_object()) {
      all.problem("must be a mapping of type names to types");
      return;
    }
    for (const auto& [name, type] : all.value().items()) types.define(name, all.child(name));
  }

  Definition& definition_of(const Node& spec, const std::string& group, const std::string& kind) {
    const std::string id = group + "/" + kind;
    Json head = head_of(spec, group, kind);
    const auto found = definitions_.find(id);
    if (found == definitions_.end()) {
      order_.push_back(id);
      return definitions_.emplace(id, Definition{std::move(head), {}, {}, spec, false})
          .first->second;
    }
    // What a later document says of the kind as a whole must be what the first one said.
    Definition& first = found->second;
    for (const char* key : {"plural", "singular", "listKind", "shortNames", "categories", "scope",
                            "conversion", "annotations", "labels"}) {
      if (spec.has(key) && first.first.has(key) && spec.value()[key] != first.first.value()[key]) {
        spec.child(key).problem("differs from the first document of this kind");
      } else if (spec.has(key) && !first.first.has(key)) {
        spec.child(key).problem("belongs into the first document of this kind");
      }
    }
    return first;
  }

  static Json head_of(const Node& spec, const std::string& group, const std::string& kind) {
    Json out = {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"}};
    const Json names = read_names(spec, kind);
    out["metadata"]["name"] = names["plural"].get<std::string>() + "." + group;
    copy_texts(spec, "annotations", out["metadata"]);
    copy_texts(spec, "labels", out["metadata"]);
    const std::string scope = spec.text("scope").value_or("Namespaced");
    if (scope != "Namespaced" && scope != "Cluster")
      spec.child("scope").problem("is Namespaced or Cluster");
    out["spec"] = {{"group", group},
                   {"names", names},
                   {"scope", scope},
                   {"conversion", read_conversion(spec)}};
    out["spec"]["versions"] = Json::array();
    return out;
  }

  void read_versions(const Node& spec, Definition& definition, TypeExpander& types,
                     const VersionDefaults& defaults) {
    for (const std::string& key : version_keys()) {
      if (spec.has(key))
        spec.child(key).problem_at_key("stands in each of `versions` where there are several");
    }
    if (spec.has("version")) spec.child("version").problem_at_key("does not go with `versions`");
    const Node versions = spec.child("versions");
    if (!versions.value().is_array() || versions.value().empty()) {
      versions.problem("must be a list of versions");
      return;
    }
    std::vector<std::string> known = version_keys();
    known.insert(known.end(), {"name", "types"});
    for (std::size_t i = 0; i < versions.value().size(); ++i) {
      const Node version = versions.item(i);
      if (!version.only_keys(known)) continue;
      if (!version.has("types")) {
        add_version(definition, version, "name", types, defaults);
        continue;
      }
      TypeExpander own;
      define_types(spec, own);
      define_types(version, own);
      add_version(definition, version, "name", own, defaults);
      own.expand_all();
    }
  }

  static void add_version(Definition& definition, const Node& node, const std::string& name_key,
                          TypeExpander& types, const VersionDefaults& defaults) {
    ReadVersion read = read_version(node, name_key, types, defaults);
    const Json& others = definition.crd["spec"]["versions"];
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (others[i]["name"] != read.version["name"]) continue;
      definition.repeated = true;
      return already_there(node, name_key, definition.version_nodes[i]);
    }
    definition.crd["spec"]["versions"].push_back(std::move(read.version));
    definition.version_nodes.push_back(node);
    definition.storage.push_back(read.storage);
  }

  static void already_there(const Node& node, const std::string& name_key, const Node& other) {
    const char* key = other.has("version") ? "version" : "name";
    const Node at = node.has(name_key) ? node.child(name_key) : node;
    const std::string before = (other.has(key) ? other.child(key) : other).place();
    at.problem("this version is there already" +
               (before == at.place() ? ": the file is given twice" : ", at " + before));
  }

  void settle(Definition& definition, bool sound) {
    const std::size_t before = out_.problems.size();
    Json& versions = definition.crd["spec"]["versions"];
    if (versions.empty()) return;
    std::size_t said = 0;
    bool served = false;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool storage = definition.storage[i].value_or(versions.size() == 1);
      versions[i]["storage"] = storage;
      if (storage) ++said;
      if (said > 1 && storage)
        definition.version_nodes[i].problem("is the second version with `storage: true`");
      served = served || versions[i]["served"] == true;
    }
    // Else what was left out may have said it.
    if (said == 0 && !definition.repeated)
      definition.first.problem("no version has `storage: true`: say which one is stored");
    if (!served && !definition.repeated) definition.first.problem("no version is served");
    for (Json& version : versions) drop_unstored(version["schema"]["openAPIV3Schema"]);
    if (check_ == ServerCheck::run && sound && out_.problems.size() == before) {
      check_as_server(definition.crd, definition.first, definition.version_nodes);
    }
    out_.crds.push_back(std::move(definition.crd));
  }

  Generated& out_;
  ServerCheck check_;
  std::map<std::string, Definition> definitions_;
  std::vector<std::string> order_;
  std::size_t documents_ = 0;
};

}  // namespace

Generated generate(const std::vector<TypeFile>& files, ServerCheck check) {
  Generated out;
  Generator generator(out, check);
  std::vector<std::unique_ptr<Document>> alive;
  for (const TypeFile& file : files) {
    auto documents = base::parse_yaml(file.text);
    if (!documents.ok()) {
      out.problems.push_back(remark_of(file.file, documents.error().message()));
      continue;
    }
    for (base::YamlDocument& document : *documents) {
      alive.push_back(std::make_unique<Document>(file.file, file.text, std::move(document), out));
      generator.add(Node(alive.back()->source, alive.back()->value));
    }
  }
  generator.finish(files.empty() ? "input" : files.front().file);
  return out;
}

Generated generate(const Json& document, const std::string& file, ServerCheck check) {
  Generated out;
  const Source source{file, "", {}, out.problems, out.notes};
  Generator generator(out, check);
  generator.add(Node(source, document));
  generator.finish(file);
  return out;
}

}  // namespace kubewatch::crdgen
