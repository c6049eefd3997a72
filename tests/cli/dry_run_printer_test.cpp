// Which of the answers to a write a dry run shows.
#include "cli/controller/dry_run_printer.hpp"

#include <sstream>

#include "support/catch.hpp"

using namespace kubewatch;

namespace {

hooks::DryWrite write_of(const std::string& name, const std::string& verb) {
  hooks::DryWrite out;
  out.verb = verb;
  out.path = "/api/v1/namespaces/shop/configmaps/" + name;
  out.live = Json{{"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", "shop"}}}};
  return out;
}

hooks::DryWrite refused(const std::string& name) {
  hooks::DryWrite out = write_of(name, "apply");
  out.refused = "3 conflicts";
  out.may_come_again = true;
  return out;
}

hooks::RunRecord run_of(const std::string& object) {
  hooks::RunRecord out;
  out.object = object;
  out.outcome = "done";
  return out;
}

}  // namespace

TEST_CASE("a write that is refused at first and tried in another way is shown once") {
  std::ostringstream out;
  {
    cli::DryRunPrinter printer(out);
    printer.on_write(refused("a"));
    printer.on_write(refused("b"));
    hooks::DryWrite forced = write_of("a", "apply");
    forced.result = *forced.live;
    forced.result["data"]["k"] = "v";
    printer.on_write(forced);
    CHECK(out.str().starts_with("apply ConfigMap shop/a: configured\n"));
    CHECK(out.str().find("refused") == std::string::npos);
    printer.on_run(run_of("Website shop/w"));
    const std::string all = out.str();
    const auto told = all.find("apply ConfigMap shop/b: refused: 3 conflicts\n");
    REQUIRE(told != std::string::npos);
    CHECK(told < all.find("Website shop/w: done"));
    CHECK(all.find("shop/a: refused") == std::string::npos);
    printer.on_write(refused("c"));
  }
  CHECK(out.str().ends_with("apply ConfigMap shop/c: refused: 3 conflicts\n"));
}

TEST_CASE("what a dry run is refused and nobody tries again is shown at once") {
  std::ostringstream out;
  cli::DryRunPrinter printer(out);
  hooks::DryWrite write = refused("a");
  write.may_come_again = false;
  printer.on_write(write);
  CHECK(out.str() == "apply ConfigMap shop/a: refused: 3 conflicts\n");
}
