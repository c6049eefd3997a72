#include "apiserver/openapi_types.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace kubewatch::apiserver {

namespace {

constexpr std::string_view kSchemas = "#/components/schemas/";

// `type` is one of JSON's, an integer with its width, "map" of texts, "[]" and a type, or another
// type of the table. A trailing "!" of the name: it must be there.
struct Field {
  const char* name;
  const char* type;
  const char* text;
};

struct Type {
  const char* text;
  std::vector<Field> fields;
};

constexpr const char* kApiVersion =
    "Which version of which API group this is written in; a server may refuse those it does not "
    "know.";
constexpr const char* kKind =
    "What this is, in CamelCase. A server may take it from the path of the request; it never "
    "changes.";

const std::map<std::string, Type>& types() {
  static const std::map<std::string, Type> table = {
      {"ObjectMeta",
       {"What all persisted objects say about themselves.",
        {{"annotations", "map", "Data of any kind for tools; it cannot be selected by."},
         {"creationTimestamp", "Time", "When the server stored the object first; read-only."},
         {"deletionGracePeriodSeconds", "int64",
          "How long the object may take to end once its deletion was asked for; read-only."},
         {"deletionTimestamp", "Time",
          "When the object is to be gone. The server sets it when somebody deletes an object that "
          "cannot go at once; it cannot be taken back."},
         {"finalizers", "[]string",
          "Who has to do something before the object may go. It stays as long as one is left."},
         {"generateName", "string",
          "What the server makes a name of, by adding to it, where none is given."},
         {"generation", "int64", "Counts the changes of what is desired; read-only."},
         {"labels", "map", "Short texts by which objects are grouped and selected."},
         {"managedFields", "[]ManagedFieldsEntry",
          "Who wrote which fields last; the server keeps it for server-side apply."},
         {"name", "string", "Unique among objects of its kind in its namespace; never changes."},
         {"namespace", "string",
          "Within which the name is unique; empty where the kind belongs to the cluster."},
         {"ownerReferences", "[]OwnerReference",
          "Objects that this one depends on: it is removed when all of them are gone. One of them "
          "at most is its controller."},
         {"resourceVersion", "string",
          "Changes with every write. Clients compare it, pass it back unchanged, and read nothing "
          "out of it."},
         {"selfLink", "string", "Deprecated: no server fills it in any more."},
         {"uid", "string", "Unique over all objects at all times; read-only."}}}},
      {"OwnerReference",
       {"Names an owner: an object of the same namespace, or of the cluster.",
        {{"apiVersion!", "string", "API group and version of the owner."},
         {"blockOwnerDeletion", "boolean",
          "Whether a deletion of the owner in the foreground waits for this object."},
         {"controller", "boolean", "Whether the owner is the object's controller."},
         {"kind!", "string", "Kind of the owner."},
         {"name!", "string", "Name of the owner."},
         {"uid!", "string", "UID of the owner: another one of the same name is no owner."}}}},
      {"ManagedFieldsEntry",
       {"The fields that one writer owns.",
        {{"apiVersion", "string", "The version that the names of the fields are of."},
         {"fieldsType", "string", "How fieldsV1 is written: FieldsV1."},
         {"fieldsV1", "FieldsV1", "The fields."},
         {"manager", "string", "Who wrote them."},
         {"operation", "string", "How: Apply or Update."},
         {"subresource", "string", "Where: empty for the object itself."},
         {"time", "Time", "When the set of fields changed last."}}}},
      {"FieldsV1",
       {"A set of fields as a tree: f:NAME for a field, k:KEYS or v:VALUE for an item of a list, a "
        "dot for the place itself.",
        {}}},
      {"Time", {"A point in time as RFC 3339 writes it.", {}}},
      {"ListMeta",
       {"What lists say about themselves.",
        {{"continue", "string", "Asks for the rest, where the server cut the list."},
         {"remainingItemCount", "int64", "How many items follow, where the server knows."},
         {"resourceVersion", "string", "The state that was listed; a watch may go on from there."},
         {"selfLink", "string", "Deprecated: no server fills it in any more."}}}},
      {"Patch", {"A change, in the form that the content type of the request names.", {}}},
      {"Status",
       {"What the server answers instead of an object: above all why it refused.",
        {{"apiVersion", "string", kApiVersion},
         {"code", "int32", "The HTTP status code."},
         {"details", "StatusDetails", "What the reason concerns."},
         {"kind", "string", kKind},
         {"message", "string", "For people."},
         {"metadata", "ListMeta", "About the answer."},
         {"reason", "string", "For programs: one word."},
         {"status", "string", "Success or Failure."}}}},
      {"StatusDetails",
       {"What a Status concerns.",
        {{"causes", "[]StatusCause", "All that is wrong."},
         {"group", "string", "API group of the object."},
         {"kind", "string", "Kind or resource of the object."},
         {"name", "string", "Name of the object."},
         {"retryAfterSeconds", "int32", "When to try again."},
         {"uid", "string", "UID of the object."}}}},
      {"StatusCause",
       {"One thing that is wrong.",
        {{"field", "string", "Path of the field."},
         {"message", "string", "For people."},
         {"reason", "string", "For programs: one word."}}}},
      {"Scale",
       {"How many replicas an object has and shall have.",
        {{"apiVersion", "string", kApiVersion},
         {"kind", "string", kKind},
         {"metadata", "ObjectMeta", "Metadata of the object."},
         {"spec", "ScaleSpec", "What is desired."},
         {"status", "ScaleStatus", "What there is; read-only."}}}},
      {"ScaleSpec",
       {"How many replicas an object shall have.",
        {{"replicas", "int32", "The number that is desired."}}}},
      {"ScaleStatus",
       {"How many replicas an object has.",
        {{"replicas!", "int32", "The number that was seen."},
         {"selector", "string", "Selects the Pods that are counted, as in a query."}}}},
  };
  return table;
}

bool is_scale(std::string_view type) {
  return type.starts_with("Scale");
}

std::string name_of(const std::string& type) {
  return (is_scale(type) ? "io.k8s.api.autoscaling.v1." : "io.k8s.apimachinery.pkg.apis.meta.v1.") +
         type;
}

Json type_schema(std::string_view type) {
  if (type.starts_with("[]")) {
    return {{"type", "array"}, {"items", type_schema(type.substr(2))}};
  }
  if (type == "map") {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}, {"default", ""}}}};
  }
  if (type == "int32" || type == "int64") return {{"type", "integer"}, {"format", type}};
  if (type == "string" || type == "boolean") return {{"type", type}};
  return reference_schema(shared_type_reference(std::string(type)));
}

