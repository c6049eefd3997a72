// The proof that a cache lost nothing: cuts a LIST answer into its items and takes managedFields
// out of one, with code that shares nothing with lib/core and lib/runtime. Trusts its input.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kubewatch::bench {

class ItemCutter {
 public:
  // Calls `on_item` for each element of the list's array that is complete; the view is valid during
  // the call.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_item);

 private:
  std::string path_;  // open brackets
  std::string item_;
  bool in_string_ = false;
  bool escaped_ = false;
};

// The object's text without metadata.managedFields and the comma that goes with it.
std::string without_managed_fields(std::string_view object);
// The object's text without apiVersion and kind where they come first: list items lack them.
std::string without_type(std::string_view object);

}  // namespace kubewatch::bench
