// The Status object: the API server's answer when there is no object to answer with. No I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json_fwd.hpp"

namespace kubewatch::core {

// An HTTP answer >= 400 as an Error: a Status body is used when there is one; anything else (429 in
// plain text, 503 in HTML) becomes a sentence with the code and the first line of the body.
// `retry_after`: in seconds (http/retry_after.hpp), "" when absent.
base::Error error_from_response(int code, std::string_view body, std::string_view retry_after = {});
// A Status object of an ERROR watch event; objects that are no Status become kind internal.
base::Error error_from_status_json(std::string_view object_json);

// The reason of a Status that is made for an HTTP code alone, as apimachinery's
// NewGenericServerResponse chooses it (409 is a Conflict, 5xx without one of its own an
// InternalError), and for 410 Expired, for 413 RequestEntityTooLarge; "" where none has the code.
std::string reason_of_code(int code);

// A failure as a server tells it; "" as the reason is left out.
Json status_body(int code, const std::string& reason, const std::string& message);

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};
// details.causes of an error's Status: conflicts (FieldManagerConflict), invalid fields.
std::vector<StatusCause> causes_of(const base::Error& error);
// A 404 that is about no object: the server has no such kind (yet), or there is no API server.
bool is_unknown_path(const base::Error& error);
// A 404 that says of an object that it is not there: by a Status that is one of an API server.
// Where the kind is not served nobody has looked for the object, and it may well be there.
bool is_absent_object(const base::Error& error);
// A page, as of web servers and proxies: whoever answers with markup is no API server, whatever the
// code says.
bool is_page(std::string_view body);
// "Too large resource version": the server has not seen that resourceVersion yet, or never will.
bool is_resource_version_too_large(const base::Error& error);

}  // namespace kubewatch::core
