// Continue tokens: where a list in pages goes on, and in which state. As the server encodes them
// and refuses them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace kubewatch::apiserver {

struct ContinueToken {
  std::int64_t version = 0;  // negative = the newest state
  std::string start;         // the first key to look at: "shop/web", or what comes after it
};

// What goes on behind `key`.
ContinueToken continue_after(std::int64_t version, const std::string& key);

// `prefix`: of all keys of the list ("shop/" or ""). A token says where to go on behind it, so that
// none leads out of its list. Precondition: the start has the prefix.
std::string encode_continue(const ContinueToken& token, const std::string& prefix);
// `why` a list does not go on in the state of its token: gone. The answer has another token, which
// goes on in the newest one.
Error expired_token(const std::string& why, const ContinueToken& token, const std::string& prefix);
// Errors: bad_request.
Result<ContinueToken> decode_continue(const std::string& text, const std::string& prefix);

}  // namespace kubewatch::apiserver
