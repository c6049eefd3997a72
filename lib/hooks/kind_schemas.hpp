// The schemas that manifests and the status of a Result are checked against before the first write
// (apply.validate: schema): those of built-in kinds from the compiled-in table, those of custom
// kinds from their CustomResourceDefinitions, read when they are needed and kept for a while: what
// they refuse is judged again by one that is newer. Of a kind without a schema, or whose definition
// cannot be read, the server is asked before the first write; it checks everything again anyway.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/status_shape.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::hooks {

// So old a schema may be, as long as it refuses nothing.
inline constexpr Duration kSchemaAge{300000};

// What a manifest is as far as its schema tells. to_ask: it has fields that our table of built-in
// kinds lacks (they are misspelt, or the server is newer), or there is no schema to be read: the
// server has to say before anything is written.
enum class SchemaVerdict { fits, to_ask };

// Types, duplicate keys of lists, and fields that the schema lacks. Errors: invalid. Pure.
Result<SchemaVerdict> check_schema(const schema::MergeNode& node, const Json& manifest,
                                   bool built_in);

struct KindSchema {
  schema::MergeNodePtr node;  // null: none to be had
  StatusShape shape{};
  bool built_in = false;
  bool unread = false;  // there may be one
};

// The same of what a Result says of its object: the status without what its nulls remove, and the
// conditions. Pure.
Result<SchemaVerdict> check_status(const KindSchema& kind, const core::Gvk& gvk,
                                   const std::optional<Json>& status,
                                   const std::vector<Json>& conditions);

class KindSchemas {
 public:
  explicit KindSchemas(client::Client& client) : client_(client) {}
  // Reads those of `kinds` that are custom and not read yet, or read before `oldest`; then `done`,
  // at once when there is nothing to read. A definition that is missing or forbidden stays none;
  // what fails otherwise is told once, and tried again by whoever asks after a growing pause.
  void with(const std::vector<core::Gvk>& kinds, const client::ResourceMap* resources,
            TimePoint oldest, std::function<void()> done);
  // Errors: invalid.
  Result<SchemaVerdict> check(const core::Gvk& gvk, const Json& manifest) const;
  Result<SchemaVerdict> check_status(const core::Gvk& gvk, const std::optional<Json>& status,
                                     const std::vector<Json>& conditions) const;
  StatusShape status_shape(const core::Gvk& gvk) const;

 private:
  struct Known {
    KindSchema schema;
    TimePoint read_at{};               // when it was asked for
    std::optional<TimePoint> again{};  // it could not be read: not to be tried before
    std::uint32_t failures = 0;        // in a row
  };
  struct Waiting {
    TimePoint oldest;
    std::function<void()> done;
  };
  struct Definition {
    core::ResourceType crds;
    core::ObjectKey key;
    std::optional<TimePoint> asked;  // while it is read
    std::vector<Waiting> waiting;
  };
  void read(const core::Gvk& gvk);
  void take(const core::Gvk& gvk, const Result<Json>& crd);
  void note_failure(const core::Gvk& gvk, const core::ObjectKey& definition, const Error& error);
  bool is_fresh(const core::Gvk& gvk, TimePoint oldest) const;
  const KindSchema& schema_of(const core::Gvk& gvk) const;

  client::Client& client_;
  std::map<core::Gvk, Known> known_;
  std::map<core::Gvk, Definition> definitions_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
