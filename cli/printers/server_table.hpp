// A list as the server tables it: the right columns for every kind, also those of aggregated
// servers, in a tenth of the bytes. A page at a time.
#pragma once

#include <functional>
#include <string>

#include "client/client.hpp"
#include "core/params.hpp"
#include "core/table.hpp"

namespace kubewatch::cli {

// "/api/v1/namespaces/shop/pods?includeObject=Metadata&limit=500"; with a name: that object alone.
std::string table_path(const core::ResourceType& type, const core::ObjectKey& key,
                       const core::ListParams& params, core::TableObject include);

// One page (key.name empty), or one object. From a server that has no tables: made here of the
// objects, with the columns of columns.hpp. Errors: of the request, invalid.
[[nodiscard]] client::PendingPtr get_table(client::Client& client, const core::ResourceType& type,
                                           const core::ObjectKey& key,
                                           const core::ListParams& params,
                                           core::TableObject include,
                                           std::function<void(Result<core::Table>)> done);

}  // namespace kubewatch::cli
