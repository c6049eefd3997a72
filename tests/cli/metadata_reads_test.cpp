#include "cli/metadata_reads.hpp"

#include "cli/watch/end_rule.hpp"
#include "cli/watch/event_filter.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

using Input = MetadataReads::Input;

// What is read and not there; "" where the text says nothing of that.
std::string lost(const Result<void>& checked) {
  if (checked.ok()) return "";
  CHECK(checked.error().kind() == ErrorKind::invalid);
  const std::string text = checked.error().render();
  const std::string begin = "F reads ";
  const std::string end = ", but --metadata-only keeps only apiVersion, kind and metadata";
  REQUIRE(text.starts_with(begin));
  REQUIRE(text.ends_with(end));
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

std::string lost_of(const std::string& program, Input input = Input::object) {
  const auto compiled = jq::Program::compile(program);
  REQUIRE(compiled.ok());
  return lost(MetadataReads().check("F", *compiled, input));
}

std::string lost_at(const std::string& path, Input input = Input::object) {
  return lost(MetadataReads().check_path("F", path, input));
}

std::string format_error(const std::string& output, Input input = Input::object) {
  const auto format = parse_output_format(output, {});
  REQUIRE(format.ok());
  const auto checked = MetadataReads("x has").check_format(*format, input);
  return checked.ok() ? "" : checked.error().render();
}

std::string until_error(const std::string& until) {
  watch::EndRule::Flags flags;
  flags.until = until;
  const auto rule = watch::EndRule::parse(flags);
  REQUIRE(rule.ok());
  const auto checked = rule->check(MetadataReads());
  return checked.ok() ? "" : checked.error().render();
}

}  // namespace

TEST_CASE("a program that reads more than metadata is refused with the place") {
  CHECK(lost_of(".spec.replicas == 2") == ".spec.replicas");
  CHECK(lost_of(".metadata.name == \"a\" and .data[\"a/b\"] == \"1\"") == ".data[\"a/b\"]");
  CHECK(lost_of("has(\"status\")") == ".status");
  CHECK(lost_of("{a: .metadata.name, b: .type}") == ".type");
  CHECK(lost_of(".old.spec.replicas > 1", Input::event) == ".old.spec.replicas");
  CHECK(lost_of(".old.spec.replicas > 1") == ".old.spec.replicas");
  // libjq's.
  CHECK(lost_of(".status.phase | test(\"Run\")") == ".status.phase");
  CHECK(lost_of("(.old.status.phase | test(\"Run\")) or .initial", Input::event) ==
        ".old.status.phase");
  // Of a List.
  CHECK(lost_of(".items[].spec.replicas", Input::list) == ".spec.replicas");
  CHECK(lost_of("[.items[] | .status.phase]", Input::list) == ".status.phase");
  CHECK(lost_of(".spec.replicas", Input::list) == ".spec.replicas");
}

TEST_CASE("a program that reads metadata, or whole objects, is none of that") {
  for (const char* program :
       {".", "keys", ".metadata.labels[\"spec\"]", ".kind + .apiVersion", "{(.metadata.name): .}",
        ".metadata.ownerReferences[] | select(.controller) | .name",
        ".metadata.name | test(\"a .data b\")",
        ".metadata.annotations[\"x\"] | fromjson | .spec.replicas",
        ".metadata.annotations[\"x\"] | fromjson | .spec.image | test(\"y\")",
        "any(.metadata.ownerReferences[]; .name | test(\"x\"))"}) {
    INFO(program);
    CHECK(lost_of(program).empty());
  }
  CHECK(lost_of(".event == \"ADDED\" or .initial or .old == null", Input::event).empty());
  CHECK(lost_of(".old.metadata.generation < .metadata.generation", Input::event).empty());
  CHECK(lost_of("[.items[] | .metadata.name] | length", Input::list).empty());
  // Behind the first path the input may be any value.
  for (const char* program :
       {".items[].metadata.labels | .data", ".items|map(.metadata.labels)|map(.data)",
        ".items[]|.metadata.annotations|.status?", "{data:[.items[].metadata.name]}|.data[]",
        ".items|map({name:.metadata.name,status:.metadata.labels.app})|group_by(.status)|length"}) {
    INFO(program);
    CHECK(lost_of(program, Input::list).empty());
  }
  CHECK(lost_of(".metadata.labels|with_entries(.value |= ascii_upcase)|.data").empty());
  CHECK(lost_of(".metadata.name|test(\"a\")|{status:.}|.status").empty());
  CHECK(lost_of(".items[0].metadata.name", Input::list).empty());
}

