// What a change of a CRD does: a table of changes, each with the verdict for stored objects,
// writers and readers.
#include "crdgen/diff.hpp"

#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

namespace {

Json crd_of(const std::string& x, const std::string& version_extra = "",
            const std::string& spec_extra = "") {
  return yaml(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "things.demo.example.com}, spec: {group: demo.example.com, scope: Namespaced, names: {kind: "
      "Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: "
      "{openAPIV3Schema: {type: object, properties: {x: " +
      x + "}}}" + version_extra + "}]" + spec_extra + "}}");
}

// "id stored/writers/readers path", joined by "; ".
std::string told(const std::vector<Change>& changes) {
  std::string out;
  for (const Change& one : changes) {
    if (!out.empty()) out += "; ";
    out += one.id;
    for (const Verdict verdict : {one.stored, one.writers, one.readers})
      out += (out.ends_with(one.id) ? " " : "/") + std::string(to_string(verdict));
    if (!one.path.empty()) out += " " + one.path;
  }
  return out;
}

}  // namespace

TEST_CASE("each change of a schema has its verdict for stored objects, writers and readers") {
  struct Row {
    const char* before;
    const char* after;
    const char* expected;
  };
  const Row table[] = {
      {"{type: string}", "{type: string}", ""},
      {"{type: string}", "{type: integer}", "type-changed breaking/breaking/breaking .x"},
      {"{type: integer}", "{type: number}", "type-widened safe/safe/risky .x"},
      {"{type: integer}", "{type: number, maximum: 5}",
       "type-widened safe/safe/risky .x; bound-tightened risky/breaking/safe .x"},
      {"{type: integer, format: int32}", "{type: number, format: double}",
       "type-widened safe/safe/risky .x; format-widened safe/safe/risky .x"},
      {"{type: integer}",
       "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
       "type-widened safe/safe/risky .x"},
      {"{type: integer}", "{x-kubernetes-int-or-string: true, pattern: a}",
       "type-widened safe/safe/risky .x; pattern-changed risky/breaking/safe .x"},
      {"{type: number}", "{type: integer}", "type-changed breaking/breaking/breaking .x"},
      {"{type: integer}", "{x-kubernetes-int-or-string: true}", "type-widened safe/safe/risky .x"},
      {"{type: string}", "{x-kubernetes-int-or-string: true}", "type-widened safe/safe/risky .x"},
      {"{x-kubernetes-int-or-string: true}", "{type: string}",
       "type-changed breaking/breaking/breaking .x"},
      {"{type: string}", "{x-kubernetes-preserve-unknown-fields: true}",
       "type-widened safe/safe/risky .x"},
      {"{x-kubernetes-preserve-unknown-fields: true}", "{type: string}",
       "type-changed breaking/breaking/breaking .x"},
      {"{type: string, nullable: true}", "{type: string}",
       "nullable-removed risky/breaking/safe .x"},
      {"{type: string}", "{type: string, nullable: true}", "nullable-added safe/safe/risky .x"},
      {"{type: string}", "{type: string, default: a}", "default-added risky/safe/safe .x"},
      {"{type: string, default: a}", "{type: string}", "default-removed risky/risky/breaking .x"},
      {"{type: string, default: a}", "{type: string, default: b}",
       "default-changed breaking/breaking/breaking .x"},
      {"{type: string}", "{type: string, enum: [a]}", "enum-added risky/breaking/safe .x"},
      {"{type: string, enum: [a]}", "{type: string}", "enum-removed safe/safe/risky .x"},
      {"{type: string, enum: [a, b]}", "{type: string, enum: [a]}",
       "enum-value-removed risky/breaking/safe .x"},
      {"{type: string, enum: [a]}", "{type: string, enum: [a, b]}",
       "enum-value-added safe/safe/risky .x"},
      {"{type: string, enum: [a, b]}", "{type: string, enum: [b, a]}", ""},
      {"{type: integer}", "{type: integer, minimum: 1}", "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, minimum: 1}", "{type: integer, minimum: 2}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, minimum: 2}", "{type: integer, minimum: 1}",
       "bound-loosened safe/safe/safe .x"},
      {"{type: integer, minimum: 2}", "{type: integer}", "bound-loosened safe/safe/safe .x"},
      {"{type: integer, maximum: 2}", "{type: integer, maximum: 1}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, maximum: 1}", "{type: integer, maximum: 2}",
       "bound-loosened safe/safe/safe .x"},
      {"{type: integer, minimum: 1}", "{type: integer, minimum: 1, exclusiveMinimum: true}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, minimum: 1, exclusiveMinimum: true}", "{type: integer, minimum: 1}",
       "bound-loosened safe/safe/safe .x"},
      {"{type: integer, maximum: 1}", "{type: integer, maximum: 1, exclusiveMaximum: true}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string}", "{type: string, maxLength: 5}", "bound-tightened risky/breaking/safe .x"},
      {"{type: string, maxLength: 5}", "{type: string, maxLength: 4}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string, maxLength: 5}", "{type: string, maxLength: 6}",
       "bound-loosened safe/safe/safe .x"},
      {"{type: string, minLength: 1}", "{type: string, minLength: 2}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string, minLength: 2}", "{type: string}", "bound-loosened safe/safe/safe .x"},
      // There is nothing below 0: said or not, it is no bound.
      {"{type: string}", "{type: string, minLength: 0}", ""},
      {"{type: string, minLength: 0}", "{type: string}", ""},
      {"{type: string, minLength: 0}", "{type: string, minLength: 1}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: array, items: {type: string}}", "{type: array, items: {type: string}, minItems: 0}",
       ""},
      {"{type: object}", "{type: object, minProperties: 0}", ""},
      {"{type: integer}", "{type: integer, minimum: 0}", "bound-tightened risky/breaking/safe .x"},
      {"{type: string}", "{type: string, maxLength: 0}", "bound-tightened risky/breaking/safe .x"},
      {"{type: array, items: {type: string}}", "{type: array, items: {type: string}, maxItems: 3}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: array, items: {type: string}, minItems: 2}",
       "{type: array, items: {type: string}, minItems: 1}", "bound-loosened safe/safe/safe .x"},
      {"{type: object, maxProperties: 3}", "{type: object, maxProperties: 2}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: object, minProperties: 2}", "{type: object, minProperties: 3}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string}", "{type: string, format: date}", "format-changed risky/breaking/safe .x"},
      {"{type: string, format: date}", "{type: string}", "format-removed safe/safe/safe .x"},
      {"{type: integer, format: int32}", "{type: integer, format: int64}",
       "format-widened safe/safe/risky .x"},
      {"{type: integer, format: int64}", "{type: integer, format: int32}",
       "format-changed risky/breaking/safe .x"},
      // Of formats that the server does not know it checks nothing.
      {"{type: string}", "{type: string, format: foo}", "format-unchecked safe/safe/safe .x"},
      {"{type: string, format: foo}", "{type: string, format: int32}",
       "format-unchecked safe/safe/safe .x"},
      {"{type: string, format: date}", "{type: string, format: foo}",
       "format-removed safe/safe/safe .x"},
      {"{type: string, format: foo}", "{type: string, format: date}",
       "format-changed risky/breaking/safe .x"},
      // Bounds that whatever was allowed meets anyway.
      {"{type: string, enum: [a, bb]}", "{type: string, enum: [a, bb], maxLength: 2}",
       "bound-implied safe/safe/safe .x"},
      {"{type: string, enum: [a, bb]}", "{type: string, enum: [a, bb], maxLength: 1}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string, enum: [a, bb]}", "{type: string, enum: [a], maxLength: 1}",
       "enum-value-removed risky/breaking/safe .x; bound-implied safe/safe/safe .x"},
      {"{type: string, enum: ['\u00e4']}", "{type: string, enum: ['\u00e4'], maxLength: 1}",
       "bound-implied safe/safe/safe .x"},
      {"{type: integer, enum: [1, 3]}", "{type: integer, enum: [1, 3], minimum: 1}",
       "bound-implied safe/safe/safe .x"},
      {"{type: integer, enum: [1, 3]}",
       "{type: integer, enum: [1, 3], minimum: 1, exclusiveMinimum: true}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, format: int32}", "{type: integer, format: int32, maximum: 2147483647}",
       "bound-implied safe/safe/safe .x"},
      {"{type: integer, format: int32}", "{type: integer, format: int32, maximum: 2147483646}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: integer, format: int32}", "{type: integer, format: int32, minimum: -2147483648}",
       "bound-implied safe/safe/safe .x"},
      // With one that the format cannot hold every number is refused.
      {"{type: integer, format: int32}", "{type: integer, format: int32, maximum: 4294967295}",
       "bound-tightened risky/breaking/safe .x"},
      {"{type: string}", "{type: string, pattern: a}", "pattern-changed risky/breaking/safe .x"},
      {"{type: string, pattern: a}", "{type: string, pattern: b}",
       "pattern-changed risky/breaking/safe .x"},
      {"{type: string, pattern: a}", "{type: string}", "pattern-removed safe/safe/safe .x"},
      {"{type: integer, multipleOf: 4}", "{type: integer, multipleOf: 2}",
       "multiple-of-loosened safe/safe/safe .x"},
      {"{type: integer, multipleOf: 2}", "{type: integer, multipleOf: 3}",
       "multiple-of-changed risky/breaking/safe .x"},
      {"{type: array, items: {type: string}}",
       "{type: array, items: {type: string}, x-kubernetes-list-type: atomic}", ""},
      {"{type: array, items: {type: string}}",
       "{type: array, items: {type: string}, x-kubernetes-list-type: set}",
       "list-type-changed breaking/breaking/safe .x"},
      {"{type: array, items: {type: string}, x-kubernetes-list-type: set}",
       "{type: array, items: {type: string}}", "list-type-changed risky/breaking/safe .x"},
      {"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
       "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]}",
       "list-keys-changed breaking/breaking/safe .x"},
      {"{type: object}", "{type: object, x-kubernetes-map-type: atomic}",
       "map-type-changed safe/breaking/safe .x"},
      {"{type: object, x-kubernetes-map-type: atomic}",
       "{type: object, x-kubernetes-map-type: granular}", "map-type-changed safe/risky/safe .x"},
      {"{type: object, x-kubernetes-map-type: granular}", "{type: object}", ""},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}",
       "unknown-fields-pruned breaking/breaking/breaking .x"},
      {"{type: object}", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "unknown-fields-kept safe/safe/safe .x"},
      {"{type: object}", "{type: object, x-kubernetes-embedded-resource: true}",
       "embedded-added breaking/breaking/safe .x"},
      {"{type: object, x-kubernetes-embedded-resource: true}", "{type: object}",
       "embedded-removed breaking/breaking/breaking .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: "
       "true}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "embedded-removed safe/safe/safe .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {apiVersion: {type: "
       "string}, kind: {type: string}, metadata: {type: object}}}",
       "{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: "
       "{type: object}}}",
       "embedded-removed breaking/breaking/breaking .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {apiVersion: {type: "
       "string}, kind: {type: string}, metadata: {type: object, "
       "x-kubernetes-preserve-unknown-fields: true}}}",
       "{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: "
       "{type: object, x-kubernetes-preserve-unknown-fields: true}}}",
       "embedded-removed safe/safe/safe .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, properties: {apiVersion: {type: "
       "string}, kind: {type: string}, metadata: {type: object, properties: {name: {type: "
       "string}}}}}",
       "{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: "
       "{type: object, properties: {name: {type: string}}}}}",
       "embedded-removed risky/risky/risky .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, additionalProperties: "
       "{x-kubernetes-preserve-unknown-fields: true}}",
       "{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}",
       "embedded-removed safe/safe/safe .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: object}}",
       "{type: object, additionalProperties: {type: object}}",
       "embedded-removed breaking/breaking/breaking .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: object, "
       "properties: {name: {type: string}}}}",
       "{type: object, additionalProperties: {type: object, properties: {name: {type: string}}}}",
       "embedded-removed risky/risky/risky .x"},
      {"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: "
       "true}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: "
       "string, maxLength: 3}}}",
       "embedded-removed safe/safe/safe .x; bound-tightened risky/breaking/safe .x.kind"},
      // What is no whole object has a metadata as any other field.
      {"{type: object, properties: {metadata: {type: object}}}",
       "{type: object, properties: {metadata: {type: object, properties: {name: {type: string, "
       "maxLength: 3}}}}}",
       "property-added safe/safe/safe .x.metadata.name"},
      {"{type: string}", "{type: string, x-kubernetes-validations: [{rule: a}]}",
       "rule-added risky/breaking/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: a}]}", "{type: string}",
       "rule-removed safe/safe/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: a}]}",
       "{type: string, x-kubernetes-validations: [{rule: a, message: m}]}",
       "rule-words-changed safe/safe/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: a}]}",
       "{type: string, x-kubernetes-validations: [{rule: b}]}",
       "rule-added risky/breaking/safe .x; rule-removed safe/safe/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: 'self  !=\"a  b\"'}]}",
       "{type: string, x-kubernetes-validations: [{rule: 'self != \"a  b\" // why'}]}",
       "rule-words-changed safe/safe/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: 'self != \"a  b\"'}]}",
       "{type: string, x-kubernetes-validations: [{rule: 'self != \"a b\"'}]}",
       "rule-added risky/breaking/safe .x; rule-removed safe/safe/safe .x"},
      {"{type: string, x-kubernetes-validations: [{rule: a}]}",
       "{type: string, x-kubernetes-validations: [{rule: a, optionalOldSelf: true}]}",
       "rule-added risky/breaking/safe .x; rule-removed safe/safe/safe .x"},
      {"{type: object, oneOf: [{required: [a]}, {required: [b]}]}",
       "{type: object, oneOf: [{required: [b]}, {required: [a]}]}", ""},
      {"{type: object, oneOf: [{required: [a]}]}",
       "{type: object, oneOf: [{required: [b]}, {required: [a]}]}",
       "junctor-widened risky/risky/safe .x"},
      {"{type: object, oneOf: [{required: [a]}, {required: [b]}]}",
       "{type: object, oneOf: [{required: [a]}]}", "junctor-changed risky/breaking/safe .x"},
      {"{type: object, anyOf: [{required: [a]}]}",
       "{type: object, anyOf: [{required: [b]}, {required: [a]}]}",
       "junctor-loosened safe/safe/safe .x"},
      {"{type: object, anyOf: [{required: [b]}, {required: [a]}]}",
       "{type: object, anyOf: [{required: [a]}]}", "junctor-changed risky/breaking/safe .x"},
      {"{type: object, allOf: [{required: [b]}, {required: [a]}]}",
       "{type: object, allOf: [{required: [a]}]}", "junctor-loosened safe/safe/safe .x"},
      {"{type: object, allOf: [{required: [a]}]}",
       "{type: object, allOf: [{required: [b]}, {required: [a]}]}",
       "junctor-changed risky/breaking/safe .x"},
      {"{type: object}", "{type: object, oneOf: [{required: [a]}]}",
       "junctor-added risky/breaking/safe .x"},
      {"{type: object, anyOf: [{required: [a]}]}", "{type: object}",
       "junctor-removed safe/safe/safe .x"},
      {"{type: object, allOf: [{required: [a]}]}", "{type: object, allOf: [{required: [b]}]}",
       "junctor-changed risky/breaking/safe .x"},
      {"{type: object, not: {required: [a]}}", "{type: object}",
       "junctor-removed safe/safe/safe .x"},
      {"{type: string}", "{type: string, description: d}", "words-changed safe/safe/safe .x"},
      {"{type: string, title: a}", "{type: string, title: b}", "words-changed safe/safe/safe .x"},
      {"{type: string, example: a}", "{type: string}", "words-changed safe/safe/safe .x"},
      {"{type: object, properties: {a: {type: string}}}",
       "{type: object, properties: {a: {type: string}}, required: [a]}",
       "required-added risky/breaking/safe .x.a"},
      {"{type: object, properties: {a: {type: string, default: d}}}",
       "{type: object, properties: {a: {type: string, default: d}}, required: [a]}",
       "required-with-default safe/safe/safe .x.a"},
      {"{type: object, properties: {a: {type: string, default: null}}}",
       "{type: object, properties: {a: {type: string, default: null}}, required: [a]}",
       "required-added risky/breaking/safe .x.a"},
      {"{type: object, properties: {a: {type: string, default: null}}, required: [a]}",
       "{type: object, properties: {a: {type: string, default: null}}}",
       "required-removed safe/safe/risky .x.a"},
      {"{type: object, properties: {a: {type: string}}, required: [a]}",
       "{type: object, properties: {a: {type: string}}}", "required-removed safe/safe/risky .x.a"},
      // A manifest without it was taken, and is refused now; readers find it as ever.
      {"{type: object, properties: {a: {type: string, default: d}}, required: [a]}",
       "{type: object, properties: {a: {type: string}}, required: [a]}",
       "default-removed risky/breaking/safe .x.a"},
      {"{type: object, properties: {a: {type: string, default: d}}, required: [a]}",
       "{type: object, properties: {a: {type: string, default: d}}}",
       "required-removed safe/safe/safe .x.a"},
      {"{type: object, properties: {a: {type: string}}}",
       "{type: object, properties: {b: {type: string}}}",
       "property-removed breaking/breaking/breaking .x.a; property-added safe/safe/safe .x.b"},
      {"{type: object, properties: {a: {type: string}}}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "unknown-fields-kept safe/safe/safe .x; property-removed risky/safe/risky .x.a"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: "
       "string}}}",
       "property-added risky/breaking/safe .x.a"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: "
       "{x-kubernetes-preserve-unknown-fields: true}}}",
       "property-added safe/safe/safe .x.a"},
      {"{type: object, properties: {a: {type: string}}}",
       "{type: object, additionalProperties: {type: integer}}",
       "map-opened safe/safe/risky .x; property-removed risky/safe/risky .x.a; type-changed "
       "breaking/breaking/breaking .x.a"},
      {"{type: object, properties: {a: {type: string}}}",
       "{type: object, additionalProperties: {type: string}}",
       "map-opened safe/safe/risky .x; property-removed risky/safe/risky .x.a"},
      {"{type: object, additionalProperties: {type: string}}",
       "{type: object, properties: {a: {type: integer}}}",
       "map-closed breaking/breaking/breaking .x; property-added safe/safe/safe .x.a; type-changed "
       "breaking/breaking/breaking .x.a"},
      {"{type: object, additionalProperties: {type: string}}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "unknown-fields-kept safe/safe/safe .x; map-values-freed safe/safe/risky .x"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "{type: object, additionalProperties: {type: string}}",
       "type-changed breaking/breaking/breaking .x{}"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}", ""},
      {"{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true}",
       "unknown-fields-kept safe/safe/safe .x"},
      {"{type: object, properties: {b: {type: string}}}",
       "{type: object, properties: {a: {type: string}, b: {type: string}}, required: [a]}",
       "required-added risky/breaking/safe .x.a; property-added safe/safe/safe .x.a"},
      {"{type: object, additionalProperties: {type: string}}", "{type: object}",
       "map-closed breaking/breaking/breaking .x"},
      {"{type: object}", "{type: object, additionalProperties: {type: string}}",
       "map-opened safe/safe/risky .x"},
      {"{type: object, additionalProperties: {type: string}}",
       "{type: object, additionalProperties: {type: integer}}",
       "type-changed breaking/breaking/breaking .x{}"},
      {"{type: object, additionalProperties: true}",
       "{type: object, additionalProperties: {type: string}}",
       "map-values-changed risky/breaking/safe .x"},
      // Ratcheting: below lists without keys an item has no older self, but the whole list has.
      {"{type: array, items: {type: string}}", "{type: array, items: {type: string, maxLength: 3}}",
       "bound-tightened risky/breaking/safe .x[]"},
      {"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: "
       "object, properties: {a: {type: string}}}}",
       "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: "
       "object, properties: {a: {type: string, maxLength: 3}}}}",
       "bound-tightened risky/breaking/safe .x[].a"},
      {"{type: array, x-kubernetes-list-type: set, items: {type: string}}",
       "{type: array, x-kubernetes-list-type: set, items: {type: string, enum: [a]}}",
       "enum-added risky/breaking/safe .x[]"},
      {"{type: array, items: {type: object, properties: {a: {type: string}}}}",
       "{type: array, items: {type: object, properties: {a: {type: string}}, required: [a]}}",
       "required-added risky/breaking/safe .x[].a"},
  };
  for (const Row& row : table) {
    CAPTURE(row.before, row.after);
    CHECK(told(diff_crds(crd_of(row.before), crd_of(row.after))) == row.expected);
  }
  CHECK(std::size(table) >= 80);
}

