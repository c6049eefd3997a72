#include "cli/printers/output_format.hpp"

#include <unistd.h>

#include <cstdlib>

#include "base/files.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

using Kind = OutputFormat::Kind;

TEST_CASE("output formats are kubectl's, jq, and the verb's own words") {
  CHECK(parse_output_format("json", {})->kind == Kind::json);
  CHECK(parse_output_format("wide", {})->kind == Kind::wide);
  CHECK(parse_output_format("jsonpath={.a}={.b}", {})->text == "{.a}={.b}");
  CHECK(parse_output_format("jq=.a", {})->kind == Kind::jq);
  CHECK(parse_output_format("custom-columns=A:.a", {})->text == "A:.a");
  CHECK(parse_output_format("stats", {"stats"})->kind == Kind::own);
  CHECK_FALSE(parse_output_format("stats", {}).ok());
}

TEST_CASE("a format that is none names those that there are") {
  const auto error = parse_output_format("jsn", {"stats"}).error();
  CHECK(error.kind() == ErrorKind::invalid);
  CHECK(error.message().find("unable to match a printer") != std::string::npos);
  CHECK(error.message().find("stats, table, wide, json") != std::string::npos);
}

TEST_CASE("Go templates are refused with what to use instead") {
  for (const auto* word : {"go-template={{.a}}", "go-template-file=x", "template=x"}) {
    CAPTURE(word);
    const auto error = parse_output_format(word, {}).error();
    CHECK(error.message().find("Go templates are not supported") != std::string::npos);
    CHECK(error.message().find("jsonpath=") != std::string::npos);
  }
}

TEST_CASE("a format that lacks its text says how it is given") {
  CHECK(parse_output_format("jsonpath", {}).error().message() ==
        "-o jsonpath needs what to print, as in -o jsonpath='{.metadata.name}'");
  CHECK_FALSE(parse_output_format("custom-columns=", {}).ok());
  CHECK_FALSE(parse_output_format("jq", {}).ok());
}

TEST_CASE("templates are read from files, which must be there") {
  char path[] = "/tmp/kubewatch-template-XXXXXX";
  ::close(::mkstemp(path));
  REQUIRE(base::write_file_atomic(path, "{.a}", 0600).ok());
  CHECK(parse_output_format(std::string("jsonpath-file=") + path, {})->text == "{.a}");
  ::unlink(path);
  const auto gone = parse_output_format(std::string("jsonpath-file=") + path, {});
  REQUIRE_FALSE(gone.ok());
  CHECK(gone.error().kind() == ErrorKind::invalid);
}

}  // namespace kubewatch::cli
