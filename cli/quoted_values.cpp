#include "cli/quoted_values.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace kubewatch::cli {

namespace {

bool is_secret(const Json& object) {
  return base::string_at(object, {"kind"}) == "Secret";
}

bool holds_secret(const Json& object) {
  if (is_secret(object)) return true;
  const Json& items = base::items_at(object, {"items"});
  return std::any_of(items.begin(), items.end(), is_secret);
}

}  // namespace

Error without_quoted_values(Error error, const Json& object) {
  if (!holds_secret(object)) return error;
  return {error.kind(), "it fails (why is not shown: it may quote values of a Secret)"};
}

}  // namespace kubewatch::cli
