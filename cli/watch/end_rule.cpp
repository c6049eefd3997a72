#include "cli/watch/end_rule.hpp"

#include "cli/caret.hpp"

namespace kubewatch::cli::watch {

namespace {

bool is_wait_form(const std::string& text) {
  return text == "delete" || text == "create" || text.starts_with("condition=") ||
         text.starts_with("jsonpath=");
}

}  // namespace

Result<EndRule> EndRule::parse(const Flags& flags) {
  EndRule out;
  out.flags_ = flags;
  if (flags.until.empty()) return out;
  if (is_wait_form(flags.until)) {
    auto condition = runtime::WaitCondition::parse(flags.until);
    if (!condition.ok()) return std::move(condition).error().with_context("--until");
    out.condition_ = std::move(*condition);
    return out;
  }
  const std::string text = flags.until.starts_with("jq=") ? flags.until.substr(3) : flags.until;
  auto program = jq::Program::compile(text);
  if (!program.ok()) {
    return Error(program.error().kind(), with_named_caret(program.error().message(), text))
        .with_context("--until");
  }
  out.program_ = std::move(*program);
  return out;
}

bool EndRule::reads_content() const {
  if (condition_) return !condition_->waits_for_deletion() && !condition_->waits_for_creation();
  return program_.has_value();
}

Result<void> EndRule::check(const MetadataReads& kept) const {
  if (program_) return kept.check("--until", *program_, MetadataReads::Input::event);
  if (!condition_) return {};
  if (condition_->text().starts_with("condition=")) {
    return kept.refused("--until", ".status.conditions");
  }
  return kept.check_path("--until", condition_->path(), MetadataReads::Input::object);
}

Result<bool> EndRule::until_met(const EventView& event) const {
  if (condition_) return condition_->met(event.type == "DELETED" ? nullptr : event.object);
  return program_->test(event.input());
}

Result<EndRule::Verdict> EndRule::note(const EventView* event) {
  ++shown_;
  if (wants_object() && event != nullptr) {
    auto met = until_met(*event);
    if (!met.ok()) return std::move(met).error().with_context("--until");
    if (*met) return Verdict::met;
  }
  const bool enough = flags_.max_events != 0 && shown_ >= flags_.max_events;
  return enough ? Verdict::enough : Verdict::goes_on;
}

}  // namespace kubewatch::cli::watch
