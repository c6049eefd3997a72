// How a value stands in texts that quote it: log lines in JSON, messages of the API server, URLs.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::hooks {

// In strings of JSON as most programs write it, as Go does (\u0026) and in ASCII alone, and of Go's
// %q; each of them quoted once more, as a message in a line of JSON is. What is the same as the
// value is left out, and so is what is no UTF-8, which no such string holds.
std::vector<std::string> quoted_forms(std::string_view value);

// Percent-encoded, as in queries, in forms and by JavaScript; likewise.
std::vector<std::string> url_forms(std::string_view value);

}  // namespace kubewatch::hooks