Json schema_of(const Type& type) {
  Json out = {{"type", "object"}, {"description", type.text}};
  for (const Field& field : type.fields) {
    std::string name = field.name;
    if (name.back() == '!') {
      name.pop_back();
      out["required"].push_back(name);
    }
    Json& property = out["properties"][name];
    property = type_schema(field.type);
    property["description"] = field.text;
  }
  return out;
}

Json gvk_list(const char* group, const char* kind) {
  return Json::array({{{"group", group}, {"version", "v1"}, {"kind", kind}}});
}

}  // namespace

std::string shared_type_reference(const std::string& type) {
  return std::string(kSchemas) + name_of(type);
}

Json reference_schema(const std::string& reference, const std::string& description) {
  // Beside a bare $ref nothing else counts.
  Json out = {{"allOf", Json::array({{{"$ref", reference}}})}};
  if (!description.empty()) out["description"] = description;
  return out;
}

Json shared_type_schemas(bool with_scale) {
  Json out = Json::object();
  for (const auto& [name, type] : types()) {
    if (with_scale || !is_scale(name)) out[name_of(name)] = schema_of(type);
  }
  Json& time = out[name_of("Time")];
  time["type"] = "string";
  time["format"] = "date-time";
  out[name_of("OwnerReference")]["x-kubernetes-map-type"] = "atomic";
  Json& meta = out[name_of("ObjectMeta")]["properties"];
  meta["finalizers"]["x-kubernetes-list-type"] = "set";
  meta["finalizers"]["x-kubernetes-patch-strategy"] = "merge";
  meta["managedFields"]["x-kubernetes-list-type"] = "atomic";
  meta["ownerReferences"].update({{"x-kubernetes-list-type", "map"},
                                  {"x-kubernetes-list-map-keys", Json::array({"uid"})},
                                  {"x-kubernetes-patch-merge-key", "uid"},
                                  {"x-kubernetes-patch-strategy", "merge"}});
  constexpr const char* kGvk = "x-kubernetes-group-version-kind";
  out[name_of("Status")][kGvk] = gvk_list("", "Status");
  if (with_scale) out[name_of("Scale")][kGvk] = gvk_list("autoscaling", "Scale");
  return out;
}

void add_type_properties(Json& properties) {
  properties["apiVersion"] = {{"type", "string"}, {"description", kApiVersion}};
  properties["kind"] = {{"type", "string"}, {"description", kKind}};
}

}  // namespace kubewatch::apiserver
