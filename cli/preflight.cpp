#include "cli/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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

}  // namespace

Preflight::Preflight(client::Client& client, std::vector<hooks::Rule> rules)
    : client_(client), rules_(std::move(rules)) {}

void Preflight::start() {
  using Answer = Result<std::shared_ptr<const client::ResourceMap>>;
  requests_.run<Answer>(
      [this](const Answer& answer) {
        // Whoever needs the server says that it cannot be reached.
        if (answer.ok()) ask_all(**answer);
      },
      [&](auto done) { return client::discover(client_, std::move(done)); });
}

// A rule whose kinds are missing waits for them, and says so; it is asked for no rights.
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
  std::sort(rights_.begin(), rights_.end(),
            [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  if (rights_.size() > kMostRights) {
    base::log_warn(fmt::format("the rules need {} rights, of which the server is asked for {}",
                               rights_.size(), kMostRights));
    rights_.resize(kMostRights);
  }
  ask_next();
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
  if (answer.ok()) {
    const Json* allowed = base::find(*answer, {"status", "allowed"});
    if (allowed != nullptr && allowed->is_boolean() && !allowed->get<bool>()) {
      missing_.push_back(right);
    }
  }
  ask_next();
  if (open_ == 0) tell();
}

void Preflight::tell() const {
  std::map<std::string, const hooks::Rule*> rules;
  for (const hooks::Rule& rule : rules_) rules[rule.name] = &rule;
  for (const hooks::Right& right : missing_) {
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
