// What --dry-run prints: each run with its invocation, the writes that would follow, and its
// outcome. Of a write that is refused and tried in another way only the last answer is shown.
// Secrets are hidden by a keyed hash; what of them a hook puts elsewhere is ***.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "hooks/dry_run.hpp"
#include "hooks/engine.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::cli {

class DryRunPrinter {
 public:
  explicit DryRunPrinter(std::ostream& out) : out_(out), secrets_(hooks::SecretHash::make()) {}
  ~DryRunPrinter() { print_refused(); }
  DryRunPrinter(const DryRunPrinter&) = delete;
  DryRunPrinter& operator=(const DryRunPrinter&) = delete;

  void on_exchange(const hooks::HookExchange& exchange);
  void on_write(const hooks::DryWrite& write);
  void on_run(const hooks::RunRecord& run);

 private:
  void print_refused();

  std::ostream& out_;
  hooks::SecretHash secrets_;
  hooks::SecretMask known_;  // of the run whose writes come now: a dry run has one at a time
  std::map<std::string, std::string> refused_;  // by path, while they may come again: the text
};

// The invocation document with the values of all Secrets in it hidden.
Json hidden_invocation(const std::string& document, const hooks::SecretHash& secrets);

}  // namespace kubewatch::cli
