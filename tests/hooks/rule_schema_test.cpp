// The schema for editors against the reader: a rule with every key is read, and each mapping and
// each choice of words that the reader asks about must be the one that the schema names, both ways.
#include "hooks/rule_schema.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/yaml_document.hpp"
#include "hooks/rule_document.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

const char* const kEveryKey = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: website}
spec:
  for: FOR
  owns: [{apiVersion: v1, kind: ConfigMap, "on": [apply], list: {backoff: {}}, content: full}]
  writes: [{apiVersion: v1, kind: ConfigMap}]
  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all, list: {backoff: {}}, content: full}]
  triggers: [{http: {path: /kick}}]
  changed: [.spec]
  whenNoLongerMatched: finalize
  reconcile: HOOK
  finalize: HOOK
  retry: {exits: {17: permanent, 3: {after: 1m}}}
  apply: {adopt: never, onImmutable: fail, ownerReference: none, validate: none}
)";
const char* const kHook =
    "{shell: x, env: {A: {from: {file: key}}}, output: log, credentials: CREDENTIALS, "
    "limits: {}, mode: process, lists: document MORE}";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

struct Seen : hooks::RuleProbe {
  struct Mapping {
    std::set<std::string> keys;
    std::set<std::string> required;
    bool operator<(const Mapping& other) const {
      return std::tie(keys, required) < std::tie(other.keys, other.required);
    }
  };
  std::map<std::string, std::set<Mapping>> mappings;
  std::map<std::string, std::set<std::string>> words;

  void on_keys(const std::string& path, const std::vector<hooks::RuleKey>& keys) override {
    Mapping mapping;
    for (const auto& key : keys) {
      mapping.keys.emplace(key.name);
      if (key.required) mapping.required.emplace(key.name);
    }
    mappings[path].insert(mapping);
  }
  void on_words(const std::string& path, const std::vector<std::string>& all) override {
    words[path] = {all.begin(), all.end()};
  }
};

void read(Seen& seen, const std::string& text, const std::string& folder) {
  auto documents = base::parse_yaml(text);
  REQUIRE(documents.ok());
  std::vector<base::Remark> problems;
  const std::string file = folder + "/rules.yaml";
  const hooks::RuleSource source{file, documents->front().marks, problems, &seen};
  (void)hooks::read_document(hooks::RuleNode(source, documents->front().value), folder);
}

Seen read_everything() {
  const test::RuleFolder folder;
  folder.write("key", "k");
  Seen seen;
  const std::string stream =
      "{apiVersion: v1, kind: ConfigMap, list: {strategy: auto, semantics: recent, "
      "backoff: {}}, content: full}";
  const std::string group = "{group: apps, kinds: \"*\", list: {backoff: {}}, content: full}";
  for (const std::string& of : {stream, group, "[" + stream + ", " + group + "]"}) {
    std::string text =
        replaced(kEveryKey, "finalize: HOOK",
                 "finalize: " + replaced(kHook, "MORE", ", whenControllerRemoved: keep"));
    text = replaced(replaced(text, "HOOK", replaced(kHook, "MORE", "")), "FOR", of);
    read(seen, replaced(text, "CREDENTIALS", "none"), folder.path());
    read(seen, replaced(text, "CREDENTIALS", "{serviceAccount: a}"), folder.path());
  }
  return seen;
}

// Every schema that may describe the value of a path such as spec.owns[0].kind.
using Schemas = std::vector<const Json*>;

Schemas alternatives(const Json& schema) {
  if (!schema.contains("anyOf")) return {&schema};
  Schemas out;
  for (const Json& one : schema["anyOf"]) {
    for (const Json* inner : alternatives(one)) out.push_back(inner);
  }
  return out;
}

Schemas step(const Schemas& from, const std::string& key) {
  Schemas out;
  for (const Json* schema : from) {
    const Json* next = nullptr;
    if (key == "[]") {
      if (schema->contains("items")) next = &(*schema)["items"];
    } else if (schema->contains("properties") && (*schema)["properties"].contains(key)) {
      next = &(*schema)["properties"][key];
    } else if (schema->contains("additionalProperties") &&
               (*schema)["additionalProperties"].is_object()) {
      next = &(*schema)["additionalProperties"];
    }
    if (next == nullptr) continue;
    for (const Json* one : alternatives(*next)) out.push_back(one);
  }
  return out;
}

Schemas at(const Json& root, const std::string& path) {
  Schemas now = {&root};
  std::string word;
  for (const char c : path + ".") {
    if (c != '.' && c != '[') {
      word += c;
      continue;
    }
    if (word.ends_with(']')) word = "[]";
    if (!word.empty()) now = step(now, word);
    word.clear();
  }
  return now;
}

std::set<std::string> set_of(const Json& list) {
  std::set<std::string> out;
  for (const Json& word : list) out.insert(word.get<std::string>());
  return out;
}

// Conditions say how keys go together, and selectors are read by their own reader.
bool is_no_mapping(const std::string& key, const Json& schema) {
  static const std::set<std::string> kConditions = {"if", "then", "else", "not", "allOf"};
  return kConditions.contains(key) ||
         (schema.is_object() && schema.value("title", "") == "LabelSelector");
}

void collect(const Json& schema, const std::string& member, std::set<const Json*>& out) {
  if (schema.is_object() && schema.contains(member) && !schema.contains("$schema") &&
      (schema[member].is_object() || schema[member].is_array())) {
    out.insert(&schema);
  }
  if (!schema.is_structured()) return;
  if (schema.is_array()) {
    for (const Json& inner : schema) {
      if (!is_no_mapping("", inner)) collect(inner, member, out);
    }
    return;
  }
  for (const auto& [key, inner] : schema.items()) {
    if (!is_no_mapping(key, inner)) collect(inner, member, out);
  }
}

}  // namespace

TEST_CASE("the schema for editors has the keys that the reader takes, and no others") {
  const Json schema = hooks::rule_schema();
  const Seen seen = read_everything();
  std::set<const Json*> met;
  for (const auto& [path, mappings] : seen.mappings) {
    for (const auto& mapping : mappings) {
      bool found = false;
      for (const Json* one : at(schema, path)) {
        if (!one->contains("properties")) continue;
        std::set<std::string> keys;
        for (const auto& [key, value] : (*one)["properties"].items()) keys.insert(key);
        if (keys != mapping.keys) continue;
        CHECK((one->contains("required") ? set_of((*one)["required"]) : std::set<std::string>()) ==
              mapping.required);
        met.insert(one);
        found = true;
      }
      INFO(path);
      CHECK(found);
    }
  }
  std::set<const Json*> all;
  collect(schema, "properties", all);
  for (const Json* one : all) {
    INFO(one->dump());
    CHECK(met.contains(one));
  }
}

TEST_CASE("the schema for editors has the words that the reader takes, and no others") {
  const Json schema = hooks::rule_schema();
  const Seen seen = read_everything();
  std::set<const Json*> met;
  for (const auto& [path, words] : seen.words) {
    if (path == "kind") continue;  // the other kinds of a rule file have schemas of their own
    bool found = false;
    for (const Json* one : at(schema, path)) {
      if (!one->contains("enum") || set_of((*one)["enum"]) != words) continue;
      met.insert(one);
      found = true;
    }
    INFO(path);
    CHECK(found);
  }
  std::set<const Json*> all;
  collect(schema, "enum", all);
  // Of streams it is enough to have asked in one place: they are made by one function.
  for (const Json* one : all) {
    const bool like_one =
        std::any_of(met.begin(), met.end(), [&](const Json* other) { return *other == *one; });
    INFO(one->dump());
    CHECK(like_one);
  }
}