TEST_CASE("what the server keeps whatever the schema says is neither new nor dropped") {
  struct Row {
    const char* before;  // "type: object" goes before it
    const char* after;
    const char* expected;
    const char* back;
  };
  const Row of_roots[] = {
      {", properties: {metadata: {type: object}}",
       ", properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}",
       "bound-tightened risky/breaking/safe .metadata.name",
       "bound-loosened safe/safe/safe .metadata.name"},
      {"",
       ", properties: {metadata: {type: object, properties: {generateName: {type: string, pattern: "
       "a}}}}",
       "pattern-changed risky/breaking/safe .metadata.generateName",
       "pattern-removed safe/safe/safe .metadata.generateName"},
      {"",
       ", properties: {apiVersion: {type: string, pattern: a}, kind: {type: string, enum: "
       "[Thing]}}",
       "pattern-changed risky/breaking/safe .apiVersion; enum-added risky/breaking/safe .kind",
       "pattern-removed safe/safe/safe .apiVersion; enum-removed safe/safe/risky .kind"},
      {"",
       ", properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object, "
       "properties: {name: {type: string}}}}",
       "", ""},
      {", x-kubernetes-preserve-unknown-fields: true",
       ", x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, "
       "description: d}, metadata: {type: object}}",
       "words-changed safe/safe/safe .kind", "words-changed safe/safe/safe .kind"},
      {", properties: {metadata: {type: object}}",
       ", properties: {metadata: {type: object}}, required: [kind, metadata]",
       "required-added safe/safe/safe .kind; required-added safe/safe/safe .metadata",
       "required-removed safe/safe/safe .kind; required-removed safe/safe/safe .metadata"},
      {"", ", x-kubernetes-embedded-resource: true", "", ""},
  };
  const auto check = [](const Row& row, const auto& crd) {
    CAPTURE(row.before, row.after);
    CHECK(told(diff_crds(crd(row.before), crd(row.after))) == row.expected);
    CHECK(told(diff_crds(crd(row.after), crd(row.before))) == row.back);
  };
  const auto with_root = [](const char* more) {
    Json crd = crd_of("{type: string}");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        yaml(std::string("{type: object") + more + "}");
    return crd;
  };
  for (const Row& row : of_roots) check(row, with_root);

  const Row of_embedded[] = {
      {"",
       ", properties: {metadata: {type: object, properties: {finalizers: {type: array, items: "
       "{type: string, maxLength: 3}}}}}",
       "bound-tightened risky/breaking/safe .x.metadata.finalizers[]",
       "bound-loosened safe/safe/safe .x.metadata.finalizers[]"},
      {"", ", properties: {metadata: {type: object, properties: {labels: {type: string}}}}",
       "type-changed breaking/breaking/breaking .x.metadata.labels",
       "type-changed breaking/breaking/breaking .x.metadata.labels"},
      {", required: [metadata], properties: {metadata: {type: object}}", "",
       "required-removed safe/safe/risky .x.metadata",
       "required-added risky/breaking/safe .x.metadata"},
      {"",
       ", properties: {metadata: {type: object, properties: {name: {type: string, minLength: 3}}}}",
       "bound-tightened risky/breaking/safe .x.metadata.name",
       "bound-loosened safe/safe/safe .x.metadata.name"},
      {"",
       ", properties: {metadata: {type: object, properties: {labels: {type: object, "
       "additionalProperties: {type: string, maxLength: 3}}}}}",
       "bound-tightened risky/breaking/safe .x.metadata.labels{}",
       "bound-loosened safe/safe/safe .x.metadata.labels{}"},
      {", properties: {metadata: {type: object, properties: {labels: {type: object, properties: "
       "{app: {type: string}}}}}}",
       ", properties: {metadata: {type: object, properties: {labels: {type: object, "
       "additionalProperties: {type: string, maxLength: 3}}}}}",
       "bound-tightened risky/breaking/safe .x.metadata.labels.app; bound-tightened "
       "risky/breaking/safe .x.metadata.labels{}",
       "bound-loosened safe/safe/safe .x.metadata.labels.app; bound-loosened safe/safe/safe "
       ".x.metadata.labels{}"},
      {", properties: {metadata: {type: object}}",
       ", properties: {metadata: {type: object, x-kubernetes-preserve-unknown-fields: true}}", "",
       ""},
      {"", ", properties: {kind: {type: string, maxLength: 3}}",
       "bound-tightened risky/breaking/safe .x.kind", "bound-loosened safe/safe/safe .x.kind"},
      {", properties: {kind: {type: string}, metadata: {type: object}}",
       ", properties: {kind: {type: string}, metadata: {type: object}}, required: [kind, metadata]",
       "required-added safe/safe/safe .x.kind; required-added risky/breaking/safe .x.metadata",
       "required-removed safe/safe/safe .x.kind; required-removed safe/safe/risky .x.metadata"},
  };
  for (const char* keep : {"", ", x-kubernetes-preserve-unknown-fields: true"}) {
    for (const Row& row : of_embedded) {
      check(row, [&](const char* more) {
        return crd_of(std::string("{type: object, x-kubernetes-embedded-resource: true") + keep +
                      more + "}");
      });
    }
  }
}

