// The columns of a kind beside its name and age, read straight from an object's text: no tree is
// built, because a hundred thousand rows must be cheap. Built-in kinds have a table here, custom
// ones the additionalPrinterColumns of their definition. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli::watch {

// An object's text whose members are found once, however many cells are made of them: of the object
// itself and of each object inside that a cell looks into.
class RawObject {
 public:
  // `text` must outlive it. What is broken has the members in front of the damage, or none.
  explicit RawObject(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }
  // The value at a path of keys, as it stands in the text; "" when it is not there, or null.
  std::string_view at(std::span<const std::string_view> path) const;

 private:
  const std::vector<RawObject>& members() const;

  std::string_view key_;  // that it has in the object around it
  std::string_view text_;
  mutable std::vector<RawObject> members_;
  mutable bool split_ = false;
};

// A scalar as people read it: strings decoded, null and nothing as "".
std::string raw_text(std::string_view value);
// The items of a list; none when it is no list.
void each_raw_item(std::string_view list, const std::function<void(std::string_view)>& on_item);

struct Column {
  std::string header;
  // `now`: for ages.
  std::function<std::string(const RawObject& object, WallTime now)> cell;
};

// Of a kind that is built in; empty for others.
std::vector<Column> builtin_columns(const core::ResourceType& type);
// Of a definition, for the version that is watched. `wide`: those of priority above 0 too.
// A column that shows metadata.creationTimestamp is left out: AGE is always there.
std::vector<Column> custom_columns(const Json& definition, const std::string& version, bool wide);

}  // namespace kubewatch::cli::watch
