// What a dry run of apply-ssa says of objects that lack another one of the same call.
#include <sstream>

#include "cli/apply/apply_run.hpp"
#include "local_session.hpp"
#include "rehearsal/needs_account.hpp"

namespace kubewatch::cli {

namespace {

const char* const kAccount =
    R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"runner"}})";
const char* const kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)"
                         R"("spec":{"serviceAccountName":"runner",)"
                         R"("containers":[{"name":"a","image":"a"}]}})";
const char* const kUnsure = "cannot be judged before ServiceAccount default/runner is written";

struct Applied {
  int code = 0;
  std::string out, err;
  bool out_says(const std::string& text) const { return out.find(text) != std::string::npos; }
  bool err_says(const std::string& text) const { return err.find(text) != std::string::npos; }
};

// Against a server that refuses a Pod without its ServiceAccount.
struct Rig : LocalSession {
  Rig() {
    session->wrap_transport([this](http::Transport&) {
      auto made = std::make_unique<test::NeedsAccount>(loop);
      server = &made->server();
      return made;
    });
    style.now = loop.wall();
  }
  Applied apply(const std::vector<std::string>& texts, bool dry_run = true) {
    std::ostringstream out;
    std::ostringstream err;
    GlobalOptions global;
    Context context{global, out, err};
    ApplyOptions options;
    style.dry_run = options.dry_run = dry_run;
    const auto secrets = hooks::SecretHash::make();
    ApplyReport report(context, style, secrets);
    ApplyRun run(*session, options, report, secrets, 8);
    std::vector<Manifest> manifests;
    for (const std::string& text : texts) manifests.push_back({Json::parse(text), "stdin"});
    const auto taken = run.take(std::move(manifests), false, "");
    REQUIRE(taken.ok());
    run.apply_all();
    return {report.exit_code(), out.str(), err.str()};
  }

  rehearsal::LocalServer* server = nullptr;
  ReportStyle style;
};

}  // namespace

TEST_CASE("a dry run says of a Pod beside its new ServiceAccount that it cannot be judged yet") {
  Rig rig;
  auto seen = rig.apply({kPod, kAccount});
  INFO(seen.out << seen.err);
  CHECK(seen.code == kDone);
  CHECK(seen.err.empty());
  CHECK(seen.out_says(std::string("pod/p created (server dry run; ") + kUnsure + ")\n"));
  CHECK(seen.out_says("+  serviceAccountName: runner\n"));
  CHECK(seen.out_says("serviceaccount/runner created (server dry run)\n"));

  rig.style.diff = true;
  CHECK(rig.apply({kPod, kAccount}).code == kFindings);
  rig.style.diff = false;

  rig.style.output = "json";
  seen = rig.apply({kPod, kAccount});
  CHECK(seen.code == kDone);
  CHECK(seen.out_says(R"("lacks":{"apiVersion":"v1","kind":"ServiceAccount","name":"runner",)"
                      R"("namespace":"default"})"));
  rig.style.output = "name";
  seen = rig.apply({kPod, kAccount});
  CHECK(seen.out == "pod/p\nserviceaccount/runner\n");
  CHECK(seen.err == std::string("warning: pod/p: ") + kUnsure + "\n");

  rig.style.output = "text";
  CHECK(rig.apply({kPod, kAccount}, false).code == kDone);
  seen = rig.apply({kPod, kAccount});
  CHECK(seen.out.find("cannot be judged") == std::string::npos);
}

TEST_CASE("a dry run refuses a Pod whose ServiceAccount nobody makes") {
  Rig rig;
  const auto seen = rig.apply(
      {kPod, R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"other"}})"});
  INFO(seen.out << seen.err);
  CHECK(seen.code == kForbidden);
  CHECK(seen.err_says("serviceaccount \"runner\" not found"));
  CHECK_FALSE(seen.out_says("pod/p"));
}

}  // namespace kubewatch::cli
