"""What a kind's fields are, from the OpenAPI v3 of the real server: their types, their places in an object,
and an object changed at one place. Knows nothing of values that are interesting (values.py)."""
from dataclasses import dataclass

REMOVED = object()  # the value that takes a field away
NOT_SENT = {"metadata.managedFields", "metadata.uid", "metadata.resourceVersion",
            "metadata.creationTimestamp", "metadata.generateName", "metadata.namespace"}


@dataclass(frozen=True)
class Place:
    path: tuple   # names of fields, indices and keys of maps
    schema: dict
    name: str     # of the field

    def __str__(self):
        return ".".join(map(str, self.path))


class Schemas:
    def __init__(self, documents):
        """documents: of /openapi/v3/..., one per group and version."""
        self.named = {}
        self.kinds = {}
        for document in documents:
            for name, schema in document["components"]["schemas"].items():
                self.named[name] = schema
                for told in schema.get("x-kubernetes-group-version-kind", []):
                    if name.rsplit(".", 1)[-1] == told["kind"]:
                        version = f"{told['group']}/{told['version']}".lstrip("/")
                        self.kinds[version, told["kind"]] = schema

    def resolve(self, schema):
        while True:
            reference = schema.get("$ref")
            if not reference and len(schema.get("allOf", [])) == 1:
                reference = schema["allOf"][0].get("$ref")
            if not reference:
                return schema
            schema = self.named[reference.rsplit("/", 1)[-1]]

    def type(self, schema):
        """object, map, array, string, integer, number, boolean, any; or one of the strings that are more."""
        schema = self.resolve(schema)
        if "oneOf" in schema:
            return "quantity" if schema.get("format") == "quantity" else "int-or-string"
        if "properties" in schema:
            return "object"
        told = schema.get("type", "any")
        if told == "object":
            return "map" if "additionalProperties" in schema else "any"
        if told == "string":
            return {"date-time": "time", "byte": "bytes"}.get(schema.get("format"), "string")
        return told

    def inside(self, schema, step):
        schema = self.resolve(schema)
        if "properties" in schema:
            return schema["properties"][step]
        return schema["items"] if "items" in schema else schema["additionalProperties"]

    def places(self, schema, path=(), above=()):
        """Every field below schema; a type that contains itself is entered once."""
        resolved, kind = self.resolve(schema), self.type(schema)
        if kind == "object" and id(resolved) not in above:
            for name, field in resolved["properties"].items():
                place = Place(path + (name,), field, name)
                if str(place) in NOT_SENT or place.path in (("apiVersion",), ("kind",)):
                    continue
                yield place
                yield from self.places(field, place.path, above + (id(resolved),))
        elif kind == "array":
            yield from self.places(resolved["items"], path + (0,), above)
        elif kind == "map":
            yield from self.places(resolved["additionalProperties"], path + ("k",), above)

    def put(self, root, schema, path, value, make):
        """Sets value in root, an object of that schema; what is missing on the way is made by make(schema,
        name of the field)."""
        here = root
        for step in path[:-1]:
            schema = self.inside(schema, step)
            if isinstance(here, list) and len(here) <= step:
                here.append(make(schema, ""))
            below = here[step] if isinstance(here, list) else here.get(step)
            if not isinstance(below, (dict, list)) or below == []:
                below = here[step] = make(schema, step if isinstance(step, str) else "")
            here = below
            if not isinstance(here, (dict, list)):
                return  # a type that is not entered
        if value is not REMOVED:
            if isinstance(here, list) and not here:
                here.append(value)
            else:
                here[path[-1]] = value
        elif isinstance(here, dict):
            here.pop(path[-1], None)
