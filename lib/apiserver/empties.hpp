// Lists and maps with nothing in them: the server does not write them, and yet the rules of a kind
// see them in an object that was sent. Not which of them are left out: schema::as_written. Pure.
#pragma once

#include "base/json.hpp"

namespace kubewatch::apiserver {

// What leads to those in `sent` that `kept` lacks; null where it lacks none. Of a list each item
// has its place, null where nothing is lost; without `in_lists` nothing is looked for in items.
Json lost_empties(const Json& sent, const Json& kept, bool in_lists);
// Puts them back, where what they stood in is still there.
void put_empties(const Json& empties, Json& object);

}  // namespace kubewatch::apiserver
