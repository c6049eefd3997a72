// Headers of tables, and the columns of -L and --show-labels, as kubectl makes them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kubewatch::cli {

using Labels = std::vector<std::pair<std::string, std::string>>;

// The keys of -L a,b and of repeated -L, without empty ones.
std::vector<std::string> label_keys(const std::vector<std::string>& given);
// "" where the object has none of this key.
std::string label_of(const Labels& labels, const std::string& key);
// "a=1,b=2" by key, "<none>".
std::string all_labels(Labels labels);
// "Ready" -> "READY"; ASCII only.
std::string as_header(std::string_view name);
// "app.kubernetes.io/name" -> "NAME".
std::string label_header(const std::string& key);

}  // namespace kubewatch::cli