TEST_CASE("each change of what stands around the schema has its verdict") {
  struct Row {
    const char* before;  // more of the version, and of the spec after a bar
    const char* after;
    const char* expected;
  };
  const Row table[] = {
      {", subresources: {status: {}}", "",
       "status-subresource-removed risky/breaking/safe .status"},
      {"", ", subresources: {status: {}}", "status-subresource-added safe/breaking/safe .status"},
      {"", ", subresources: {scale: {specReplicasPath: .a}}", "scale-added safe/safe/safe"},
      {", subresources: {scale: {specReplicasPath: .a}}", "",
       "scale-removed safe/breaking/breaking"},
      {", subresources: {scale: {specReplicasPath: .a}}",
       ", subresources: {scale: {specReplicasPath: .b}}", "scale-changed safe/risky/risky"},
      {"", ", additionalPrinterColumns: [{name: a}]", "columns-changed safe/safe/safe"},
      {", additionalPrinterColumns: [{name: a, priority: 0}]",
       ", additionalPrinterColumns: [{name: a}]", ""},
      {", selectableFields: [{jsonPath: .a}]", "", "selectable-removed safe/safe/breaking .a"},
      {"", ", selectableFields: [{jsonPath: .a}]", "selectable-added safe/safe/safe .a"},
      {"", ", deprecated: true", "deprecation-changed safe/safe/safe"},
  };
  for (const Row& row : table) {
    CAPTURE(row.before, row.after);
    CHECK(told(diff_crds(crd_of("{type: string}", row.before),
                         crd_of("{type: string}", row.after))) == row.expected);
  }
  const Json plain = crd_of("{type: string}");
  const auto changed = [&](const char* pointer, const Json& value) {
    Json other = plain;
    other[Json::json_pointer(pointer)] = value;
    return told(diff_crds(plain, other));
  };
  CHECK(changed("/spec/group", "other.example.com") == "group-changed breaking/breaking/breaking");
  CHECK(changed("/spec/names/plural", "thingies") == "plural-changed breaking/breaking/breaking");
  CHECK(changed("/spec/scope", "Cluster") == "scope-changed breaking/breaking/breaking");
  CHECK(changed("/spec/names/singular", "thingy") == "name-changed safe/safe/risky");
  CHECK(changed("/spec/names/shortNames", Json::array({"t"})) == "alias-added safe/safe/safe");
  CHECK(changed("/spec/conversion", yaml("{strategy: Webhook}")) ==
        "conversion-added risky/risky/risky");
  Json with_webhook = plain;
  with_webhook["spec"]["conversion"] =
      yaml("{strategy: Webhook, webhook: {clientConfig: {url: a}}}");
  CHECK(told(diff_crds(with_webhook, plain)) == "conversion-removed breaking/breaking/breaking");
  Json short_named = plain;
  short_named["spec"]["names"]["shortNames"] = {"t"};
  CHECK(told(diff_crds(short_named, plain)) == "alias-removed safe/risky/risky");
}

