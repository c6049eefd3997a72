// Lists and maps with nothing in them: the server does not write them, and yet the rules of a kind
// see them in an object that was sent. Not which of them are left out: schema::as_written. Pure.
#pragma once

#include "base/json.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::apiserver {

// What leads to those in `sent` that `kept` lacks or has as null; null where it lacks none. Of a
// list each item of `kept` has its place, null where nothing is lost. With `node` items of keyed
// lists are found by their keys, and `kept` may have others among them.
Json lost_empties(const Json& sent, const Json& kept, const schema::MergeNode* node = nullptr);
// Puts them back, where what they stood in is still there.
void put_empties(const Json& empties, Json& object);

}  // namespace kubewatch::apiserver
