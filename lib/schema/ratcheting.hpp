// What an update leaves as it was, and may therefore stay wrong: the server calls it ratcheting.
// For the validators of this room; what they compare must outlive it.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "base/json.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

// The items of an old list by their keys; none in lists that are no maps. Of items with the same
// keys the first counts; one that lacks a key, or has a null, a list or an object there, is none.
class OldItems {
 public:
  // `old` may be null, or no list.
  OldItems(const Structural& list, const Json* old);
  const Json* find(const Json& item) const;

 private:
  std::optional<Json> identity(const Json& item) const;

  const Structural& list_;
  std::map<Json, const Json*> items_;
};

// Whether a value is what it was, as the server sees it: by its schema. What the schema does not
// know is never the same: a kept unknown field, the metadata of the object and of embedded ones.
// Items of keyed lists may change places. Each object and list is compared once.
class RatchetingEquality {
 public:
  bool equal(const Structural& schema, const Json& old, const Json& value);

 private:
  bool equal_objects(const Structural& schema, const Json& old, const Json& value);
  bool equal_lists(const Structural& schema, const Json& old, const Json& value);

  std::unordered_map<const Json*, bool> known_;  // by the new value: it has one older self
};

}  // namespace kubewatch::schema
