#include "apiserver/typing.hpp"

#include <algorithm>

#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "schema/times.hpp"
#include "schema/typed.hpp"

namespace kubewatch::apiserver {

Result<void> read_typed(Json& object, const Resource& resource) {
  const auto misread = builtin::why_undecoded(object);
  if (!misread) builtin::to_typed_form(object);
  const auto fits = schema::check_read(*resource.merge, object);
  if (fits && !misread) return {};
  // The server stops at a time that is none, and goes on after all else that does not fit.
  if (const auto time =
          schema::why_no_times(*resource.merge, object, schema::TimeReader::decoder)) {
    return undecodable(resource.type.gvk, *time);
  }
  if (misread) return undecodable(resource.type.gvk, *misread);
  std::string why = fits.error().message();
  std::replace(why.begin(), why.end(), '\n', ' ');
  return undecodable(resource.type.gvk, why);
}

}  // namespace kubewatch::apiserver
