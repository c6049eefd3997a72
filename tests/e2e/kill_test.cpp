// SIGKILL of a controller at random moments while its objects are made, changed and deleted, beside
// one that nobody kills: both must end in the same state, which is the one that was asked for.
//
// In the end children and their numbers are those that kubectl sees, where there is one.
// KUBEWATCH_KILLS=n kills n times (8; tests/e2e/kill-controllers: 200), KUBEWATCH_SEED=n repeats
// the operations and the moments of a run.
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/kubectl.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

constexpr int kObjects = 12;

const char* const kRule = R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '#NEAR#'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['#NEAR#']}
  owns: [{apiVersion: v1, kind: ConfigMap}]
  writes:
    - {apiVersion: v1, kind: ConfigMap, namespaces: ['#FAR#']}
    - {apiVersion: v1, kind: Secret}
  concurrency: 4
  apply: {force: true}  # what is changed by hand comes back
  retry: {initial: 100ms, max: 1s}
  reconcile:
    exec: [./reconcile.sh]
    timeout: 20s
    env: {TITLE: {jq: '.spec.title // "none"'}, REPLICAS: {jq: '.spec.replicas // 0'}}
  finalize: {exec: [./cleanup.sh], timeout: 20s}
)x";

// As many pages as replicas, one in another namespace, a password that is made once, a status.
const char* const kHook = R"x(
echo "$KW_UID" >> runs
sleep 0.02
page() {
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, ' "$1" "$2"
  printf 'data: {title: "%s"}}\n' "$TITLE"
}
page "$KW_NAME" '#FAR#'
i=0
while [ $i -lt "$REPLICAS" ]; do page "$KW_NAME-$i" '#NEAR#'; i=$((i + 1)); done
cat <<RESULT
---
apiVersion: kubewatch.dev/v1
kind: Result
status: {ready: true, title: "$TITLE"}
create:
  - apiVersion: v1
    kind: Secret
    metadata: {name: $KW_NAME-key, namespace: '#NEAR#'}
    stringData: {key: $(cat /proc/sys/kernel/random/uuid)}
RESULT
)x";

const char* const kFinalize = "sleep 0.02\necho \"$KW_UID\" >> finalized\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::size_t number_of(const char* variable, std::size_t otherwise) {
  const char* text = ::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string name_of(int index) {
  return "w" + std::to_string(index);
}

// What somebody wants of one object; absent: not to be there.
struct Wanted {
  std::string title;
  int replicas = 0;
};
using Plan = std::map<std::string, Wanted>;

