// Whether a number can be held by what type and format of its schema say: what the server asks of
// values, and of the bounds that it compares them with. Pure.
#pragma once

#include <string_view>

namespace kubewatch::schema {

// `type` may be "" or "integer,string", which hold every number.
bool in_number_range(double value, std::string_view type, std::string_view format);

}  // namespace kubewatch::schema