TEST_CASE("versions come and go, and are compared with each other while no webhook converts") {
  const Json one = crd_of("{type: string}");
  const auto second = [](Json crd, const std::string& properties, bool served = true) {
    Json version = crd["spec"]["versions"][0];
    version["name"] = "v2";
    version["storage"] = false;
    version["served"] = served;
    version["schema"]["openAPIV3Schema"]["properties"] = yaml(properties);
    crd["spec"]["versions"].push_back(version);
    return crd;
  };
  const auto with_second = [&](const std::string& x, bool served) {
    return second(one, x, served);
  };
  const Json same = with_second("{x: {type: string}}", true);
  CHECK(told(diff_crds(one, same)) == "version-added safe/safe/safe");
  CHECK(told(diff_crds(same, one)) == "version-removed safe/breaking/breaking");
  CHECK(told(diff_crds(with_second("{x: {type: string}}", false), one)) ==
        "version-removed safe/safe/safe");
  CHECK(told(diff_crds(same, with_second("{x: {type: string}}", false))) ==
        "version-unserved safe/breaking/breaking");
  CHECK(told(diff_crds(with_second("{x: {type: string}}", false), same)) ==
        "version-served safe/safe/safe");
  CHECK(told(diff_crds(same, with_second("{x: {type: string}, z: {type: string}}", true))) ==
        "property-added safe/safe/safe .z; version-lacks-field risky/risky/risky .z");
  CHECK(told(diff_crds(one, with_second("{x: {type: integer}}", true))) ==
        "versions-disagree breaking/breaking/breaking .x; version-added safe/safe/safe");
  // Below the values of a map, and of names with dots.
  const auto maps = [](const char* values) {
    return crd_of(std::string("{type: object, additionalProperties: ") + values + "}");
  };
  const Json map = maps("{type: object, properties: {a: {type: string}}}");
  const auto with_map = [&](const std::string& x) {
    return diff_crds(map, second(map, "{x: {type: object, " + x + "}}"));
  };
  CHECK(told(with_map("additionalProperties: {type: object, properties: {a: {type: integer}, e.x: "
                      "{type: string}}}")) ==
        "versions-disagree breaking/breaking/breaking .x{}.a; version-added safe/safe/safe; "
        "version-lacks-field risky/risky/risky .x{}.e.x");
  CHECK(told(with_map("description: bare")) ==
        "version-lacks-field risky/risky/risky .x{}; version-added safe/safe/safe");
  // What keeps anything lacks nothing.
  CHECK(told(with_map("x-kubernetes-preserve-unknown-fields: true")) ==
        "version-added safe/safe/safe");
  CHECK(told(with_map("additionalProperties: true")) == "version-added safe/safe/safe");
  const auto anything = with_map("additionalProperties: {x-kubernetes-int-or-string: true}");
  REQUIRE_FALSE(anything.empty());
  CHECK_THAT(anything[0].message, Catch::Contains("is object here and anything in v2"));
  // What every version keeps, whatever its schema says of it.
  CHECK(told(diff_crds(one, second(one,
                                   "{x: {type: string}, kind: {type: string, enum: [Thing]}, "
                                   "metadata: {type: object, properties: {name: {type: string, "
                                   "maxLength: 9}}}}"))) == "version-added safe/safe/safe");
  const Json whole = crd_of(
      "{type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}");
  CHECK(told(diff_crds(whole, second(whole,
                                     "{x: {type: object, x-kubernetes-embedded-resource: true, "
                                     "properties: {a: {type: string}, metadata: {type: object, "
                                     "properties: {name: {type: string}}}}}}"))) ==
        "version-added safe/safe/safe");
  CHECK(told(diff_crds(whole,
                       second(whole, "{x: {type: object, properties: {a: {type: string}}}}"))) ==
        "version-lacks-field risky/risky/risky .x.apiVersion; version-lacks-field "
        "risky/risky/risky .x.kind; version-lacks-field risky/risky/risky .x.metadata; "
        "version-added safe/safe/safe");
  // There it is a field like others, of which what is not described is pruned.
  const char* plain =
      "{x: {type: object, properties: {a: {type: string}, apiVersion: {type: string}, "
      "kind: {type: string}, metadata: {type: object}}}}";
  CHECK(told(diff_crds(whole, second(whole, plain))) ==
        "version-lacks-field risky/risky/risky .x.metadata; version-added safe/safe/safe");
  CHECK(told(diff_crds(second(whole, plain), second(whole, plain))) == "");
  // What was so already is not told again.
  const Json uneven = with_second("{x: {type: string}, z: {type: string}}", true);
  CHECK(told(diff_crds(uneven, uneven)) == "");
  Json stored = one;
  stored["spec"]["versions"][0]["storage"] = false;
  stored["spec"]["versions"].push_back(same["spec"]["versions"][1]);
  stored["spec"]["versions"][1]["storage"] = true;
  CHECK_THAT(told(diff_crds(one, stored)), Catch::StartsWith("storage-changed risky/safe/safe"));
  Json kept = same;
  kept["status"] = yaml("{storedVersions: [v1, v2]}");
  CHECK(told(diff_crds(kept, one)) == "version-removed breaking/breaking/breaking");
}