// A controller with a namespace of its own, and another one for some children.
class Side {
 public:
  Side(World& w, std::string word, std::string near) : w_(w), near_(std::move(near)) {
    far_ = near_ + "-far";
    folder_ = w.folder() + "/" + word;
    std::filesystem::create_directories(folder_);
    w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + far_ + "}}");
    w.file(word + "/rules.yaml", named(kRule));
    w.script(word + "/reconcile.sh", named(kHook));
    w.script(word + "/cleanup.sh", kFinalize);
  }
  ~Side() {
    process_.reset();
    try {
      w_.remove("Namespace", far_, "");
    } catch (const std::exception&) {  // a case that failed leaves it to the server's end
    }
  }

  void start(bool with_state) {
    std::vector<std::string> words = {"run-controller", "-f", folder_ + "/rules.yaml", "--socket",
                                      folder_ + "/c.sock"};
    if (with_state) words.insert(words.end(), {"--state", folder_ + "/state"});
    process_ = std::make_unique<Program>(w_.loop(), kubewatch_command(w_, words));
  }
  // The exit code.
  int end(int signal) {
    // One that ended by itself is what this looks for.
    if (!process_->running()) FAIL("the controller ended by itself:\n" << process_->err);
    return process_->end(signal);
  }
  const Program& process() const { return *process_; }
  std::size_t runs() const { return w_.lines(word() + "/runs"); }

  bool is_there(const std::string& name) { return w_.get("Website", name, near_).has_value(); }
  void set(const std::string& name, const Wanted& wanted) {
    w_.apply("{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: " + name +
             ", namespace: " + near_ + "}, spec: {title: " + wanted.title +
             ", replicas: " + std::to_string(wanted.replicas) + "}}");
  }
  void remove(const std::string& name) {
    const auto live = w_.get("Website", name, near_);
    REQUIRE(live);
    if ((*live)["metadata"].contains("finalizers")) {
      guarded_.insert(base::string_at(*live, {"metadata", "uid"}));
    }
    w_.remove("Website", name, near_);
  }
  // By hand; the controller is to make it again.
  void damage(const std::string& child, bool all) {
    const auto live = w_.get("ConfigMap", child, near_);
    if (!live || (*live)["metadata"].contains("deletionTimestamp")) return;
    const bool there = all ? w_.try_remove("ConfigMap", child, near_)
                           : w_.try_merge("ConfigMap", child, "{data: {title: by hand}}", near_);
    if (there) ++damages;
  }

  using Lister = std::function<std::vector<Json>(
      const std::string& kind, const std::string& selector, const std::string& namespace_)>;
  Json state() {
    return state([this](const auto& kind, const auto& selector, const auto& place) {
      return w_.list(kind, selector, place);
    });
  }
  // All that is there, without what two sides must differ in. Doubled and lost children show.
  Json state(const Lister& list) {
    Json out = Json::object();
    std::map<std::string, std::string> names;  // of the objects, by uid
    for (const Json& website : list("Website", "", near_)) {
      names[base::string_at(website, {"metadata", "uid"})] =
          base::string_at(website, {"metadata", "name"});
      Json& one = out["Website " + base::string_at(website, {"metadata", "name"})];
      one["spec"] = website["spec"];
      one["status"] = website.value("status", Json::object());
      // Times and generations differ; so do conditions that tell of what was overcome.
      for (const char* own : {"conditions", "observedGeneration"}) one["status"].erase(own);
      one["finalizers"] = website["metadata"].value("finalizers", Json::array());
      one["dying"] = website["metadata"].contains("deletionTimestamp");
    }
    for (const std::string& place : {near_, far_}) {
      for (const char* kind : {"ConfigMap", "Secret"}) {
        for (const Json& child : list(kind, "kubewatch.dev/controller=" + near_, place)) {
          out[std::string(kind) + (place == near_ ? " near/" : " far/") +
              base::string_at(child, {"metadata", "name"})] = child_state(kind, child, names);
        }
      }
    }
    return Json::parse(replaced(out.dump(), near_, "NEAR"));
  }

  // Secrets that were made twice show by another key under the same owner.
  void look_at_secrets() {
    for (const Json& secret : w_.list("Secret", "kubewatch.dev/controller=" + near_, near_)) {
      const std::string owner =
          base::string_at(secret, {"metadata", "labels", "kubewatch.dev/owner-uid"});
      const std::string key = base::string_at(secret, {"data", "key"});
      const auto [known, fresh] = keys_.emplace(owner, key);
      INFO("Secret " << base::string_at(secret, {"metadata", "name"}));
      CHECK(known->second == key);
    }
  }

  // Objects that carried our finalizer when they were deleted, and were never finalized.
  std::set<std::string> not_finalized() const {
    std::set<std::string> out = guarded_;
    for (const auto& uid : base::split(w_.read(word() + "/finalized"), '\n')) {
      out.erase(std::string(uid));
    }
    return out;
  }
  std::size_t guarded() const { return guarded_.size(); }

  std::size_t damages = 0;

 private:
  std::string word() const { return std::filesystem::path(folder_).filename(); }
  std::string named(const std::string& text) const {
    return replaced(replaced(text, "#NEAR#", near_), "#FAR#", far_);
  }
  static Json child_state(const std::string& kind, const Json& child,
                          const std::map<std::string, std::string>& names) {
    const Json& meta = child["metadata"];
    const auto owner =
        names.find(base::string_at(child, {"metadata", "labels", "kubewatch.dev/owner-uid"}));
    Json out = {{"owner", owner == names.end() ? "nobody" : owner->second},
                {"references", meta.value("ownerReferences", Json::array()).size()},
                {"dying", meta.contains("deletionTimestamp")}};
    if (kind == "ConfigMap") {
      out["data"] = child.value("data", Json());
    } else {
      out["keys"] = child.value("data", Json::object()).size();
    }
    return out;
  }

  World& w_;
  std::string near_, far_, folder_;
  std::unique_ptr<Program> process_;
  std::set<std::string> guarded_;            // uids
  std::map<std::string, std::string> keys_;  // by the owner's uid
};

// The children that a plan asks for, "ConfigMap near/w1-0" to its title.
std::map<std::string, std::string> pages_of(const Plan& plan) {
  std::map<std::string, std::string> out;
  for (const auto& [name, wanted] : plan) {
    out["ConfigMap far/" + name] = wanted.title;
    for (int i = 0; i < wanted.replicas; ++i) {
      out["ConfigMap near/" + name + "-" + std::to_string(i)] = wanted.title;
    }
  }
  return out;
}

std::map<std::string, std::string> pages_in(const Json& state) {
  std::map<std::string, std::string> out;
  for (const auto& [what, one] : state.items()) {
    if (what.rfind("ConfigMap", 0) == 0) out[what] = base::string_at(one, {"data", "title"});
  }
  return out;
}

