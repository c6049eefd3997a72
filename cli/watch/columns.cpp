#include "cli/watch/columns.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/read_text.hpp"
#include "core/json_cut.hpp"

namespace kubewatch::cli::watch {

namespace {

// The object, or as much of it as the shown columns look at.
Json tree_of(const Columns& columns, bool wide, std::string_view json) {
  const auto looked_at = [&](std::string_view member) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
      return is_shown(column, wide) && (column.member.empty() || column.member == member);
    });
  };
  Json out = Json::object();
  // Of equal keys the last counts, as in Go's decoder.
  (void)core::for_each_member(json, [&](const core::JsonMember& member) {
    if (!looked_at(member.key)) return;
    if (auto value = base::parse_json(member.value); value.ok()) {
      out[std::string(member.key)] = std::move(*value);
    }
  });
  return out;
}

// Of an ordinary Pod; null for all others.
Json quick_cells(const core::ResourceType& type, std::string_view json, WallTime now) {
  std::string text;
  const bool pod = type.gvk.group.empty() && type.plural == "pods";
  if (!pod || !apiserver::append_pod_cells(json, now, text)) return nullptr;
  auto cells = base::parse_json(text);
  return cells.ok() ? std::move(*cells) : Json();
}

}  // namespace

std::vector<std::string> cells_of(const core::ResourceType& type, const Columns& columns, bool wide,
                                  std::string_view json, WallTime now) {
  std::vector<std::string> out;
  const Json quick = quick_cells(type, json, now);
  const bool made = quick.is_array() && quick.size() == columns.size();
  const Json tree = made ? Json() : tree_of(columns, wide, json);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_shown(columns[i], wide)) continue;
    out.push_back(cell_text(made ? quick[i] : columns[i].make(tree, now)));
  }
  return out;
}

}  // namespace kubewatch::cli::watch
