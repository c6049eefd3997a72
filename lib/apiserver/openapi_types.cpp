#include "apiserver/openapi_types.hpp"

#include <map>
#include <vector>

namespace kubewatch::apiserver {

namespace {

struct FieldWords {
  const char* name;
  const char* text;
};

struct Words {
  const char* text;
  std::vector<FieldWords> fields;
};

constexpr const char* kAboutApiVersion =
    "Which version of which API group this is written in; a server may refuse those it does not "
    "know.";
constexpr const char* kAboutKind =
    "What this is, in CamelCase. A server may take it from the path of the request; it never "
    "changes.";

const std::map<std::string, Words>& words() {
  static const std::map<std::string, Words> table = {
      {"ObjectMeta",
       {"What all persisted objects say about themselves.",
        {{"annotations", "Data of any kind for tools; it cannot be selected by."},
         {"creationTimestamp", "When the server stored the object first; read-only."},
         {"deletionGracePeriodSeconds",
          "How long the object may take to end once its deletion was asked for; read-only."},
         {"deletionTimestamp",
          "When the object is to be gone. The server sets it when somebody deletes an object that "
          "cannot go at once; it cannot be taken back."},
         {"finalizers",
          "Who has to do something before the object may go. It stays as long as one is left."},
         {"generateName", "What the server makes a name of, by adding to it, where none is given."},
         {"generation", "Counts the changes of what is desired; read-only."},
         {"labels", "Short texts by which objects are grouped and selected."},
         {"managedFields",
          "Who wrote which fields last; the server keeps it for server-side apply."},
         {"name", "Unique among objects of its kind in its namespace; never changes."},
         {"namespace",
          "Within which the name is unique; empty where the kind belongs to the cluster."},
         {"ownerReferences",
          "Objects that this one depends on: it is removed when all of them are gone. One of them "
          "at most is its controller."},
         {"resourceVersion",
          "Changes with every write. Clients compare it, pass it back unchanged, and read nothing "
          "out of it."},
         {"selfLink", "Deprecated: no server fills it in any more."},
         {"uid", "Unique over all objects at all times; read-only."}}}},
      {"OwnerReference",
       {"Names an owner: an object of the same namespace, or of the cluster.",
        {{"apiVersion", "API group and version of the owner."},
         {"blockOwnerDeletion",
          "Whether a deletion of the owner in the foreground waits for this object."},
         {"controller", "Whether the owner is the object's controller."},
         {"kind", "Kind of the owner."},
         {"name", "Name of the owner."},
         {"uid", "UID of the owner: another one of the same name is no owner."}}}},
      {"ManagedFieldsEntry",
       {"The fields that one writer owns.",
        {{"apiVersion", "The version that the names of the fields are of."},
         {"fieldsType", "How fieldsV1 is written: FieldsV1."},
         {"fieldsV1", "The fields."},
         {"manager", "Who wrote them."},
         {"operation", "How: Apply or Update."},
         {"subresource", "Where: empty for the object itself."},
         {"time", "When the set of fields changed last."}}}},
      {"FieldsV1",
       {"A set of fields as a tree: f:NAME for a field, k:KEYS or v:VALUE for an item of a list, a "
        "dot for the place itself.",
        {}}},
      {"Time", {"A point in time as RFC 3339 writes it.", {}}},
      {"ListMeta",
       {"What lists say about themselves.",
        {{"continue", "Asks for the rest, where the server cut the list."},
         {"remainingItemCount", "How many items follow, where the server knows."},
         {"resourceVersion", "The state that was listed; a watch may go on from there."},
         {"shardInfo", "Which part of the objects this is, where the request asked for one."},
         {"selfLink", "Deprecated: no server fills it in any more."}}}},
      {"ShardInfo",
       {"A part of the objects.", {{"selector", "What the request selected the part by."}}}},
      {"Patch", {"A change, in the form that the content type of the request names.", {}}},
      {"Status",
       {"What the server answers instead of an object: above all why it refused.",
        {{"code", "The HTTP status code."},
         {"details", "What the reason concerns."},
         {"message", "For people."},
         {"metadata", "About the answer."},
         {"reason", "For programs: one word."},
         {"status", "Success or Failure."}}}},
      {"StatusDetails",
       {"What a Status concerns.",
        {{"causes", "All that is wrong."},
         {"group", "API group of the object."},
         {"kind", "Kind or resource of the object."},
         {"name", "Name of the object."},
         {"retryAfterSeconds", "When to try again."},
         {"uid", "UID of the object."}}}},
      {"StatusCause",
       {"One thing that is wrong.",
        {{"field", "Path of the field."},
         {"message", "For people."},
         {"reason", "For programs: one word."}}}},
      {"Scale",
       {"How many replicas an object has and shall have.",
        {{"metadata", "Metadata of the object."},
         {"spec", "What is desired."},
         {"status", "What there is; read-only."}}}},
      {"ScaleSpec",
       {"How many replicas an object shall have.", {{"replicas", "The number that is desired."}}}},
      {"ScaleStatus",
       {"How many replicas an object has.",
        {{"replicas", "The number that was seen."},
         {"selector", "Selects the Pods that are counted, as in a query."}}}},
  };
  return table;
}

}  // namespace

std::string reference_to(const std::string& name) {
  return "#/components/schemas/" + name;
}

std::string shared_type_name(const std::string& type) {
  const bool scale = type.starts_with("Scale");
  return (scale ? "io.k8s.api.autoscaling.v1." : "io.k8s.apimachinery.pkg.apis.meta.v1.") + type;
}

Json reference_schema(const std::string& reference, const std::string& description) {
  // Beside a bare $ref nothing else counts.
  Json out = {{"allOf", Json::array({{{"$ref", reference}}})}};
  if (!description.empty()) out["description"] = description;
  return out;
}

void add_type_properties(Json& properties) {
  properties["apiVersion"] = {{"type", "string"}, {"description", kAboutApiVersion}};
  properties["kind"] = {{"type", "string"}, {"description", kAboutKind}};
}

void describe_types(Json& schemas) {
  for (Json& schema : schemas) {
    // A kind of which v2 says nothing has no fields there.
    if (!schema.contains("x-kubernetes-group-version-kind") || !schema.contains("properties")) {
      continue;
    }
    schema["properties"]["apiVersion"]["description"] = kAboutApiVersion;
    schema["properties"]["kind"]["description"] = kAboutKind;
  }
  for (const auto& [name, type] : words()) {
    const auto schema = schemas.find(shared_type_name(name));
    if (schema == schemas.end()) continue;
    (*schema)["description"] = type.text;
    for (const FieldWords& field : type.fields) {
      (*schema)["properties"][field.name]["description"] = field.text;
    }
  }
}

}  // namespace kubewatch::apiserver
