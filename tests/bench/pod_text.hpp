// Text with <placeholders>: the Pods of the benchmarks before their names are filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kubewatch::bench {

// A Pod as a Deployment makes it and a kubelet reports it, about 6 KB with managedFields: two
// containers, a probe, a volume, three conditions. Compact JSON in the order of the API server,
// without apiVersion and kind, as in a list.
std::string pod_text();
// About 1 KB with managedFields: one container, no volumes.
std::string small_pod_text();

using Words = std::map<std::string, std::string, std::less<>>;
// Replaces each <name> that `words` has; others stay. Appends to `out`.
void fill(std::string_view text, const Words& words, std::string& out);

}  // namespace kubewatch::bench
