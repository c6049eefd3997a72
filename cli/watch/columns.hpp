// The cells of a row of a watch, from an object's text: of a hundred thousand rows each must be
// cheap, so no more of it is made a tree than the columns look at. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "cli/printers/columns.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli::watch {

// Of the columns that are shown, in their order. What is broken is read up to the damage.
std::vector<std::string> cells_of(const core::ResourceType& type, const Columns& columns, bool wide,
                                  std::string_view json, WallTime now);

}  // namespace kubewatch::cli::watch
