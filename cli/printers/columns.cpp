#include "cli/printers/columns.hpp"

#include <algorithm>

#include "apiserver/printers.hpp"
#include "core/json_path.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostCrdColumns = 100;

std::string type_id(const core::ResourceType& type) {
  // Events are stored once and served in two groups.
  if (type.gvk.group == "events.k8s.io") return type.plural;
  return type.qualified_plural();
}

Json name_cell(const Json& object, WallTime) {
  return base::string_at(object, {"metadata", "name"});
}
Json age_cell(const Json& object, WallTime now) {
  return age_text(base::string_at(object, {"metadata", "creationTimestamp"}), now);
}

}  // namespace

std::shared_ptr<const Columns> plain_columns() {
  static const auto kPlain = std::make_shared<const Columns>(
      Columns{{"Name", 0, name_cell, "metadata"}, {"Age", 0, age_cell, "metadata"}});
  return kPlain;
}

std::shared_ptr<const Columns> builtin_columns_of(const core::ResourceType& type) {
  const auto* known = apiserver::builtin_columns(type_id(type));
  if (known == nullptr) return nullptr;
  auto out = std::make_shared<Columns>();
  for (const auto& column : *known) out->push_back({column.name, column.priority, column.make, ""});
  return out;
}

std::shared_ptr<const Columns> crd_columns(const Json& crd, const std::string& version) {
  auto out = std::make_shared<Columns>(Columns{{"Name", 0, name_cell, "metadata"}});
  const Json* found = schema::crd_version(crd, version);
  const Json* columns =
      found == nullptr ? nullptr : base::find(*found, {"additionalPrinterColumns"});
  if (columns == nullptr || !columns->is_array() || columns->empty()) return plain_columns();
  for (const auto& one : *columns) {
    if (out->size() > kMostCrdColumns) break;
    const std::string json_path = base::string_at(one, {"jsonPath"});
    auto path = core::JsonPath::parse(json_path);
    Column column;
    column.name = base::string_at(one, {"name"});
    column.priority = static_cast<int>(base::int_at(one, {"priority"}).value_or(0));
    if (path.ok()) {
      // A filter may compare with what "$" leads to, anywhere; ['a.b'] may be a path.
      const std::string field = path->first_field();
      const bool plain = json_path.find('$') == std::string::npos && field.find('.') == field.npos;
      if (plain) column.member = field;
      column.make = [path = std::move(path).value(), type = base::string_at(one, {"type"})](
                        const Json& object, WallTime now) {
        return apiserver::custom_cell(path, type, object, now);
      };
    } else {
      column.make = [](const Json&, WallTime) { return Json(); };
    }
    out->push_back(std::move(column));
  }
  return out;
}

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "";
  std::string out = core::scalar_text(cell);
  const std::size_t end = out.find_first_of("\f\n\r");
  return end == std::string::npos ? out : out.substr(0, end) + "...";
}

std::string age_text(const std::string& timestamp, WallTime now) {
  return apiserver::age_of(timestamp, now);
}

void ColumnBook::put(const core::ResourceType& type, std::shared_ptr<const Columns> columns) {
  known_[type.gvk] = std::move(columns);
}

bool ColumnBook::has(const core::ResourceType& type) const {
  return known_.count(type.gvk) != 0 || builtin_columns_of(type) != nullptr;
}

std::shared_ptr<const Columns> ColumnBook::of(const core::ResourceType& type) const {
  if (const auto it = known_.find(type.gvk); it != known_.end()) return it->second;
  auto& columns = built_in_[type.gvk];
  if (!columns) columns = builtin_columns_of(type);
  if (!columns) columns = plain_columns();
  return columns;
}

client::PendingPtr fetch_columns(client::Client& client, const core::ResourceType& type,
                                 std::function<void(std::shared_ptr<const Columns>)> done) {
  core::ResourceType crds;
  crds.gvk = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  crds.plural = "customresourcedefinitions";
  crds.namespaced = false;
  return client.get(crds, {"", type.qualified_plural()},
                    [version = type.gvk.version, done = std::move(done)](Result<Json> crd) {
                      done(crd.ok() ? crd_columns(*crd, version) : plain_columns());
                    });
}

void find_columns(ColumnBook& book, client::Client& client, loop::EventLoop& loop,
                  const core::ResourceType& type, Duration within,
                  const std::function<bool()>& stopped) {
  if (book.has(type)) return;
  std::shared_ptr<const Columns> columns;
  const auto pending = fetch_columns(client, type, [&](auto found) { columns = std::move(found); });
  loop.run_until([&] { return columns != nullptr || stopped(); }, within);
  if (columns) book.put(type, std::move(columns));
}

}  // namespace kubewatch::cli
