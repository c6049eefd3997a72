// The rights that `run-controller rbac` prints are enough: a rule runs as an account that has them
// and nothing else. The sandbox allows everything, so there this shows only that the documents can
// be applied and the rule runs; kube-apiserver refuses what is not granted.
#include "hooks/rbac.hpp"

#include <set>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::e2e {
namespace {

// Notes what was refused with a 403.
class RefusalWatch : public http::Transport {
 public:
  explicit RefusalWatch(http::Transport& inner) : inner_(inner) {}
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto on_head = std::move(handlers.on_head);
    handlers.on_head = [this, on_head,
                        what = request.method + " " + request.url](const http::ResponseHead& head) {
      if (head.status == 403) refused.insert(what);
      if (on_head) on_head(head);
    };
    return inner_.start(std::move(request), std::move(handlers));
  }
  std::set<std::string> refused;

 private:
  http::Transport& inner_;
};

Json review(const hooks::Right& right) {
  const auto slash = right.resource.find('/');
  Json attributes = {{"verb", right.verb},
                     {"group", right.group},
                     {"resource", right.resource.substr(0, slash)},
                     {"namespace", right.namespace_},
                     {"name", right.name}};
  if (slash != std::string::npos) attributes["subresource"] = right.resource.substr(slash + 1);
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SelfSubjectAccessReview"},
          {"spec", {{"resourceAttributes", attributes}}}};
}

}  // namespace

E2E_CASE("a rule runs under exactly the rights that rbac prints, with nothing refused") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string(kOwnsConfigMaps) + kReconcile + "  finalize: {shell: 'true'}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  auto loaded = hooks::load_rules({w.folder() + "/rules.yaml"});
  REQUIRE(loaded.problems.empty());
  const auto rights = hooks::rights_of(
      {loaded.rules,
       [&](const core::Gvk& gvk) -> std::optional<core::ResourceType> { return w.type(gvk.kind); },
       {}});
  REQUIRE(rights.ok());
  hooks::RbacOptions names;
  names.name = "bot";
  names.namespace_ = w.ns();
  for (const Json& document : hooks::rbac_documents(*rights, names)) {
    w.apply(base::dump_json(document));
  }

  client::ClientConfig config = w.server().config();
  config.impersonate.user = "system:serviceaccount:" + w.ns() + ":bot";
  config.impersonate.groups = {"system:serviceaccounts", "system:authenticated"};
  auto transport = client::make_transport(w.loop(), config);
  REQUIRE(transport.ok());

  // A server learns of new roles a moment after they are written.
  client::Client asking(w.loop(), **transport, config);
  core::ResourceType review_type;
  review_type.gvk = {"authorization.k8s.io", "v1", "SelfSubjectAccessReview"};
  review_type.plural = "selfsubjectaccessreviews";
  review_type.namespaced = false;
  for (const hooks::Right& right : *rights) {
    INFO(right.str());
    bool allowed = false;
    client::PendingPtr pending;
    for (int tries = 0; tries < 300 && !allowed; ++tries) {
      pending = asking.create(review_type, "", review(right), {}, [&](const Result<Json>& answer) {
        if (!answer.ok()) return;
        const Json* said = base::find(*answer, {"status", "allowed"});
        allowed = said != nullptr && *said == true;
      });
      w.holds_for([&] { return !allowed; }, Duration{100});
    }
    CHECK(allowed);
  }

  RefusalWatch watch(**transport);
  client::Client client(w.loop(), watch, config);
  hooks::Engine engine(w.loop(), client, std::move(loaded.rules), {}, {});
  engine.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a").has_value(); }));
  bool ended = false;
  engine.shut_down([&] { ended = true; });
  REQUIRE(w.eventually([&] { return ended; }));
  for (const std::string& what : watch.refused) FAIL_CHECK("refused: " << what);
}

}  // namespace kubewatch::e2e
