#include "cli/resource_args.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

std::string parsed(const std::vector<std::string>& words) {
  const auto out = parse_resource_words(words);
  if (!out.ok()) return "error: " + out.error().message();
  std::string text;
  for (const auto& one : *out) {
    text += (text.empty() ? "" : " ") + one.type + "(";
    for (std::size_t i = 0; i < one.names.size(); ++i) text += (i ? "," : "") + one.names[i];
    text += ")";
  }
  return text;
}

std::string checked(const ResourceFlags& flags, const ResourceRules& rules = {}) {
  const auto out = check_resources(flags, rules);
  return out.ok() ? "" : out.error().message();
}

ResourceFlags words(std::vector<std::string> given) {
  ResourceFlags flags;
  flags.words = std::move(given);
  return flags;
}

}  // namespace

TEST_CASE("resource arguments are read as kubectl reads them") {
  CHECK(parsed({"pods"}) == "pods()");
  CHECK(parsed({"pods", "a", "b"}) == "pods(a,b)");
  CHECK(parsed({"pods,svc"}) == "pods() svc()");
  CHECK(parsed({"pods,svc", "a"}) == "pods(a) svc(a)");
  CHECK(parsed({"pod/a", "svc/b", "pod/c"}) == "pod(a) svc(b) pod(c)");
  CHECK(parsed({"pod/a,svc/b"}) == "pod(a) svc(b)");
  CHECK(parsed({"deployments.v1.apps", "x"}) == "deployments.v1.apps(x)");
  CHECK(parsed({}).empty());
}

TEST_CASE("arguments that mix the two forms, or name nothing, are refused in kubectl's words") {
  CHECK(parsed({"pod", "pod/a"}).find("no need to specify a resource type") != std::string::npos);
  CHECK(parsed({"a/b/c"}) ==
        "error: arguments in resource/name form may not have more than one slash");
  CHECK(parsed({"a/"}) ==
        "error: arguments in resource/name form must have a single resource and name");
  CHECK(parsed({"/a"}) ==
        "error: arguments in resource/name form must have a single resource and name");
  CHECK(parsed({"pods,"}) == "error: \"pods,\" names an empty resource type");
  CHECK(parsed({"pods", "a%2fb"}) == "error: invalid resource name \"a%2fb\": may not contain '%'");
  CHECK(parsed({"pods/.."}) == "error: invalid resource name \"..\": may not be '..'");
  CHECK(parsed({"pods", ""}) == "error: the name of an object cannot be empty");
}

TEST_CASE("names, selectors, files and -A exclude each other as in kubectl") {
  auto flags = words({"pods", "a"});
  CHECK(checked(flags).empty());
  flags.selection.label_selector = "a=b";
  CHECK(checked(flags) == "name cannot be provided when a selector is specified");
  flags.words = {"pods/a"};
  CHECK(checked(flags) ==
        "selectors and the all flag cannot be used when passing resource/name arguments");
  flags.selection.label_selector.clear();
  flags.selection.all_namespaces = true;
  CHECK(checked(flags) == "a resource cannot be retrieved by name across all namespaces");
  flags.files = {"x.yaml"};
  CHECK(checked(flags).find("you may not specify resource arguments as well") != std::string::npos);
  flags.words.clear();
  CHECK(checked(flags).empty());
  flags.kustomize = "dir";
  CHECK(checked(flags) == "only one of -f or -k can be specified");
  flags.kustomize.clear();
  flags.selection.field_selector = "a=b";
  CHECK(checked(flags).find("--field-selector") == 0);
  flags.selection.field_selector.clear();
  flags.files = {"-", "-"};
  CHECK(checked(flags).find("-f - can be given once") == 0);
  CHECK(checked({}).find("You must provide one or more resources") == 0);
}

TEST_CASE("a verb that needs names takes --all or a selector instead") {
  ResourceRules rules;
  rules.all_implied = false;
  auto flags = words({"pods"});
  CHECK(checked(flags, rules) == "resource(s) were provided, but no name was specified");
  flags.all = true;
  CHECK(checked(flags, rules).empty());
  flags.selection.label_selector = "a=b";
  CHECK(checked(flags, rules) == "setting 'all' parameter but found a non empty selector");
  flags.all = false;
  CHECK(checked(flags, rules).empty());
  flags.selection.label_selector = "a in (";
  CHECK(checked(flags, rules).find("label") != std::string::npos);
}

TEST_CASE("several namespaces are a list, each once, and each a name") {
  CHECK(*split_namespaces({"a,b", "c", "a"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(split_namespaces({})->empty());
  CHECK_FALSE(split_namespaces({"a,"}).ok());
  CHECK_FALSE(split_namespaces({"A_b"}).ok());
}

TEST_CASE("a manifest's namespace must be the one that was asked for") {
  const Manifest manifest{Json::parse(R"({"metadata":{"name":"a","namespace":"x"}})"), "f.yaml"};
  const Manifest bare{Json::parse(R"({"metadata":{"name":"a"}})"), "f.yaml"};
  CHECK(*namespace_of(manifest, true, "", "default") == "x");
  CHECK(*namespace_of(manifest, true, "x", "default") == "x");
  CHECK(namespace_of(manifest, true, "y", "default").error().message() ==
        "the namespace from the provided object \"x\" does not match the namespace \"y\". You must "
        "pass '--namespace=x' to perform this operation.");
  CHECK(*namespace_of(bare, true, "", "default") == "default");
  CHECK(*namespace_of(bare, true, "y", "default") == "y");
  CHECK(namespace_of(manifest, false, "y", "default")->empty());
}

}  // namespace kubewatch::cli