TEST_CASE("a path that leads to more than metadata is refused, in braces or without") {
  CHECK(lost_at("{.spec.replicas}") == ".spec.replicas");
  CHECK(lost_at("spec.replicas") == ".spec.replicas");
  CHECK(lost_at("{['status']['phase']}") == ".status.phase");
  CHECK(lost_at("{.items[*].spec.x}", Input::list) == ".spec.x");
  CHECK(lost_at("{.items[?(@.data.k==\"w\")].metadata.name}", Input::list) == ".data.k");
  CHECK(lost_at("{.items[?(@.kind==\"a\" && @.spec.x > 1)]}", Input::list) == ".spec.x");
  CHECK(lost_at("{.items[*].spec.x}") == ".items[*].spec.x");
  CHECK(lost_at("{.items[?($.spec.x)]}", Input::list) == ".spec.x");
  CHECK(lost_at("{.metadata['labels','name']}").empty());
  CHECK(lost_at("{['metadata','spec']}") == ".spec");
  CHECK(lost_at("{.metadata.ownerReferences[?(@.spec==1)]}").empty());
  for (const char* path :
       {"{.metadata.name}", "kind", "{.}", "{$}", "{..name}", "{['metadata.name']}"}) {
    INFO(path);
    CHECK(lost_at(path).empty());
  }
  CHECK(lost_at("{.items[?(@.metadata.labels['a']=='b')].metadata.name}", Input::list).empty());
  CHECK(lost_at("{.items}", Input::list).empty());
}

TEST_CASE("formats that print fields are refused where these are not kept") {
  const std::string rest = ", but x has only apiVersion, kind and metadata";
  CHECK(format_error("jsonpath={.metadata.name}{\"\\t\"}{.spec.replicas}{\"\\n\"}") ==
        "-o jsonpath reads .spec.replicas" + rest);
  CHECK(format_error("jsonpath={range .items[*]}{.metadata.name}{.spec.a}{end}", Input::list) ==
        "-o jsonpath reads .spec.a" + rest);
  CHECK(format_error("jsonpath={range .metadata.ownerReferences[*]}{.name}{end}{.data}") ==
        "-o jsonpath reads .data" + rest);
  CHECK(
      format_error("jsonpath={range .metadata.ownerReferences[*]}{.name}{end} {1}{true}").empty());
  CHECK(format_error("jsonpath={range .items[*]}{range .metadata.x[*]}{.a}{end}{.data}{end}",
                     Input::list) == "-o jsonpath reads .data" + rest);
  CHECK(format_error("jsonpath={range .items[*].spec}{.a}{end}", Input::list) ==
        "-o jsonpath reads .spec" + rest);
  CHECK(format_error("jsonpath={range ..x}{.data}{end}{\"{.data}\"}").empty());
  CHECK(format_error("custom-columns=N:.metadata.labels['a,b'],D:{.data.a}") ==
        "-o custom-columns reads .data.a" + rest);
  CHECK(format_error("custom-columns=N:.metadata.name").empty());
  CHECK(format_error("jq=.spec") == "-o jq reads .spec" + rest);
  for (const char* whole : {"json", "yaml", "name", "table", "wide", "jq=.", "jsonpath={.}"}) {
    CHECK(format_error(whole).empty());
  }
}

TEST_CASE("where only metadata is kept --until, --when and --fields may not ask for more") {
  const std::string rest = ", but --metadata-only keeps only apiVersion, kind and metadata";
  CHECK(until_error("condition=Ready") == "--until reads .status.conditions" + rest);
  CHECK(until_error("jsonpath='{.spec.replicas}'=2") == "--until reads .spec.replicas" + rest);
  CHECK(until_error("jsonpath=.status.phase=Running") == "--until reads .status.phase" + rest);
  CHECK(until_error("jsonpath={['data']['k']}=w") == "--until reads .data.k" + rest);
  CHECK(until_error(".spec.replicas == 2") == "--until reads .spec.replicas" + rest);
  for (const char* until :
       {"", "create", "delete", "jsonpath={.metadata.labels['a']}=b", ".metadata.generation > 1"}) {
    INFO(until);
    CHECK(until_error(until).empty());
  }
  const auto filter_error = [](const std::string& fields, const std::string& when) {
    const auto filter = watch::EventFilter::parse({fields}, when);
    REQUIRE(filter.ok());
    const auto checked = filter->check(MetadataReads());
    return checked.ok() ? "" : checked.error().render();
  };
  CHECK(filter_error(".metadata.name,{.data.a}", "") == "--fields reads .data.a" + rest);
  CHECK(filter_error(".kind", ".old.data.a != .data.a") == "--when reads .old.data.a" + rest);
  CHECK(filter_error(".kind,{.metadata.labels}", ".event == \"ADDED\"").empty());
}

}  // namespace kubewatch::cli
