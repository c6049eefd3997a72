// metadata as the server's own type of it (ObjectMeta) is read: which fields there are, what each
// of them takes, and what Go's decoder says of a value that does not fit. Of whole objects and of
// embedded ones. Not the rules that its values keep: embedded.hpp, and the server's metadata. Pure.
#pragma once

#include <string>

#include "base/json_fwd.hpp"
#include "schema/field_error.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

struct MetaField {
  enum class Shape { text, count, texts_by_key, texts, objects };
  Shape shape;
  const char* type;  // as Go names it
};
// Null: ObjectMeta has no such field.
const MetaField* meta_field(const std::string& name);

// "" or what does not fit of a value that is not null; `path` is the field with where the decoder
// counts from: "labels", "metadata.labels". The items of objects are read_meta_item's.
std::string why_no_meta_value(const MetaField& field, const std::string& path, const Json& value);

// An item of `list`, ownerReferences or managedFields, read as its type: nulls go, and so does what
// the type lacks, whose paths below `place` are added. "" or what does not fit; `around` is where
// the decoder counts the field from: "", "metadata.".
std::string read_meta_item(const std::string& list, const std::string& around, Json& item,
                           const ValuePlace& place, ToldPaths& unknown);

}  // namespace kubewatch::schema
