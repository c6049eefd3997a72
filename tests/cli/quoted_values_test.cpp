// Errors that quote what they met, of Secrets and of anything else.
#include "cli/quoted_values.hpp"

#include <sstream>

#include "base/json.hpp"
#include "cli/printers/object_printer.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;

namespace {

Json object(const std::string& kind) {
  return {{"apiVersion", "v1"},
          {"kind", kind},
          {"metadata", {{"name", "a"}}},
          {"data", {{"password", "aHVudGVyMg=="}}}};
}

std::string error_of(const Json& value, const std::string& format) {
  PrintFlags flags;
  flags.output = format;
  auto printer = ObjectPrinter::make(flags, {});
  REQUIRE(printer.ok());
  core::ResourceType type;
  type.gvk = {"", "v1", "Secret"};
  type.plural = "secrets";
  std::ostringstream out;
  const auto printed = (*printer)->print_one(out, PrintedObject(type, value), WallTime{});
  return printed.ok() ? "" : printed.error().render();
}

}  // namespace

TEST_CASE("an error on a Secret says that it is one, and no more") {
  const Error quoting(ErrorKind::invalid, "string (\"aHVudGVyMg==\") cannot be added");
  CHECK(without_quoted_values(quoting, object("ConfigMap")).render() == quoting.render());
  CHECK(without_quoted_values(quoting, Json()).render() == quoting.render());
  for (const Json& value :
       {object("Secret"), Json{{"kind", "List"}, {"items", {object("Pod"), object("Secret")}}}}) {
    const Error shown = without_quoted_values(quoting, value);
    CHECK(shown.kind() == ErrorKind::invalid);
    CHECK(shown.render().find("aHVudGVyMg") == std::string::npos);
    CHECK(shown.render().find("Secret") != std::string::npos);
  }
}

TEST_CASE("printers name the format and quote nothing of a Secret") {
  for (const char* format : {"jq=.data.password + 1", "jq=.data.password | error"}) {
    const std::string hidden = error_of(object("Secret"), format);
    CHECK(hidden.find("-o jq") != std::string::npos);
    CHECK(hidden.find("aHVudGVyMg") == std::string::npos);
    CHECK(error_of(object("ConfigMap"), format).find("aHVudGVyMg") != std::string::npos);
  }
}
