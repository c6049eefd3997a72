"""Values worth trying at a field, by its type: the usual one, the borders, and what Go and our parser might
read differently. Not random: the same field always gets the same values."""

LIKELY = {  # what is valid more often than "a" or 1
    "name": "a", "key": "k", "image": "i", "containerPort": 80, "port": 80, "mountPath": "/m",
    "path": "/p", "ip": "10.1.1.1", "cidr": "10.0.0.0/8", "operator": "Exists", "topologyKey": "t",
    "effect": "NoSchedule", "kind": "Kk", "apiVersion": "v1", "uid": "u", "driver": "d.x",
    "namespace": "default", "type": "T", "status": "True", "devicePath": "/d", "host": "a.b"}
STRINGS = ["", "a", "Bad Value!", "a" * 300, "1", "a.b/c", "10.1.1.1", "fd00::1", "/abs/../x", "A-b_c", None,
           5, "None", "ü", "-a", "a:b", "https://u:p@h:1/x?y#z", "10.0.0.0/24", "v1"]
INTEGERS = [0, 1, -1, 2, 101, 3601, 70000, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 1.5, 1.0, "1", None, True]
PLAIN = {
    "number": [0, -1, 1.5, "x", None],
    "boolean": [True, False, None, "true", 1],
    "int-or-string": [0, -1, 1, "50%", "150%", "http", "", "Bad!", 70000, "0%", "1.5%", "-1%", None, 1.5,
                      "a" * 20, True],
    "quantity": ["0", "1", "-1", "1.5", "1e3", "1Gi", "100m", "0.0001", "bad", "", None, 5, 1.5, "1n",
                 "9999999999999Gi", "1 ", "1E", "12e", True],
    "time": ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00.123456789Z", "bad", "",
             None, 5, "2024-13-01T00:00:00Z"],
    "bytes": ["", "YQ==", "bad!", "YQ", None, 5, "-_=="],
    "any": [{}, None, "x", [1], {"a": None}],
}
USUAL = {"number": 1, "boolean": True, "int-or-string": 1, "quantity": "1",
         "time": "2024-01-01T00:00:00Z", "bytes": "YQ==", "any": {}}
DEEPEST = 6


def usual(schemas, schema, name="", depth=0):
    """A value that is likely to be taken: of an object no more than what it needs."""
    resolved, kind = schemas.resolve(schema), schemas.type(schema)
    if kind == "object":
        needed = resolved.get("required", []) if depth < DEEPEST else []
        return {key: usual(schemas, resolved["properties"][key], key, depth + 1) for key in needed}
    if kind == "map":
        return {"k": usual(schemas, resolved["additionalProperties"], "", depth + 1)}
    if kind == "array":
        return [usual(schemas, resolved["items"], name, depth + 1)]
    if kind in ("string", "integer"):
        listed = [value for value in resolved.get("enum", []) if value]
        likely = LIKELY.get(name)
        fits = isinstance(likely, str if kind == "string" else int)
        return listed[0] if listed else likely if fits else "a" if kind == "string" else 1
    return type(USUAL[kind])(USUAL[kind])  # a copy


def interesting(schemas, schema, name):
    resolved, kind = schemas.resolve(schema), schemas.type(schema)
    likely = usual(schemas, schema, name)
    if kind == "object":
        return [{}, likely, None, "s", []]
    if kind == "map":
        item = usual(schemas, resolved["additionalProperties"])
        keys = ["Bad Key!", "", "a/b/c", "a" * 70]
        return [{}, likely, None, *({key: item} for key in keys), {"k": None},
                {"x.y/z": item, "cpu": item}, [], 3]
    if kind == "array":
        item = usual(schemas, resolved["items"], name)
        more = [[""], ["*"], ["a", "*"], ["A B"], ["a", "b", "a"]]
        return [[], [item], [item, item], None, [None], {}, "s",
                *(more if schemas.type(resolved["items"]) == "string" else [])]
    if kind == "string":
        return STRINGS + resolved.get("enum", [])
    return INTEGERS if kind == "integer" else PLAIN[kind]
