// What may pass the gateway of `credentials: cache`, and where it is answered from. Pure: a hook's
// request in, a plan out. The hook is trusted no further than its rule: writes go to the kinds of
// for, owns and writes; nothing opens a tunnel, mints a token or reaches another host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api_path.hpp"
#include "core/resource.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

struct GatewayPlan {
  enum class How { refuse, cache, forward } how = How::refuse;
  // refuse
  int status = 403;
  std::string message;
  std::string allow;  // with a 405: the header of that name
  // cache: a GET, or a LIST without name
  core::ApiPath path;  // without plural: no resource, but discovery, versions, the schema
  std::string label_selector;
  // forward
  std::string target;  // path and query
  bool write = false;
  bool replaces = false;   // with what the client has: of an object that it has read, all of it
  bool dry_run = false;    // of a write, as its query says
  bool streaming = false;  // a watch, or a log that is followed
};

// `manager` is put into every write; with `read_only` there is none. cache: the request is one that
// a cache can answer; whether this one does is the gateway's question, with forward's members
// filled in for the case that not.
GatewayPlan plan_gateway_request(const http::ServerRequest& request,
                                 const std::vector<core::ResourceType>& writable,
                                 std::string_view manager, bool read_only = false);

}  // namespace kubewatch::hooks
