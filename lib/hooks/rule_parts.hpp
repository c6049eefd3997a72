// The sections of a rule and who reads them. Each reads one mapping into its struct and reports
// everything wrong with it; inside lib/hooks only.
#pragma once

#include <string>
#include <vector>

#include "hooks/rule.hpp"
#include "hooks/rule_node.hpp"

namespace kubewatch::hooks {

// rule_stream.cpp
// One kind, every kind of a group, or a list of these; a mapping is a list of one.
bool read_for(const RuleNode& node, std::vector<StreamRule>& out);
bool read_owns(const RuleNode& node, std::vector<OwnsRule>& out);
bool read_writes(const RuleNode& node, std::vector<WritesRule>& out);
// `has_for`: the rule has objects that a watched object could be mapped to.
bool read_watches(const RuleNode& node, bool has_for, std::vector<WatchesRule>& out);
bool read_changed(const RuleNode& node, std::vector<std::string>& out);

// rule_kept.cpp: programs and paths of a rule's spec that look for what is not kept of the objects.
// `kinds`: of a rule that is for several; none: rule.for_.
void check_kept(const RuleNode& spec, const Rule& rule, const std::vector<StreamRule>& kinds);

// rule_hook.cpp; `folder` is absolute: the rule file's, base of relative paths.
bool read_reconcile(const RuleNode& node, const std::string& folder, HookRule& out);
bool read_finalize(const RuleNode& node, const std::string& folder, FinalizeRule& out,
                   std::string& finalizer_name, WhenRemoved& when_removed);

// rule_command.cpp: exec, shell and the files that a rule names. read_exec fills argv, read_shell
// argv and `shell`.
bool read_exec(const RuleNode& node, const std::string& folder, std::vector<std::string>& argv);
bool read_shell(const RuleNode& node, HookRule& out);
// A path relative to the folder, of something that exists and is no folder; absolute in `out`.
bool read_file_path(const RuleNode& node, const std::string& folder, std::string& out);

// rule_options.cpp
bool read_retry(const RuleNode& node, RetryRule& out);
bool read_apply(const RuleNode& node, ApplyRule& out);
bool read_triggers(const RuleNode& node, const std::string& folder, std::vector<TriggerRule>& out);
bool read_schedule(const RuleNode& node, std::optional<CronSchedule>& out);

// rule_without_for.cpp: what a rule of one run for everything cannot have; `spec` is its spec.
void check_without_for(const RuleNode& spec, const Rule& rule);

}  // namespace kubewatch::hooks