TEST_CASE(
    "what is not served has no writers and readers, and without stored objects breaks nothing") {
  struct Version {
    bool served;
    bool storage;
  };
  const auto with = [](const char* x, Version version) {
    Json crd = crd_of(x);
    Json other = crd["spec"]["versions"][0];
    other["name"] = "v0";
    other["served"] = version.served;
    other["storage"] = version.storage;
    Json& v1 = crd["spec"]["versions"][0];
    v1["storage"] = !version.storage;
    v1["schema"]["openAPIV3Schema"]["properties"] = yaml("{x: {type: string}}");
    crd["spec"]["versions"].push_back(other);
    return crd;
  };
  const auto change = [&](Version before, Version after, const char* stored = "[v1]") {
    Json old_crd = with("{type: string}", before);
    old_crd["status"] = {{"storedVersions", yaml(stored)}};
    return diff_crds(old_crd, with("{type: string, default: a, maxLength: 3}", after));
  };
  const auto verdicts = [&](Version before, Version after, const char* stored = "[v1]") {
    return told(change(before, after, stored));
  };
  CHECK(verdicts({false, false}, {false, false}) ==
        "default-added safe/safe/safe .x; bound-tightened safe/safe/safe .x");
  CHECK_THAT(change({false, false}, {false, false}).back().message,
             Catch::EndsWith("(the version is neither served nor holds objects)"));
  CHECK(verdicts({false, false}, {false, false}, "[v0, v1]") ==
        "default-added risky/safe/safe .x; bound-tightened risky/safe/safe .x");
  CHECK(verdicts({false, true}, {false, true}) ==
        "default-added risky/safe/safe .x; bound-tightened risky/safe/safe .x");
  CHECK_THAT(change({false, true}, {false, true}).back().message,
             Catch::EndsWith("(the version is not served)"));
  // What is stored in another version is read and written through this one, too.
  CHECK(verdicts({true, false}, {true, false}) ==
        "default-added risky/safe/safe .x; bound-tightened risky/breaking/safe .x");
  CHECK(verdicts({false, false}, {true, false}) ==
        "version-served safe/safe/safe; default-added risky/safe/safe .x; bound-tightened "
        "risky/breaking/safe .x");
}

