#include "hooks/trigger_sources.hpp"

#include "hooks/trigger_file.hpp"
#include "hooks/trigger_program.hpp"

namespace kubewatch::hooks {

std::unique_ptr<TriggerSource> open_trigger(const TriggerSetting& setting, const TriggerRule& rule,
                                            std::size_t index) {
  if (!rule.exec.empty()) return std::make_unique<TriggerProgram>(setting, rule.exec, index);
  if (!rule.file.empty()) return std::make_unique<TriggerFile>(setting, rule.file);
  return nullptr;
}

}  // namespace kubewatch::hooks
