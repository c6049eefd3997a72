// What the readers of rule files refuse by shape alone is refused here too; what needs the file
// system, jq, a clock or another part of the rule is theirs. rule_schema_test holds both together.
#include "hooks/rule_schema.hpp"

#include <string>
#include <utility>
#include <vector>

#include "hooks/json_schema.hpp"
#include "runtime/stream_choices.hpp"

namespace kubewatch::hooks {
namespace {

using namespace json_schema;

constexpr const char* kDnsLabel = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
constexpr const char* kSubdomain =
    "^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr const char* kApiGroup =
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$";
constexpr const char* kVariable =
    "^(?!KW_)(?!(PATH|HOME|TRACEPARENT|KUBEWATCH_PROCESS_MARK|true|false)$)[A-Za-z_][A-Za-z0-9_]*$";
constexpr const char* kFinalizer =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
constexpr const char* kExit = "^(?!65$|75$)([1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$";
constexpr const char* kCron = "^\\s*((CRON_)?TZ=\\S+\\s+)?(\\S+\\s+){4}\\S+\\s*$";

// "0" or terms such as 1h30m.
Json duration(const char* description = "") {
  constexpr const char* kTerms =
      "^(0|\\+?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$";
  return any_of({matching(kTerms), {{"const", 0}}}, description);
}

// Longer than nothing.
Json some_time(const char* description = "") {
  constexpr const char* kTerms =
      "^(?=.*[1-9])\\+?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$";
  return matching(kTerms, description);
}

Json size(std::int64_t min, std::int64_t max) {
  return any_of({matching("^[0-9]+(k|M|G|Ki|Mi|Gi)?$"), whole(min, max)});
}

// jq of keys alone; `.` is the object itself.
Json path() {
  return matching("^\\.");
}
Json path_inside() {
  return matching("^\\..");
}

Json names(Json item, const char* description = "") {
  Json out = list(std::move(item), description);
  out["uniqueItems"] = true;
  return out;
}

Json namespaces(const char* description) {
  Json out = names(matching(kDnsLabel), description);
  out["minItems"] = 1;
  return out;
}

// Text such as "tier in (web)", or {matchLabels, matchExpressions}.
Json selector(const char* description) {
  const Json expression =
      mapping({{"key", text()},
               {"operator", matching("^(In|NotIn|Exists|DoesNotExist)$")},
               {"values", {{"type", {"array", "null"}}, {"items", {{"type", "string"}}}}}},
              {"key", "operator"});
  Json object =
      mapping({{"matchLabels",
                {{"type", {"object", "null"}}, {"additionalProperties", {{"type", "string"}}}}},
               {"matchExpressions", {{"type", {"array", "null"}}, {"items", expression}}}});
  object["title"] = "LabelSelector";
  return any_of({{{"type", "string"}}, std::move(object)}, description);
}

Json list_options() {
  Json out = mapping({{"strategy", words({"auto", "paged", "unpaged", "streaming"})},
                      {"semantics", words({"recent", "any", "notOlderThan"})},
                      {"pageSize", whole(0, runtime::kMaxPageSize, "0: never in pages")},
                      {"timeout", some_time("5s to 294s")},
                      {"bookmarks", flag()},
                      {"backoff", mapping({{"initial", some_time()}, {"max", some_time()}})}});
  const Json paged = {{"required", {"strategy"}},
                      {"properties", {{"strategy", {{"const", "paged"}}}}}};
  out.update(when(paged, with("pageSize", {{"minimum", 1}})));
  return out;
}

// What for, owns and watches share; `more` keys come on top.
Json stream(Json more, const Words& required) {
  Json keys = {{"namespaces", namespaces("leave it out for all namespaces")},
               {"namespaceSelector", selector("namespaces by their labels, followed live")},
               {"labelSelector", selector("goes over the wire")},
               {"fieldSelector", {{"type", "string"}, {"description", "goes over the wire"}}},
               {"filter", text("jq, evaluated here")},
               {"content", words({"full", "metadata"})},
               {"strip", list(path_inside(), "paths that are dropped before the cache")},
               {"optional", flag("a kind that is missing does not hold the rule")},
               {"list", list_options()}};
  keys.update(more);
  Json out = mapping(std::move(keys), required);
  out["not"] = {{"required", {"namespaces", "namespaceSelector"}}};
  return out;
}

Json api_version(const char* description = "such as apps/v1") {
  return matching("^([^/]+/)?[^/]+$", description);
}
Json kind(const char* description = "such as Deployment") {
  return matching("^[A-Za-z][A-Za-z0-9-]{0,62}$", description);
}

Json kind_stream(Json more = Json::object(), Words required = {}) {
  more["apiVersion"] = api_version();
  more["kind"] = kind();
  required.insert(required.end(), {"apiVersion", "kind"});
  return stream(std::move(more), required);
}

Json for_kinds() {
  const Json one = kind_stream();
  const Json group =
      stream({{"group", matching(kApiGroup)}, {"kinds", {{"const", "*"}}}}, {"group", "kinds"});
  return any_of({one, group, some(any_of({one, group}))}, "the kind it reconciles");
}

// Arguments may be empty, the program not.
Json command(const char* description) {
  Json out = some({{"type", "string"}}, description);
  out["prefixItems"] = Json::array({text()});
  return out;
}

Json trigger() {
  const Json http =
      mapping({{"path", matching("^/[A-Za-z0-9/_.~-]*$", "starts with /")}, {"tokenFile", text()}},
              {"path"});
  return one_key({{"exec", command("a program that runs on")}, {"file", text()}, {"http", http}});
}

Json env() {
  const Json from = mapping({{"file", text()}}, {"file"});
  return map_of(any_of({{{"type", "string"}}, one_key({{"from", from}, {"jq", text()}})}),
                kVariable);
}

// Where the hook is handed credentials, KUBECONFIG says where they are.
Json check_kubeconfig() {
  const Json given = {{"required", {"credentials"}},
                      {"properties", {{"credentials", {{"not", {{"const", "none"}}}}}}}};
  const Json inherited = {{"items", {{"not", {{"const", "KUBECONFIG"}}}}}};
  return when(given,
              {{"properties", {{"env", with("KUBECONFIG", false)}, {"inheritEnv", inherited}}}});
}

Json hook(Json more = Json::object()) {
  const Json account = mapping({{"serviceAccount", matching(kSubdomain)}}, {"serviceAccount"});
  const Json credentials = words({"none", "kubeconfig", "cache"});
  Json keys = {{"exec", command("program and arguments; relative to this file")},
               {"shell", text("a script for /bin/sh -e")},
               {"timeout", some_time("then TERM to the process group")},
               {"grace", duration("from TERM to KILL")},
               {"env", env()},
               {"inheritEnv", names(matching(kVariable), "variables handed over")},
               {"output", words({"manifests", "log"})},
               {"credentials", any_of({credentials, account})},
               {"limits", mapping({{"output", size(1024, 256 << 20)},
                                   {"memory", size(1 << 20, std::int64_t{1} << 44)},
                                   {"cpu", some_time()},
                                   {"processes", whole(1, 1'000'000)}})},
               {"mode", words({"process", "worker"})},
               {"lists", words({"document", "files"})}};
  keys.update(more);
  Json out = mapping(std::move(keys));
  out["oneOf"] = Json::array({has("exec"), has("shell")});
  out["allOf"] = Json::array({check_kubeconfig()});
  return out;
}

Json retry() {
  const Json after = mapping({{"after", some_time()}}, {"after"});
  return mapping(
      {{"initial", some_time()},
       {"max", some_time()},
       {"factor", {{"type", "number"}, {"minimum", 1}, {"maximum", 100}}},
       {"jitter", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
       {"maxAttempts", whole(0, 1'000'000, "0 = for ever; then it is parked")},
       {"exits", map_of(any_of({{{"const", "permanent"}}, after}), kExit, "by exit code")}});
}

Json apply() {
  Json manager = matching("^[^\t\n]+$", "default: kubewatch/NAME");
  manager["maxLength"] = 128;
  return mapping({{"fieldManager", manager},
                  {"force", any_of({flag(), some(path_inside(), "paths that are taken over")})},
                  {"adopt", words({"never", "unowned"})},
                  {"onImmutable", words({"fail", "recreate"})},
                  {"prune", flag()},
                  {"ownerReference", words({"controller", "plain", "none"})},
                  {"validate", words({"none", "schema", "server"})}});
}

// A rule without `for` is one run for everything: what speaks of an object has none.
Json check_for() {
  const Json mapped = {{"oneOf", {has("map"), has("refs")}}};
  const Json env = with("env", {{"additionalProperties", {{"not", has("jq")}}}});
  const Json unmapped = {{"properties", {{"map", {{"const", "all"}}}, {"refs", false}}}};
  return when(has("for"), with("watches", {{"items", mapped}}),
              {{"properties",
                {{"finalize", false},
                 {"whenNoLongerMatched", false},
                 {"onDelete", false},
                 {"changed", false},
                 {"concurrency", {{"const", 1}}},
                 {"reconcile", env},
                 {"apply", with("ownerReference", false)},
                 {"watches", {{"items", unmapped}}}}}});
}

Json check_finalize() {
  const Json finalizes = {{"required", {"whenNoLongerMatched"}},
                          {"properties", {{"whenNoLongerMatched", {{"const", "finalize"}}}}}};
  return when(finalizes, has("finalize"));
}

Json spec() {
  const Json writes = mapping({{"apiVersion", api_version()},
                               {"kind", kind()},
                               {"namespaces", namespaces("leave it out for the object's own")}},
                              {"apiVersion", "kind"});
  const Json finalize =
      hook({{"name", matching(kFinalizer, "default: kubewatch.dev/NAME")},
            {"apply", flag("may print manifests")},
            {"whenControllerRemoved",
             words({"release", "keep"}, "of the finalizer, when the rule goes")}});
  const Json watch = kind_stream({{"name", matching("^[A-Za-z0-9_-]{1,63}$", "key of `related`")},
                                  {"map", text("jq: from the related object to ours; or all")},
                                  {"refs", text("jq: from our object to the related one")}},
                                 {"name"});
  Json out =
      mapping({{"for", for_kinds()},
               {"owns", list(kind_stream({{"on", some(words({"apply", "delete"}))}}), "children")},
               {"writes", list(writes, "further kinds and namespaces that the hook may print")},
               {"watches", list(watch, "other kinds, mapped to objects")},
               {"triggers", some(trigger(), "outside events")},
               {"changed", some(path(), "paths: only their changes run an object's own events")},
               {"debounce", duration("from the first trigger")},
               {"resync", duration("run each object again this often; default never")},
               {"schedule", matching(kCron, "five fields of cron, with a TZ= prefix")},
               {"onDelete", flag("run once more after a deletion")},
               {"whenNoLongerMatched", words({"keep", "release", "finalize"})},
               {"concurrency", whole(1, 1000, "objects at the same time")},
               {"reconcile", hook()},
               {"finalize", finalize},
               {"retry", retry()},
               {"apply", apply()}},
              {"reconcile"});
  out["allOf"] = Json::array({check_for(), check_finalize()});
  return out;
}

}  // namespace

Json rule_schema() {
  Json out = mapping({{"apiVersion", {{"const", "kubewatch.dev/v1"}}},
                      {"kind", {{"const", "Controller"}}},
                      {"metadata", mapping({{"name", matching(kSubdomain)}}, {"name"})},
                      {"spec", spec()}},
                     {"apiVersion", "kind", "metadata", "spec"});
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "kubewatch Controller";
  return out;
}

}  // namespace kubewatch::hooks
