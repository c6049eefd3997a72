#include "hooks/rule_schema.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::hooks {
namespace {

using Words = std::vector<std::string>;

Json with_text(Json schema, const char* text) {
  if (*text != '\0') schema["description"] = text;
  return schema;
}

Json text(const char* description = "") {
  return with_text({{"type", "string"}}, description);
}

Json flag(const char* description = "") {
  return with_text({{"type", "boolean"}}, description);
}

Json whole(std::int64_t min, std::int64_t max, const char* description = "") {
  return with_text({{"type", "integer"}, {"minimum", min}, {"maximum", max}}, description);
}

Json words(const Words& values, const char* description = "") {
  return with_text({{"enum", values}}, description);
}

Json any_of(std::vector<Json> choices, const char* description = "") {
  return with_text({{"anyOf", Json(std::move(choices))}}, description);
}

Json list(Json items, const char* description = "") {
  return with_text({{"type", "array"}, {"items", std::move(items)}}, description);
}

Json mapping(Json properties, const Words& required = {}) {
  Json out = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  return out;
}

Json map_of(Json values, const char* description = "") {
  return with_text({{"type", "object"}, {"additionalProperties", std::move(values)}}, description);
}

Json duration(const char* description = "") {
  return with_text({{"anyOf",
                     {{{"type", "string"}, {"pattern", "^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$"}},
                      {{"const", 0}}}}},
                   description);
}

Json size(const char* description = "") {
  return with_text({{"type", {"string", "integer"}}}, description);
}

Json names(const char* description = "") {
  return list(text(), description);
}

// Text such as "tier in (web)", or {matchLabels, matchExpressions}.
Json selector(const char* description) {
  return with_text({{"type", {"string", "object"}}}, description);
}

Json list_options() {
  return mapping({{"strategy", words({"auto", "paged", "unpaged", "streaming"})},
                  {"semantics", words({"recent", "any", "notOlderThan"})},
                  {"pageSize", whole(1, 10000)},
                  {"timeout", duration()},
                  {"bookmarks", flag()},
                  {"backoff", mapping({{"initial", duration()}, {"max", duration()}})}});
}

// What for, owns and watches share; `more` keys come on top.
Json stream(Json more, const Words& required) {
  Json keys = {{"namespaces", names("leave it out for all namespaces")},
               {"namespaceSelector", selector("namespaces by their labels, followed live")},
               {"labelSelector", selector("goes over the wire")},
               {"fieldSelector", text("goes over the wire")},
               {"filter", text("jq, evaluated here")},
               {"content", words({"full", "metadata"})},
               {"strip", names("paths that are dropped before the cache")},
               {"optional", flag("true: a missing CRD does not hold the rule")},
               {"list", list_options()}};
  keys.update(more);
  return mapping(std::move(keys), required);
}

Json kind_stream(Json more = Json::object(), Words required = {}) {
  more["apiVersion"] = text("such as apps/v1");
  more["kind"] = text("such as Deployment");
  required.insert(required.end(), {"apiVersion", "kind"});
  return stream(std::move(more), required);
}

Json for_kinds() {
  const Json one = kind_stream();
  const Json group = stream({{"group", text()}, {"kinds", {{"const", "*"}}}}, {"group", "kinds"});
  return any_of({one, group, list(any_of({one, group}))}, "the kind it reconciles");
}

Json trigger() {
  const Json http = mapping({{"path", text("starts with /")}, {"tokenFile", text()}}, {"path"});
  return mapping({{"exec", names("a program that runs on")}, {"file", text()}, {"http", http}});
}

Json env() {
  const Json from = mapping({{"file", text()}}, {"file"});
  return map_of(any_of({text(), mapping({{"from", from}, {"jq", text()}})}));
}

Json hook(Json more = Json::object()) {
  const Json account = mapping({{"serviceAccount", text()}}, {"serviceAccount"});
  Json keys = {{"exec", names("program and arguments; relative to this file")},
               {"shell", text("a script for /bin/sh -e")},
               {"timeout", duration("then TERM to the process group")},
               {"grace", duration("from TERM to KILL")},
               {"env", env()},
               {"inheritEnv", names("variables handed over")},
               {"output", words({"manifests", "log"})},
               {"credentials", any_of({words({"none", "kubeconfig", "cache"}), account})},
               {"limits", mapping({{"output", size()},
                                   {"memory", size()},
                                   {"cpu", duration()},
                                   {"processes", whole(1, 1'000'000)}})},
               {"mode", words({"process", "worker"})}};
  keys.update(more);
  Json out = mapping(std::move(keys));
  out["oneOf"] = {{{"required", {"exec"}}}, {{"required", {"shell"}}}};
  return out;
}

Json retry() {
  const Json after = mapping({{"after", duration()}}, {"after"});
  return mapping({{"initial", duration()},
                  {"max", duration()},
                  {"factor", {{"type", "number"}, {"minimum", 1}, {"maximum", 100}}},
                  {"jitter", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
                  {"maxAttempts", whole(0, 1'000'000, "0 = for ever; then it is parked")},
                  {"exits", map_of(any_of({{{"const", "permanent"}}, after}), "by exit code")}});
}

Json apply() {
  return mapping({{"fieldManager", text("default: kubewatch/NAME")},
                  {"force", any_of({flag(), names("paths that are taken over")})},
                  {"adopt", words({"never", "unowned"})},
                  {"onImmutable", words({"fail", "recreate"})},
                  {"prune", flag()},
                  {"ownerReference", words({"controller", "plain", "none"})},
                  {"validate", words({"none", "schema", "server"})}});
}

Json spec() {
  const Json writes = mapping({{"apiVersion", text()}, {"kind", text()}, {"namespaces", names()}},
                              {"apiVersion", "kind"});
  const Json finalize =
      hook({{"name", text("default: kubewatch.dev/NAME")},
            {"apply", flag("may print manifests")},
            {"whenControllerRemoved",
             words({"release", "keep"}, "of the finalizer, when the rule goes")}});
  return mapping(
      {{"for", for_kinds()},
       {"owns", list(kind_stream({{"on", list(words({"apply", "delete"}))}}), "children")},
       {"writes", list(writes, "further kinds and namespaces that the hook may print")},
       {"watches", list(kind_stream({{"name", text("key of `related`")},
                                     {"map", text("jq: from the related object to ours; or all")},
                                     {"refs", text("jq: from our object to the related one")}},
                                    {"name"}),
                        "other kinds, mapped to objects")},
       {"triggers", list(trigger(), "outside events")},
       {"changed", names("paths: only their changes run an object's own events")},
       {"debounce", duration("from the first trigger")},
       {"resync", duration("run each object again this often; default never")},
       {"schedule", text("five fields of cron, with a TZ= prefix")},
       {"onDelete", flag("run once more after a deletion")},
       {"whenNoLongerMatched", words({"keep", "release", "finalize"})},
       {"concurrency", whole(1, 1000, "objects at the same time")},
       {"reconcile", hook()},
       {"finalize", finalize},
       {"retry", retry()},
       {"apply", apply()}},
      {"reconcile"});
}

}  // namespace

Json rule_schema() {
  Json out = mapping({{"apiVersion", {{"const", "kubewatch.dev/v1"}}},
                      {"kind", {{"const", "Controller"}}},
                      {"metadata", mapping({{"name", text()}}, {"name"})},
                      {"spec", spec()}},
                     {"apiVersion", "kind", "metadata", "spec"});
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "kubewatch Controller";
  return out;
}

}  // namespace kubewatch::hooks
