#include "cli/printers/server_table.hpp"

#include "base/json.hpp"
#include "cli/printers/columns.hpp"
#include "client/sender.hpp"
#include "core/meta.hpp"
#include "core/url.hpp"

namespace kubewatch::cli {

namespace {

core::TableRow row_of(const core::ResourceType& type, const Columns& columns, const Json& object,
                      bool keep, WallTime now) {
  core::TableRow row;
  for (const auto& column : columns) row.cells.push_back(cell_text(column.make(object, now)));
  auto meta = core::meta_of(object);
  row.key = meta.key();
  row.uid = std::move(meta.uid);
  row.resource_version = std::move(meta.resource_version);
  row.labels = std::move(meta.labels);
  if (keep) {
    Json whole = object;
    // Items of built-in lists lack their own.
    whole["apiVersion"] = type.gvk.api_version();
    whole["kind"] = type.gvk.kind;
    row.object = base::dump_json(whole);
  }
  return row;
}

// Of a list, or of one object.
Result<core::Table> made_here(const core::ResourceType& type, const std::string& body, bool keep,
                              WallTime now) {
  KW_ASSIGN(const auto answer, base::parse_json(body));
  const auto columns = ColumnBook().of(type);
  core::Table out;
  for (const auto& column : *columns) out.columns.push_back({column.name, column.priority});
  out.resource_version = base::string_at(answer, {"metadata", "resourceVersion"});
  out.continue_token = base::string_at(answer, {"metadata", "continue"});
  const Json* items = base::find(answer, {"items"});
  if (items == nullptr || !items->is_array()) {
    if (!answer.is_object()) return Error(ErrorKind::invalid, "the answer is no object");
    out.rows.push_back(row_of(type, *columns, answer, keep, now));
    return out;
  }
  for (const auto& item : *items) out.rows.push_back(row_of(type, *columns, item, keep, now));
  return out;
}

Result<core::Table> table_of(const core::ResourceType& type, const http::Response& response,
                             bool keep, WallTime now) {
  if (response.status >= 300) {
    return client::error_of_answer(response.status, response.headers, response.body);
  }
  auto table = core::parse_table(response.body, keep);
  if (table.ok() || table.error().kind() != ErrorKind::unsupported) return table;
  return made_here(type, response.body, keep, now);
}

}  // namespace

std::string table_path(const core::ResourceType& type, const core::ObjectKey& key,
                       const core::ListParams& params, core::TableObject include) {
  std::string out =
      key.name.empty() ? core::collection_path(type, key.namespace_) : core::object_path(type, key);
  out += '?';
  out += core::table_query(include);
  if (const auto query = params.query(); key.name.empty() && !query.empty()) out += "&" + query;
  return out;
}

client::PendingPtr get_table(client::Client& client, const core::ResourceType& type,
                             const core::ObjectKey& key, const core::ListParams& params,
                             core::TableObject include,
                             std::function<void(Result<core::Table>)> done) {
  auto take = [type, key, keep = include == core::TableObject::whole, &client,
               done = std::move(done)](Result<http::Response> response) {
    auto table = response.ok() ? table_of(type, *response, keep, client.loop().wall())
                               : Result<core::Table>(std::move(response).error());
    if (!table.ok()) {
      const std::string what = key.name.empty() ? "list " : "get ";
      table.error().add_context(what + type.qualified_plural() +
                                (key.name.empty() ? "" : " \"" + key.name + "\""));
    }
    done(std::move(table));
  };
  return client.raw("GET", table_path(type, key, params, include), std::move(take),
                    std::string(core::accept_table()));
}

}  // namespace kubewatch::cli