TEST_CASE("the worst of a diff is its verdict, in JSON and Markdown") {
  const auto changes =
      diff_crds(crd_of("{type: string}"), crd_of("{type: string, pattern: 'a|b'}"));
  CHECK(worst_of(changes) == Verdict::breaking);
  CHECK(diff_json(changes)["verdict"] == "breaking");
  CHECK(diff_json(changes)["changes"][0]["storedObjects"] == "risky");
  CHECK_THAT(diff_markdown(changes),
             Catch::Contains("**breaking** is the worst of 1 change.") && Catch::Contains("a\\|b"));
  CHECK(diff_markdown({}) == "No changes.\n");
  // Names of fields are text of others too.
  const auto odd = diff_crds(crd_of("{type: object}"),
                             crd_of("{type: object, properties: {\"a\\x1b\": {type: string}}}"));
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].path == ".x.a\x1b");
  CHECK(diff_markdown(odd).find('\x1b') == std::string::npos);
  const auto named = diff_crds(crd_of("{type: object}"),
                               crd_of("{type: object, properties: {'a|b': {type: string}}}"));
  CHECK_THAT(diff_markdown(named), Catch::Contains("`.x.a\\|b`"));
  const auto fenced = diff_crds(crd_of("{type: object}"),
                                crd_of("{type: object, properties: {'a`b': {type: string}}}"));
  CHECK_THAT(diff_markdown(fenced), Catch::Contains("| ``.x.a`b`` |"));
  const auto tagged =
      diff_crds(crd_of("{type: string}"), crd_of("{type: string, pattern: '<b>\\|'}"));
  CHECK_THAT(diff_markdown(diff_crds(crd_of("{type: string}"),
                                     crd_of("{type: string, pattern: '[a](b)*_'}"))),
             Catch::Contains("\\[a\\](b)\\*\\_"));
  CHECK_THAT(diff_markdown(tagged), Catch::Contains("\\<b>\\\\\\\\\\|"));
  CHECK(worst_of({}) == Verdict::safe);
}

}  // namespace kubewatch::crdgen
