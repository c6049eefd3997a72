#include "cli/controller/dry_run_printer.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/printed_secrets.hpp"
#include "hooks/rule_place.hpp"

namespace kubewatch::cli {

Json hidden_invocation(const std::string& document, const hooks::SecretHash& secrets) {
  auto parsed = base::parse_json(document);
  if (!parsed.ok()) return "an invocation that cannot be shown";
  for (const char* key : {"object", "previous", "owned"}) {
    if (Json* part = base::find(*parsed, {key})) secrets.hide(*part);
  }
  if (Json* related = base::find(*parsed, {"related"}); related && related->is_object()) {
    for (Json& list : *related) secrets.hide(list);
  }
  return std::move(*parsed);
}

void DryRunPrinter::on_exchange(const hooks::HookExchange& exchange) {
  print_refused();
  const std::string because = exchange.reason_object.empty() ? "" : " by " + exchange.reason_object;
  const std::string head =
      fmt::format("{}: {}{}, attempt {} (controller {}, {})\n", exchange.owner.str(),
                  exchange.reason, because, exchange.attempt, exchange.rule.name,
                  hooks::place_in_rule(exchange.rule.file, exchange.rule.document, ""));
  known_ = exchange.mask;
  hooks::mask_printed(exchange.exit.out, false, known_);
  Json shown = hidden_invocation(exchange.invocation, secrets_);
  hooks::mask_values(shown, known_);
  const std::string invocation = base::dump_json(shown);
  out_ << base::escape_for_terminal(head + "invocation: " + invocation + "\n", true) << std::flush;
}

void DryRunPrinter::on_write(const hooks::DryWrite& write) {
  std::string text = base::escape_for_terminal(hooks::text_of(write, secrets_, known_), true);
  refused_.erase(write.path);
  if (write.may_come_again) {
    refused_[write.path] = std::move(text);
    return;
  }
  out_ << text << std::flush;
}

// Nobody tried again.
void DryRunPrinter::print_refused() {
  for (const auto& [path, text] : refused_) out_ << text << std::flush;
  refused_.clear();
}

void DryRunPrinter::on_run(const hooks::RunRecord& run) {
  print_refused();
  std::string text = fmt::format("{}: {}", run.object, run.outcome);
  if (!run.message.empty()) text += ": " + run.message;
  out_ << base::escape_for_terminal(text) << "\n\n" << std::flush;
}

}  // namespace kubewatch::cli