// The lines that only one of them has.
std::string differences(const Json& left, const Json& right) {
  std::string out;
  for (const auto& [what, one] : left.items()) {
    if (right.value(what, Json()) != one) out += "  killed: " + what + " " + one.dump() + "\n";
  }
  for (const auto& [what, one] : right.items()) {
    if (left.value(what, Json()) != one) out += "  calm:   " + what + " " + one.dump() + "\n";
  }
  return out;
}

class Load {
 public:
  Load(std::uint64_t seed, Side& killed, Side& calm) : random(seed), killed_(killed), calm_(calm) {}

  // One operation on both sides. What it draws does not depend on the cluster.
  void step() {
    const std::string name = name_of(static_cast<int>(random.below(kObjects)));
    const auto what = random.below(10);
    const Wanted wanted{"t" + std::to_string(++count), static_cast<int>(random.below(4))};
    const bool there = plan.count(name) > 0;
    if (what < 6) {
      if (!there && (killed_.is_there(name) || calm_.is_there(name))) return;  // still dying
      for (Side* side : {&killed_, &calm_}) side->set(name, wanted);
      plan[name] = wanted;
    } else if (what < 8 && there) {
      for (Side* side : {&killed_, &calm_}) side->remove(name);
      plan.erase(name);
    } else if (there) {
      for (Side* side : {&killed_, &calm_}) side->damage(name + "-0", what == 8);
    }
  }

  base::Random random;
  Plan plan;
  int count = 0;

 private:
  Side& killed_;
  Side& calm_;
};

}  // namespace

E2E_CASE("killed at random moments, a controller ends where one ends that was never killed") {
  World w;
  w.apply(kWebsiteCrd);
  const std::size_t kills = number_of("KUBEWATCH_KILLS", 8);
  const std::uint64_t seed =
      number_of("KUBEWATCH_SEED", base::Random::from_system().next() % 1'000'000);
  std::cout << "kill-controllers: seed " << seed << ", " << kills << " kills, on "
            << w.server().name() << std::endl;
  INFO("seed " << seed);
  Side killed(w, "killed", w.ns());
  Side calm(w, "calm", w.ns2());
  Load load(seed, killed, calm);
  calm.start(true);
  for (int i = 0; i < kObjects; ++i) load.step();
  for (std::size_t round = 1; round <= kills; ++round) {
    const bool with_state = load.random.below(4) != 0;
    const bool after_a_run = load.random.below(2) == 0;
    const Duration more{static_cast<std::int64_t>(load.random.below(after_a_run ? 400 : 1200))};
    const std::size_t runs = killed.runs();
    killed.start(with_state);
    for (int i = 0; i < 3; ++i) load.step();
    // Half of them die while there is work, the others anywhere, as early as in their first steps.
    if (after_a_run) w.eventually([&] { return killed.runs() > runs; }, Duration{3000});
    w.holds_for([] { return true; }, more);
    killed.end(SIGKILL);
    load.step();  // while nobody looks
    killed.look_at_secrets();
    if (round % 25 == 0) {
      std::cout << "kill-controllers: " << round << " kills, " << load.count << " operations, "
                << killed.runs() << " hooks started" << std::endl;
    }
  }
  killed.start(true);
  Json ours, theirs;
  const auto agree = [&] {
    ours = killed.state();
    theirs = calm.state();
    return ours == theirs && pages_in(ours) == pages_of(load.plan);
  };
  const bool agreed = w.eventually(agree, kCollected);
  INFO("what differs:\n" << differences(ours, theirs));
  CHECK(pages_in(theirs) == pages_of(load.plan));
  if (!agreed) WARN(killed.process().tail());
  REQUIRE(agreed);
  CHECK(w.holds_for([] { return true; }, Duration{1500}));
  CHECK(agree());  // and it stays so
  Kubectl kubectl(w, w.kubeconfig());
  const bool by_kubectl = kubectl.there();
  if (by_kubectl) {
    const Side::Lister list = [&](const auto& kind, const auto& selector, const auto& place) {
      return kubectl.list(kind, selector, place);
    };
    CHECK(killed.state(list) == ours);
    CHECK(calm.state(list) == ours);
  } else {
    WARN("no kubectl here: compared by this test's own client only");
  }
  killed.look_at_secrets();
  CHECK(killed.not_finalized().empty());
  CHECK(calm.not_finalized().empty());
  CHECK(killed.end(SIGTERM) == 0);
  calm.end(SIGTERM);
  std::cout << "kill-controllers: seed " << seed << ": after " << kills << " kills and "
            << load.count << " operations (" << killed.damages << " children damaged by hand), "
            << killed.runs() << " hooks started, " << killed.guarded()
            << " objects finalized: " << ours.size()
            << " objects and children, the same as without a kill (" << calm.runs()
            << " hooks started), compared by " << (by_kubectl ? "kubectl" : "the test's client")
            << std::endl;
}

}  // namespace kubewatch::e2e
