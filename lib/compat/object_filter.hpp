// The result of a binding's jqFilter for each of its objects, and whether a change changed it.
// Pure but for the filter itself, which may run in a helper process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/resource.hpp"
#include "jq/jq.hpp"

namespace kubewatch::compat {

class ObjectFilter {
 public:
  // `problem` is told when the filter fails on an object, of a Secret without words that may quote
  // it: the result is null then, and no change of that object is left out.
  ObjectFilter(std::optional<jq::Program> program, std::function<void(const std::string&)> problem);
  // Of which kind the objects are. Before the first take(): not all of them say it.
  void of_kind(core::Gvk gvk) { gvk_ = std::move(gvk); }

  // The object is there now, in this state. Whether the result is another than before; true without
  // a filter.
  bool take(const core::ObjectKey& key, const std::string& json);
  void forget(const core::ObjectKey& key) { results_.erase(key); }
  // As taken last; absent without a filter.
  std::optional<std::string> result(const core::ObjectKey& key) const;

 private:
  struct Outcome {
    std::string text;
    bool failed = false;
  };
  Outcome run(const core::ObjectKey& key, const std::string& json) const;

  std::optional<jq::Program> program_;
  std::function<void(const std::string&)> problem_;
  core::Gvk gvk_;
  std::unordered_map<core::ObjectKey, Outcome, core::ObjectKeyHash> results_;
};

}  // namespace kubewatch::compat
