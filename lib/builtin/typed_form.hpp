// What becomes of an object of a built-in kind where the server has read it as its own Go type and
// writes it again: zeros that such a type cannot tell from nothing are gone, what it always shows
// is there. Not defaults: defaults.hpp. Pure.
#pragma once

#include <string_view>

#include "base/json_fwd.hpp"
#include "builtin/wire_types.hpp"

namespace kubewatch::builtin {

// By its apiVersion and kind; what is no built-in kind stays as it is. Its own metadata is none of
// it, those of templates are. Numbers become those that the type can hold, as Go converts them;
// values of a type that is not to be converted stay, and so do empty lists and maps.
void to_typed_form(Json& object);

// Lists and maps that are always shown and empty become null, as they come out of the storage. Who
// sends `rules: []` owns it all the same, so not before it is known who owns what.
void hide_empty_lists(Json& object);

// What a value that nobody set is, in whatever type.
bool is_zero_value(const Json& value);
// Whether Go writes the field even where nothing was said of it.
bool is_always_written(const WireField& field);

// What an object of which nothing was said shows all the same. Who creates an object owns what
// differs from this.
Json empty_object(std::string_view api_version, std::string_view kind);

}  // namespace kubewatch::builtin
