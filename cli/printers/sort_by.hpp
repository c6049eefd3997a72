// --sort-by: the order of a finished list by one of its fields, as kubectl orders it. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/json_path.hpp"

namespace kubewatch::cli {

// "web2" before "web10": runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);
// Numbers before texts; texts as quantities ("100m" before "2Gi") where all are, else naturally.
bool field_less(const Json& a, const Json& b, bool by_size);

class SortBy {
 public:
  // Errors: invalid, with a caret.
  static Result<SortBy> parse(const std::string& path);
  // The order of the objects, stable; what lacks the field goes first. Errors: invalid when none of
  // several has it.
  Result<std::vector<std::size_t>> order(const std::vector<const Json*>& objects) const;

 private:
  std::string text_;
  core::JsonPath path_;
};

}  // namespace kubewatch::cli
