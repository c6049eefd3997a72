"""What is sent. A mode names the changes that it tries on an object of objects.py and makes a request of
each; all but those of `life` are dry runs, so that each stands for itself and can be sent again."""
import itertools
import random
from dataclasses import dataclass

from objects import Base
from schema import REMOVED
from values import interesting, usual
from wire import Request

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
REVISION = "@resourceVersion@"  # of the stored object: each server has its own
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
DRY = "dryRun=All&fieldValidation=Strict"
WHOLE_METADATA = {"pods", "configmaps", "deployments", "namespaces"}  # it is the same everywhere
PAIRS = 300  # of mode pairs, for each object


@dataclass
class Ground:
    """A base, its schema, and what the servers have of it."""
    schemas: object
    base: Base
    name: str
    first: bool = True            # of its kind
    needs_revision: bool = False  # to be updated
    has_status: bool = True

    def object(self):
        return self.base.object(self.name)

    @property
    def made_by(self):
        return Request("POST", self.base.collection, self.object()).curl()

    @property
    def schema(self):
        return self.schemas.kinds[self.base.version, self.base.kind]

    def places(self):
        """All fields but those that another kind shows as well: a Pod's in a template, metadata."""
        for place in self.schemas.places(self.schema):
            path = place.path
            if "template" in path and len(path) > path.index("template") + 3:
                continue
            whole = self.base.resource in WHOLE_METADATA and self.first
            if path[0] != "metadata" or whole or (len(path) == 1 and self.first):
                yield place

    def changed(self, changes):
        """The object with each (place, value) put into it."""
        root = self.object()

        def make(schema, name):
            return usual(self.schemas, schema, name)
        for place, value in changes:
            self.schemas.put(root, self.schema, place.path, value, make)
        return root


def words(changes):
    return ", ".join(f"{place} removed" if value is REMOVED else f"{place} = {value!r:.120}"
                     for place, value in changes) or "as it is"


def nested(path, value):
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    return value


class Mode:
    """Changes one field of the spec at a time, by every interesting value."""
    stored = True  # needs the object on the servers

    def fields(self, ground):
        return [place for place in ground.places() if place.path[0] != "status" or not ground.base.stored]

    def values(self, ground, place):
        return [*interesting(ground.schemas, place.schema, place.name), REMOVED]

    def tries(self, ground, _seed):
        """Each a tuple of changes, after the one of none."""
        return [(), *(((place, value),) for place in self.fields(ground)
                      for value in self.values(ground, place))]

    def requests(self, ground, changes):
        raise NotImplementedError


class Create(Mode):
    stored = False

    def requests(self, ground, changes):
        yield Request("POST", f"{ground.base.collection}?{DRY}", ground.changed(changes),
                      what=words(changes))


class Pairs(Create):
    """Two fields at once, at random."""

    def tries(self, ground, seed):
        random_of_ground = random.Random(f"{seed}/{ground.name}/{ground.base.kind}")
        fields = self.fields(ground)
        for _ in range(PAIRS if len(fields) > 1 else 0):
            pair = random_of_ground.sample(fields, 2)
            yield tuple((place, random_of_ground.choice(self.values(ground, place))) for place in pair)


class Update(Mode):
    below = ""

    def requests(self, ground, changes):
        body = ground.changed(changes)
        if ground.needs_revision and isinstance(body.get("metadata"), dict):
            body["metadata"].setdefault("resourceVersion", REVISION)
        yield Request("PUT", f"{ground.base.path(ground.name)}{self.below}?{DRY}", body,
                      what=words(changes), needs=ground.made_by)


class Status(Update):
    below = "/status"

    def fields(self, ground):
        return [place for place in ground.places() if place.path[0] == "status" and ground.has_status]


class Patch(Mode):
    def requests(self, ground, changes):
        for (place, value), content_type in itertools.product(changes, (MERGE, STRATEGIC)):
            body = nested(place.path, None if value is REMOVED else value)
            yield Request("PATCH", f"{ground.base.path(ground.name)}?{DRY}", body, content_type,
                          what=words(changes), needs=ground.made_by)


class Apply(Mode):
    def values(self, ground, place):
        empty = {"array": [[]], "map": [{}], "string": ["zz"], "integer": [7]}
        return [usual(ground.schemas, place.schema, place.name), None, REMOVED,
                *empty.get(ground.schemas.type(place.schema), [])]

    def requests(self, ground, changes):
        for force in ("", "&force=true"):
            yield Request("PATCH", f"{ground.base.path(ground.name)}?dryRun=All&fieldManager=other{force}",
                          ground.changed(changes), APPLY, what=words(changes), needs=ground.made_by)


MODES = {"create": Create(), "pairs": Pairs(), "update": Update(), "status": Status(), "patch": Patch(),
         "apply": Apply()}


def life(base, name):
    """From the first dry run to the answer that it is gone: the only mode that really writes."""
    whole, path = base.object(name), base.path(name)
    named = whole["metadata"].get("name")
    if not base.stored:
        return [Request("POST", base.collection, whole, what="asked")]
    end = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
    only = f"{base.collection}?fieldSelector=metadata.name%3D{named}"
    labels = {"metadata": {"labels": {"x": "y"}}}
    return [
        Request("POST", base.collection + "?dryRun=All", whole, what="created in a dry run"),
        Request("POST", base.collection, whole, what="created"),
        Request("POST", base.collection, whole, what="created again"),
        Request("GET", path, what="read"),
        Request("GET", path, accept=TABLE, what="read as a table"),
        Request("GET", path, accept=METADATA, what="read as metadata"),
        Request("GET", only, what="listed"),
        Request("PATCH", path, labels, MERGE, what="labelled"),
        Request("PATCH", path, labels, MERGE, what="labelled again"),
        Request("DELETE", path, {**end, "dryRun": ["All"]}, what="deleted in a dry run"),  # no query counts
        Request("DELETE", path, end, what="deleted"),
        Request("GET", path, what="read after its deletion"),
    ]
