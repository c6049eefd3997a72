// Who is let in by which bearer token: the administrator, and service accounts by what they got for
// a TokenRequest (authentication.k8s.io/v1, KEP-1205), until it expires or what it is bound to is
// gone. Owned by Api. What they may do then is nobody's question: there is no authorization. The
// secret part comes as an argument; what is checked is the whole text, so nothing is signed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

// The audience of tokens that are meant for the API server.
inline constexpr const char* kApiAudience = "https://kubernetes.default.svc";

class Tokens {
 public:
  struct Issued {
    Json answer;
    std::vector<std::string> warnings;  // unknown fields, where they are not refused
  };

  // `storage` must outlive it.
  explicit Tokens(const Storage& storage) : storage_(storage) {}

  // The administrator's, for ever.
  void admit(std::string token) { admin_ = std::move(token); }
  // The answer to `request` for `account`, with a token that has the form of a JWT; `secret` is
  // random and hard to guess. Errors: invalid (10 minutes to 2^32 seconds), bad_request, not_found
  // and conflict (what it is to be bound to).
  Result<Issued> issue(const WriteContext& context, const Object& account, const Json& request,
                       const std::string& secret);
  // Absent: nobody who is known. A token must be meant for one of the audiences, and its account,
  // and whatever else it is bound to, be there as they were.
  std::optional<Caller> caller(std::string_view token, WallTime now,
                               const std::vector<std::string>& audiences = {kApiAudience}) const;
  // Those of `audiences` that it is meant for.
  std::vector<std::string> meant_for(std::string_view token,
                                     const std::vector<std::string>& audiences) const;

 private:
  struct Bound {
    std::string storage_id;
    std::string key;
    std::string uid;
  };
  struct Token {
    Bound account;
    Bound object;  // storage_id "": nothing else
    WallTime expires;
    std::vector<std::string> audiences;
    std::string id;
  };
  Result<Bound> bind(const WriteContext& context, const Json& reference) const;
  ObjectPtr find(const Bound& bound) const;

  const Storage& storage_;
  std::string admin_;
  std::map<std::string, Token, std::less<>> tokens_;
};

}  // namespace kubewatch::apiserver
