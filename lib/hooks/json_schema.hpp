// Building blocks of JSON Schemas for editors (draft 2020-12). Only what they are made of; which
// keys a rule has is rule_schema's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::hooks::json_schema {

using Words = std::vector<std::string>;

Json described(Json schema, const char* text);
// Not empty.
Json text(const char* description = "");
Json matching(const char* pattern, const char* description = "");
Json flag(const char* description = "");
Json whole(std::int64_t min, std::int64_t max, const char* description = "");
Json words(const Words& values, const char* description = "");
Json any_of(std::vector<Json> choices, const char* description = "");
Json list(Json items, const char* description = "");
// Not empty.
Json some(Json items, const char* description = "");
Json mapping(Json properties, const Words& required = {});
// Exactly one of its keys.
Json one_key(Json properties);
Json map_of(Json values, const char* names, const char* description = "");
// {"if": that, "then": these}; without `that` when it does not hold.
Json when(Json condition, Json consequence, Json otherwise = Json());
// {"required": [key]}
Json has(const char* key);
// {"properties": {key: schema}}
Json with(const char* key, Json schema);

}  // namespace kubewatch::hooks::json_schema
