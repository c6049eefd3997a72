#include "cli/controller/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/log.hpp"
#include "hooks/access_review.hpp"
#include "hooks/rule_kinds.hpp"
#include "hooks/rule_place.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kAtOnce = 8;
constexpr std::size_t kMostRights = 5000;

auto key_of(const hooks::Right& right) {
  return std::tie(right.rule, right.pointer, right.namespace_, right.group, right.resource,
                  right.name, right.verb);
}

bool has(const std::vector<hooks::Rule>& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const hooks::Rule& rule) { return rule.name == name; });
}

}  // namespace

// A rule that was read again takes the place of the one before.
void Preflight::ask(std::vector<hooks::Rule> rules) {
  std::erase_if(waiting_, [&](const hooks::Rule& one) { return has(rules, one.name); });
  std::move(rules.begin(), rules.end(), std::back_inserter(waiting_));
  if (!busy_) begin();
}

void Preflight::begin() {
  busy_ = !waiting_.empty();
  if (!busy_) return;
  rules_ = std::exchange(waiting_, {});
  rights_.clear();
  missing_.clear();
  unanswered_ = false;
  next_ = 0;
  using Answer = Result<std::shared_ptr<const client::ResourceMap>>;
  requests_.run<Answer>(
      [this](const Answer& answer) { answer.ok() ? ask_all(**answer) : begin_later(); },
      [&](auto done) { return client::discover(client_, std::move(done)); });
}

// Whoever needs the server says that it cannot be reached.
void Preflight::begin_later() {
  std::erase_if(rules_, [&](const hooks::Rule& one) { return has(waiting_, one.name); });
  std::move(rules_.begin(), rules_.end(), std::back_inserter(waiting_));
  again_ = client_.loop().after(pause_, [this] { begin(); });
}

// A rule whose kinds are missing waits for them, and says so.
void Preflight::ask_all(const client::ResourceMap& resources) {
  for (const hooks::Rule& rule : rules_) {
    const std::vector<hooks::Rule> one = {rule};
    const auto rights = hooks::rights_of(
        {one,
         [&](const core::Gvk& gvk) -> std::optional<core::ResourceType> {
           const auto* type = resources.find(gvk);
           if (type == nullptr) return std::nullopt;
           return *type;
         },
         {},
         client_.config().namespace_,
         [&](const hooks::StreamRule& of) { return hooks::kinds_of_group(resources, of); },
         {}});
    if (rights.ok()) rights_.insert(rights_.end(), rights->begin(), rights->end());
  }
  const std::vector<hooks::Rule> none;
  if (const auto rights = hooks::rights_of({none, {}, leases_}); rights.ok()) {
    rights_.insert(rights_.end(), rights->begin(), rights->end());
  }
  std::sort(rights_.begin(), rights_.end(),
            [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  rights_.erase(std::unique(rights_.begin(), rights_.end(),
                            [](const auto& a, const auto& b) { return key_of(a) == key_of(b); }),
                rights_.end());
  if (rights_.size() > kMostRights) {
    base::log_warn(fmt::format("the rules need {} rights, of which the server is asked for {}",
                               rights_.size(), kMostRights));
    rights_.resize(kMostRights);
  }
  rights_.empty() ? begin() : ask_next();
}

void Preflight::ask_next() {
  while (open_ < kAtOnce && next_ < rights_.size()) {
    const hooks::Right right = rights_[next_++];
    ++open_;
    requests_.run<Result<Json>>(
        [this, right](const Result<Json>& answer) { on_answer(right, answer); },
        [&](client::ObjectCallback done) {
          return client_.create(hooks::access_review_type(), "", hooks::access_review(right), {},
                                std::move(done));
        });
  }
}

void Preflight::on_answer(const hooks::Right& right, const Result<Json>& answer) {
  --open_;
  // Without a word of the server: it was not reached.
  unanswered_ = unanswered_ || (!answer.ok() && answer.error().status() == nullptr);
  if (answer.ok() && hooks::allowed_by(*answer) == false) missing_.push_back(right);
  ask_next();
  if (open_ > 0) return;
  if (unanswered_) return begin_later();
  tell();
  begin();
}

void Preflight::tell() {
  leases_.reset();
  std::map<std::string, const hooks::Rule*> rules;
  for (const hooks::Rule& rule : rules_) rules[rule.name] = &rule;
  for (const hooks::Right& right : missing_) {
    if (right.rule.empty()) {
      base::log_warn(fmt::format("the server does not allow to {}", right.str()),
                     {{"needed_by", "--leader-elect"}});
      continue;
    }
    const hooks::Rule& rule = *rules.at(right.rule);
    base::log_warn(fmt::format("the server does not allow to {}", right.str()),
                   {{"controller", right.rule},
                    {"needed_by", hooks::place_in_rule(rule.file, rule.document, right.pointer)}});
  }
  if (missing_.empty()) return;
  base::log_warn(
      "rights are missing: `kubewatch run-controller rbac -f RULES` prints those that "
      "the rules need");
}

}  // namespace kubewatch::cli
