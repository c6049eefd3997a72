// Which objects are written before which others: what a server, or a controller, looks up while it
// takes or first sees an object has to be there by then. A server that looks it up in a cache of
// its own may still not see it a moment later: whoever writes has to try again. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// What is of one class may be written side by side, once all of those before it have been.
enum class OrderClass { namespaces, definitions, looked_up, rest };

OrderClass order_class(const core::Gvk& gvk);
// Of a document; what has no kind is of the rest.
OrderClass order_class(const Json& manifest);

// Of a write: the server may have refused it for want of what was written a moment before.
bool may_be_early(const Error& refusal);
// Whether it was refused, in a namespace ("" of what has none), for want of exactly this object: by
// the words of admission, of roles and of namespaces, which other admission may use as well. A try
// of what comes later says nothing else than that while only a dry run has made the object.
bool says_lacking(const Error& refusal, const std::string& in, const core::Gvk& gvk,
                  const core::ObjectKey& key);

// By class, what is of one class in the order given. `what`: of an item, its kind or its document.
template <class Item, class What>
void sort_for_writing(std::vector<Item>& items, What what) {
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return order_class(what(a)) < order_class(what(b));
  });
}

}  // namespace kubewatch::hooks
